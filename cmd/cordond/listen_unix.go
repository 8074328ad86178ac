//go:build unix

package main

import (
	"net"
	"syscall"
)

// bindPrivately makes a socket with the mode 0600. A chmod after the fact would be too
// late for who connects between the two. The mask is the process's own, and nothing else
// makes files yet.
func bindPrivately(path string) (net.Listener, error) {
	before := syscall.Umask(0o177)
	defer syscall.Umask(before)
	return net.Listen("unix", path)
}
