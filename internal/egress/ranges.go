package egress

import (
	"net"
	"net/netip"
	"slices"
)

// nonPublic lists the ranges of addresses that a name must not resolve to. The words are
// part of messages: "resolves to 10.0.0.5, a private address". The first match counts.
var nonPublic = []struct {
	words    string
	prefixes []netip.Prefix
}{
	// Before link-local and shared addresses, which include these, because it is the more
	// useful message. Azure's is in a public range.
	{"a cloud metadata address", prefixes(
		"169.254.169.254/32", "169.254.170.2/32", "169.254.170.23/32", "168.63.129.16/32",
		"100.100.100.200/32", "192.0.0.192/32", "fd00:ec2::254/128", "fd00:ec2::23/128", "fd20:ce::254/128")},
	{"a loopback address", prefixes("127.0.0.0/8", "::1/128")},
	{"an unspecified address", prefixes("0.0.0.0/8", "::/128")},
	{"a private address", prefixes("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")},
	{"a link-local address", prefixes("169.254.0.0/16", "fe80::/10")},
	{"a site-local address", prefixes("fec0::/10")},
	{"a carrier's shared address", prefixes("100.64.0.0/10")},
	{"a broadcast address", prefixes("255.255.255.255/32")},
	{"a multicast address", prefixes("224.0.0.0/4", "ff00::/8")},
	{"a documentation address", prefixes("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32", "3fff::/20")},
	{"a benchmarking address", prefixes("198.18.0.0/15", "2001:2::/48")},
	// These addresses contain the real destination, which can be any. No public server
	// uses them today, so they are refused without parsing the destination.
	{"a tunnel's address", prefixes("192.88.99.0/24", "2001::/32", "2002::/16", "64:ff9b:1::/48", "::/96")},
	{"a reserved address", prefixes("192.0.0.0/24", "240.0.0.0/4", "2001::/23")},
}

func prefixes(all ...string) []netip.Prefix {
	var list []netip.Prefix
	for _, text := range all {
		list = append(list, netip.MustParsePrefix(text))
	}
	return list
}

var (
	nat64  = netip.MustParsePrefix("64:ff9b::/96")
	global = netip.MustParsePrefix("2000::/3")
)

// nonPublicKind describes an address that is not of the public internet, and returns ""
// for one that is. For IPv6 it has a list of public ranges instead, because most of the
// address space is not allocated yet.
func nonPublicKind(addr netip.Addr) string {
	addr = addr.Unmap()
	if addr.Zone() != "" {
		return "an address with a zone"
	}
	for _, kind := range nonPublic {
		if slices.ContainsFunc(kind.prefixes, func(p netip.Prefix) bool { return p.Contains(addr) }) {
			return kind.words
		}
	}
	if addr.Is4() {
		return ""
	}
	bytes := addr.As16()
	inside := netip.AddrFrom4([4]byte(bytes[12:]))
	switch {
	case nat64.Contains(addr):
		// Hosts with only IPv6 reach IPv4 this way, so the address inside
		// decides.
		if words := nonPublicKind(inside); words != "" {
			return words + " behind NAT64"
		}
		return ""
	case !global.Contains(addr):
		return "a reserved address"
	case bytes[8]&^2 == 0 && bytes[9] == 0 && bytes[10] == 0x5e && bytes[11] == 0xfe && nonPublicKind(inside) != "":
		return nonPublicKind(inside) + " in an ISATAP tunnel"
	}
	return ""
}

// hostAddresses lists the addresses of this host. Firewalls protect services on them
// from outside, but not from connections that start here.
func hostAddresses() ([]netip.Addr, error) {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	var own []netip.Addr
	for _, a := range all {
		if prefix, err := netip.ParsePrefix(a.String()); err == nil {
			own = append(own, prefix.Addr().Unmap())
		}
	}
	return own, nil
}
