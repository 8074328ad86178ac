//go:build unix

package main

import (
	"os"
	"syscall"

	"github.com/cordon-sandbox/cordon/run"
)

// become replaces this program by another in the same process, so that its parent, for
// example systemd, keeps the pid, the descriptors and the signals.
func become(path string, args []string) error {
	err := syscall.Exec(path, append([]string{path}, args...), os.Environ())
	return run.Errorf(run.NotExecutable, "%s: %w", path, err)
}
