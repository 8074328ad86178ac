//go:build unix

package main

import (
	"net"
	"syscall"
)

// bindPrivately makes a socket with mode 0600. A chmod afterwards would let others
// connect in between. The umask is per process, but nothing else creates files yet.
func bindPrivately(path string) (net.Listener, error) {
	before := syscall.Umask(0o177)
	defer syscall.Umask(before)
	return net.Listen("unix", path)
}

// mostConnections leaves half of the descriptors to guests and their pipes.
func mostConnections() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return wantedConnections
	}
	// The runtime raises the soft limit to the hard one.
	return int(min(wantedConnections, max(1, limit.Max/2)))
}
