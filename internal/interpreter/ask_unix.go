//go:build unix

package interpreter

import (
	"os/exec"
	"syscall"
)

// killTree makes the end of the context end what a shim started, too: bash
// dies alone and leaves its children running.
func killTree(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
