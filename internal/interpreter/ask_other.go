//go:build !unix

package interpreter

import "os/exec"

// killTree has nothing to do: the command itself is killed by os/exec, and
// there are no shell shims here.
func killTree(*exec.Cmd) {}
