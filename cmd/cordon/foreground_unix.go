//go:build unix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// inForeground says whether the terminal is ours to read. One that controls
// nobody is.
func inForeground(terminal *os.File) bool {
	group, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}
