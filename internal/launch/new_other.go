//go:build !darwin && !windows

package launch

import (
	"runtime"

	"github.com/cordon-sandbox/cordon/run"
)

// New returns an error: Linux has its own backends, and other systems are not supported.
func New() (Launcher, error) {
	return nil, run.Errorf(run.Unsupported, "cordon has no walls for %s: run it in a Linux virtual machine or container", runtime.GOOS)
}
