package egress

import "net/netip"

// GuestAddress is the address of the proxy on the guest's loopback interface.
var GuestAddress = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 3128)

// Environment returns the variables that make programs use the proxy at address. It is
// a convenience and no wall: a program that ignores them reaches nothing.
//
//   - http_proxy and https_proxy in lower case: wget reads only these, and curl
//     reads http_proxy only in lower case (the client of a CGI program can set
//     HTTP_PROXY). In upper case for npm, Node.js, Go and many others.
//     Python's urllib, requests and pip, and git through libcurl, read both.
//   - all_proxy for the other protocols of curl. It names an HTTP proxy, not
//     socks5h://, although the proxy supports it: httpx, and with it most
//     clients of model APIs in Python, raises an error for a SOCKS proxy in
//     the environment if the package socksio is missing, even if the proxy
//     would not be used. A guest can use socks5h://address explicitly.
//   - no_proxy has the guest's loopback addresses: test suites start servers
//     there, and the proxy would connect to the host's instead.
//     ::1 is there in two spellings for Node.js, which reads the first as a
//     port.
//   - NODE_USE_ENV_PROXY makes fetch and http of Node.js read the others.
func Environment(address string) []string {
	proxy := "http://" + address
	const direct = "localhost,127.0.0.1,::1,[::1]"
	return []string{
		"http_proxy=" + proxy, "HTTP_PROXY=" + proxy,
		"https_proxy=" + proxy, "HTTPS_PROXY=" + proxy,
		"all_proxy=" + proxy, "ALL_PROXY=" + proxy,
		"no_proxy=" + direct, "NO_PROXY=" + direct,
		"NODE_USE_ENV_PROXY=1",
	}
}
