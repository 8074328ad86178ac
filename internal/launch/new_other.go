//go:build !darwin && !windows

package launch

import (
	"runtime"

	"github.com/cordon-sandbox/cordon/run"
)

// New refuses: Linux has its own walls, and other systems none that are known here.
func New() (Launcher, error) {
	return nil, run.Errorf(run.Unsupported, "there is no launcher for %s: run cordon in a Linux virtual machine or container", runtime.GOOS)
}
