package egress

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"
)

func TestNonPublicKind(t *testing.T) {
	for words, addrs := range map[string]string{
		"": `1.1.1.1 8.8.8.8 93.184.215.14 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.1 169.253.255.255
			169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.0 192.0.3.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 223.255.255.255
			2606:4700::1111 2001:4860:4860::8888 2a00::1 2001:200::1 64:ff9b::808:808 2400::5efe:808:808 ::ffff:8.8.8.8`,
		"a cloud metadata address":               `169.254.169.254 169.254.170.2 168.63.129.16 100.100.100.200 192.0.0.192 fd00:ec2::254 ::ffff:169.254.169.254`,
		"a loopback address":                     `127.0.0.1 127.255.255.255 ::1 ::ffff:127.0.0.1`,
		"an unspecified address":                 `0.0.0.0 0.1.2.3 ::`,
		"a private address":                      `10.0.0.0 10.255.255.255 172.16.0.0 172.31.255.255 192.168.0.0 192.168.255.255 fc00::1 fdff::1 ::ffff:10.1.2.3`,
		"a link-local address":                   `169.254.0.0 169.254.255.255 fe80::1 febf::1`,
		"a site-local address":                   `fec0::1 feff::1`,
		"a carrier's shared address":             `100.64.0.0 100.127.255.255`,
		"a broadcast address":                    `255.255.255.255`,
		"a multicast address":                    `224.0.0.1 239.255.255.255 ff02::1 ff0e::1`,
		"a documentation address":                `192.0.2.1 198.51.100.1 203.0.113.1 2001:db8::1 3fff::1 3fff:fff:ffff::`,
		"a benchmarking address":                 `198.18.0.1 198.19.255.255 2001:2::1`,
		"a tunnel's address":                     `192.88.99.1 2001::1 2001:0:ffff::1 2002::1 2002:808:808::1 64:ff9b:1::1 ::10.0.0.1 ::8.8.8.8`,
		"a reserved address":                     `192.0.0.1 240.0.0.1 254.1.1.1 2001:10::1 2001:1ff::1 100::1 4000::1 5f00::1 1::1 64:ff9b:2::1 fe00::1 f000::1 ::1:0:0:0`,
		"a private address behind NAT64":         `64:ff9b::a00:5 64:ff9b::192.168.1.1`,
		"a cloud metadata address behind NAT64":  `64:ff9b::169.254.169.254`,
		"a loopback address behind NAT64":        `64:ff9b::127.0.0.1`,
		"a private address in an ISATAP tunnel":  `2400::5efe:10.0.0.1 2400::200:5efe:10.0.0.1`,
		"a loopback address in an ISATAP tunnel": `2400::5efe:127.0.0.1`,
		"an address with a zone":                 `fe80::1%eth0 2606:4700::1111%eth0`,
	} {
		for _, addr := range strings.Fields(addrs) {
			if got := nonPublicKind(netip.MustParseAddr(addr)); got != words {
				t.Errorf("%s is %q; want %q", addr, got, words)
			}
		}
	}
}

// With search domains, a granted name could be resolved as another one.
func TestResolverUsesNoSearchDomains(t *testing.T) {
	r := fullNames{&net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("no network in this test")
	}}}
	ctx := t.Context()
	if _, err := r.LookupNetIP(ctx, "ip", "api.example.com"); err == nil || !strings.Contains(err.Error(), "api.example.com.") {
		t.Errorf("%v", err)
	}
	if _, err := r.LookupNetIP(ctx, "ip", "db"); err == nil || strings.Contains(err.Error(), "db.") {
		t.Errorf("%v", err)
	}
}
