package zygote

import (
	"net"
	"net/netip"
)

// Network is how a guest reaches what its policy grants. It has no sockets: the
// kernel asks us about each, and what it gets instead is one end of a pair, whose
// other end a proxy serves. Wherever it says that it connects to, its bytes go to
// the proxy and nowhere else.
type Network struct {
	// Proxy is the address that the guest's environment names.
	Proxy netip.AddrPort
	// Serve takes the other end. It must not wait: the thread that calls it
	// answers all guests of the fork server.
	Serve func(net.Conn)
}
