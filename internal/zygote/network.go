package zygote

import (
	"net"
	"net/netip"
)

// Network connects a guest to the hosts that its policy grants. The guest has no sockets
// of its own: the kernel asks us about each one, and the guest gets one end of a socket
// pair whose other end a proxy serves. Whatever address the guest connects to, its bytes
// go only to the proxy.
type Network struct {
	// Proxy is the address that the guest's environment names.
	Proxy netip.AddrPort
	// Serve takes the other end. It must not block: the thread that calls it answers all
	// guests of the fork server.
	Serve func(net.Conn)
}
