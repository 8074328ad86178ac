//go:build unix

package main

import (
	"os"
	"syscall"

	"github.com/cordon-sandbox/cordon/run"
)

// become executes a program in the place of this one: the same process, so that who
// started it, systemd say, keeps the pid, the descriptors and the signals.
func become(path string, args []string) error {
	err := syscall.Exec(path, append([]string{path}, args...), os.Environ())
	return run.Errorf(run.NotExecutable, "%s: %w", path, err)
}
