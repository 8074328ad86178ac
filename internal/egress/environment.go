package egress

import "net/netip"

// GuestAddress is where guests find the proxy, on a loopback that is theirs.
var GuestAddress = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 3128)

// Environment makes programs use the proxy at address. It is for convenience,
// not for safety: what does not obey it reaches nothing.
//
//   - http_proxy and https_proxy in lower case: wget reads no other, and curl
//     takes http_proxy in lower case alone (a CGI program's client can set
//     HTTP_PROXY). In upper case for npm, Node.js, Go and many more.
//     Python's urllib, requests and pip, and git by libcurl, read both.
//   - all_proxy for the other protocols of curl. It is an HTTP proxy too and
//     not socks5h://, although that is spoken here: httpx, and with it most
//     clients of model APIs in Python, raises an error for a SOCKS proxy in
//     the environment when the package socksio is missing, even if the proxy
//     would not be used. A guest can use socks5h://address explicitly.
//   - no_proxy has the guest's own loopback, which is private to it: test
//     suites start servers there. By the proxy they would get the host's.
//     ::1 is there in two spellings for Node.js, which reads the first as a
//     port.
//   - NODE_USE_ENV_PROXY makes fetch and http of Node.js look at the others.
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
