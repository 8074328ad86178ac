package policy

import (
	"net/netip"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNetGrant(t *testing.T) {
	for _, tt := range []struct{ in, text string }{
		{"api.example.com:443", "api.example.com:443"},
		{"example.com", "example.com"},
		{"example.com:*", "example.com:*"},
		{"example.com:80", "example.com:80"},
		{"localhost:8080", "localhost:8080"},
		{"my_host.example:1", "my_host.example:1"},
		{"r3---sn-a.example:65535", "r3---sn-a.example:65535"},
		{"API.Example.COM.:443", "api.example.com:443"},
		{"*.example.org", "*.example.org"},
		{"*.Example.org.:8443", "*.example.org:8443"},
		{"bücher.example:443", "xn--bcher-kva.example:443"},
		{"*.bücher.example", "*.xn--bcher-kva.example"},
		{"xn--bcher-kva.example", "xn--bcher-kva.example"},
		{"example。com", "example.com"},
		{"192.0.2.7:8080", "192.0.2.7:8080"},
		{"192.0.2.7", "192.0.2.7"},
		{"192.0.2.7/32:80", "192.0.2.7:80"},
		{"10.0.0.0/8:5432", "10.0.0.0/8:5432"},
		{"10.0.0.0/8", "10.0.0.0/8"},
		{"[2001:db8::1]:443", "[2001:db8::1]:443"},
		{"[2001:DB8:0::1]", "[2001:db8::1]"},
		{"[fd00::/8]:443", "[fd00::/8]:443"},
		{"[fd00::/8]:*", "[fd00::/8]:*"},
		{strings.Repeat("a", 63) + ".example", strings.Repeat("a", 63) + ".example"},
	} {
		g, err := ParseNetGrant(tt.in)
		if err != nil || g.String() != tt.text {
			t.Errorf("ParseNetGrant(%q) = %v, %v; want %v", tt.in, g, err, tt.text)
			continue
		}
		if again, err := ParseNetGrant(g.String()); err != nil || again != g {
			t.Errorf("%q does not parse back to itself: %v, %v", g, again, err)
		}
	}
}

func TestNetGrantRefusals(t *testing.T) {
	for _, tt := range []struct{ in, words string }{
		{"", "is empty"},
		{"*", "would allow every host"}, {"*:443", "would allow every host"}, {"*.", "would allow every host"},
		{"*.com", "would allow all of .com"}, {"*.com:443", "like *.example.com"}, {"*.com.", "would allow all of .com"},
		{"a.*.example.org", "wildcard inside"}, {"api*.example.org", "wildcard inside"}, {"*example.org", "wildcard inside"},
		{"*.*.example.org", "wildcard inside"}, {"example.*", "wildcard inside"},
		{"*.127.0.0.1", "wildcard before an address"},
		{"https://example.com", "write host:port"}, {"https://example.com:443/x", "write host:port"}, {"HTTP://example.com", "is a URL"},
		{"user@example.com:443", "after the @"}, {"user:pw@example.com", "after the @"},
		{"example.com/path", "has a path"}, {"example.com:443/path", "has a path"}, {"example.com/", "has a path"},
		{"a..example.com", "empty label"}, {".example.com", "empty label"}, {"example.com..", "empty label"}, {".", "empty label"},
		{"exa\x00mple.com", "control characters"}, {"exa\nmple.com", "control characters"}, {"exa\u0085mple.com", "control characters"},
		{"example.com :443", "has spaces"}, {" example.com", "has spaces"}, {"exam\u00a0ple.com", "has spaces"},
		{"exam\xffple.com", "not valid UTF-8"},
		{strings.Repeat("a.", 127) + "com", "too long for a host name"}, {strings.Repeat("a", 5000), "too long for a host name"},
		{strings.Repeat("a", 64) + ".com", "label of 64 characters"},
		{"0x7f.1", "write 127.0.0.1"}, {"017700000001", "write 127.0.0.1"}, {"2130706433:80", "write 127.0.0.1"},
		{"127.1", "write 127.0.0.1"}, {"127.0.0.1.", "write 127.0.0.1"}, {"127.0.1", "write 127.0.0.1"}, {"0300.0.2.7", "write 192.0.2.7"},
		{"１２７.0.0.1", "write 127.0.0.1"}, {"0X7F000001", "write 127.0.0.1"},
		{"1.2.3.256", "ends in a number"}, {"1.2.3.4.5", "ends in a number"}, {"4294967296", "ends in a number"},
		{"example.08", "ends in a number"}, {"example.0xg1.0x1", "ends in a number"}, {"256.1", "ends in a number"},
		{"[fe80::1%eth0]:443", "percent sign"}, {"fe80::1%eth0", "percent sign"}, {"ex%61mple.com", "percent sign"},
		{"2001:db8::1", "without brackets"}, {"2001:db8::1:443", "without brackets"}, {"fd00::/8", "without brackets"},
		{"[2001:db8::1", "no closing bracket"}, {"[2001:db8::1]x", "after the bracket"}, {"[fd00::]/8:443", "as [fd00::/8]:443"},
		{"[example.com]:443", "brackets, which are for IPv6"}, {"[127.0.0.1]:443", "brackets, which are for IPv6"},
		{"[::ffff:10.0.0.1]:443", "write 10.0.0.1"}, {"[::ffff:10.0.0.0/104]", "written as IPv6"}, {"[2001:db8::x]", "not an IP address"},
		{"10.1.2.3/8", "write 10.0.0.0/8"}, {"[fd00::1/8]", "write fd00::/8"}, {"10.0.0.0/33", "not a network"}, {"10.0.0/8", "not a network"},
		{"10.0.0.0/08", "not a network"}, {"0.0.0.0/0", "covers every address"}, {"[::/0]:443", "covers every address"},
		{"example.com:0", "from 1 to 65535"}, {"example.com:65536", "from 1 to 65535"}, {"example.com:-1", "more than one port"},
		{"example.com:443x", "from 1 to 65535"}, {"example.com:0443", "from 1 to 65535"}, {"example.com:+443", "from 1 to 65535"},
		{"example.com:80-90", "a grant for each"}, {"example.com:80,443", "a grant for each"},
		{"example.com:", "no port after the colon"}, {"[::1]:", "no port after the colon"}, {"example.com:443:443", "more than one colon"},
		{`example.com\evil`, "characters of a URL"}, {"example.com#x", "characters of a URL"}, {"example.com?x", "characters of a URL"},
		{"exa!mple.com", "is not a host name"}, {"-a.example", "hyphen"}, {"a-.example", "hyphen"},
		{"xn--a.example", "international"}, {"xn--example-.com", "international"}, {"a\u200db.example", "international"},
	} {
		g, err := ParseNetGrant(tt.in)
		if err == nil || !strings.Contains(err.Error(), tt.words) {
			t.Errorf("ParseNetGrant(%q) = %v, error %v; want %q", tt.in, g, err, tt.words)
		}
		if err != nil && (len(err.Error()) > 300 || strings.ContainsAny(err.Error(), "\x00\n")) {
			t.Errorf("ParseNetGrant(%.20q): the error passes on what was written: %q", tt.in, err)
		}
	}
}

func TestNetGrantAllows(t *testing.T) {
	for _, tt := range []struct {
		grant, host string
		port        uint16
		want        bool
	}{
		{"example.com", "example.com", 443, true}, {"example.com", "example.com", 80, true}, {"example.com", "example.com", 8443, false},
		{"example.com", "example.com", 0, false}, {"example.com:*", "example.com", 0, false}, {"example.com:*", "example.com", 65535, true},
		{"example.com:8443", "example.com", 8443, true}, {"example.com:8443", "example.com", 443, false},
		{"example.com", "www.example.com", 443, false}, {"example.com", "evilexample.com", 443, false}, {"example.com", "example.com.evil.net", 443, false},
		{"*.example.org", "a.example.org", 443, true}, {"*.example.org", "a.b.example.org", 443, true},
		{"*.example.org", "example.org", 443, false}, {"*.example.org", "evilexample.org", 443, false}, {"*.example.org", ".example.org", 443, false},
		{"*.example.org", "a.example.org.evil.net", 443, false}, {"*.example.org", "", 443, false},
		{"10.0.0.0/8", "10.0.0.1", 443, false}, // an address is never a name
	} {
		g, err := ParseNetGrant(tt.grant)
		if err != nil {
			t.Fatal(err)
		}
		if got := g.Allows(tt.host, tt.port); got != tt.want {
			t.Errorf("%s.Allows(%q, %d) = %v", g, tt.host, tt.port, got)
		}
	}
	for _, tt := range []struct {
		grant, addr string
		port        uint16
		want        bool
	}{
		{"10.0.0.0/8:5432", "10.255.0.1", 5432, true}, {"10.0.0.0/8:5432", "11.0.0.0", 5432, false}, {"10.0.0.0/8:5432", "10.0.0.1", 443, false},
		{"192.0.2.7", "192.0.2.7", 443, true}, {"192.0.2.7", "192.0.2.8", 443, false}, {"192.0.2.7", "::ffff:192.0.2.7", 80, true},
		{"192.0.2.7", "::192.0.2.7", 80, false}, {"192.0.2.7", "64:ff9b::192.0.2.7", 80, false},
		{"[fd00::/8]:443", "fd12::1", 443, true}, {"[fd00::/8]:443", "fc00::1", 443, false}, {"[::/1]:443", "::ffff:10.0.0.1", 443, false},
		{"[fe80::/10]:443", "fe80::1%eth0", 443, false},
		{"example.com", "192.0.2.7", 443, false},
	} {
		g, err := ParseNetGrant(tt.grant)
		if err != nil {
			t.Fatal(err)
		}
		if got := g.AllowsAddr(netip.MustParseAddr(tt.addr), tt.port); got != tt.want {
			t.Errorf("%s.AllowsAddr(%s, %d) = %v", g, tt.addr, tt.port, got)
		}
	}
	var zero NetGrant
	if zero.Allows("", 443) || zero.Allows("example.com", 443) || zero.AllowsAddr(netip.MustParseAddr("0.0.0.0"), 443) || zero.AllowsAddr(netip.Addr{}, 80) {
		t.Error("the zero value allows something")
	}
}

func TestCanonicalHost(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"example.com", "example.com"}, {"EXAMPLE.com.", "example.com"}, {"_sip._tcp.example", "_sip._tcp.example"},
		{"BÜCHER.example", "xn--bcher-kva.example"}, {"exa\u00admple.com", "example.com"}, {"ｅxample．com", "example.com"},
		{"еxample.com", "xn--xample-2of.com"}, // a Cyrillic е makes another name
		{"localhost", "localhost"}, {"0o17", "0o17"}, {"1.2.3.4.example", "1.2.3.4.example"}, {"0x", "0.0.0.0"},
		{"127.0.0.1", "127.0.0.1"}, {"127.0.0.1.", "127.0.0.1"}, {"127.1", "127.0.0.1"}, {"127.0.1", "127.0.0.1"},
		{"2130706433", "127.0.0.1"}, {"2130706433.", "127.0.0.1"}, {"0x7f000001", "127.0.0.1"}, {"0X7F.1", "127.0.0.1"},
		{"0x7f.0x0.0x0.0x1", "127.0.0.1"}, {"017700000001", "127.0.0.1"}, {"0177.0.0.01", "127.0.0.1"}, {"0177.1", "127.0.0.1"},
		{"00000000177.1", "127.0.0.1"}, {"0", "0.0.0.0"}, {"4294967295", "255.255.255.255"}, {"10.65535", "10.0.255.255"},
		{"169.254.43518", "169.254.169.254"}, {"0xa9fea9fe", "169.254.169.254"}, {"①②⑦.0.0.1", "127.0.0.1"}, {"127。0。0。1", "127.0.0.1"},
		{"::1", "::1"}, {"[::1]", "::1"}, {"0:0:0:0:0:0:0:1", "::1"}, {"::ffff:127.0.0.1", "127.0.0.1"}, {"[::FFFF:7f00:1]", "127.0.0.1"},
		{"::127.0.0.1", "::7f00:1"}, {"2001:DB8::1", "2001:db8::1"},
	} {
		name, addr, err := CanonicalHost(tt.in)
		got := name
		if addr.IsValid() {
			got = addr.String()
		}
		if err != nil || got != tt.want || addr.IsValid() == (name != "") {
			t.Errorf("CanonicalHost(%q) = %q, %v, %v; want %s", tt.in, name, addr, err, tt.want)
		}
	}
	for _, in := range []string{
		"", ".", "..", "example..com", ".example.com", "example.com..", "evil\x00.example.com", "exa mple.com", "example.com\n", "\texample.com",
		"user@example.com", "example.com/", `example.com\`, "ex%61mple.com", "::1%lo", "[::1%25lo]", "example.com#", "example.com?",
		"[::1", "::1]", "[[::1]]", "[example.com]", "[127.0.0.1]", "example.com:443", "a:b", "127.0.0.1:80", "08", "1.2.3.09", "256.256.256.256",
		"1.2.3.4.5", "4294967296", "0x100000000", "99999999999999999999", "1.2.65536", "a.1", "0x1.a.2", "exa*mple.com", "exa\xe4mple.com",
		"ex\u2100mple.com", "a\u2024.example/", "-a.com", "a-.com", strings.Repeat("a", 64), strings.Repeat("abc.", 64) + "com", "xn--.com", "xn--zzzzzzzz.com",
		"a\u3002\u3002b", "!", "$HOST", "example,com", "\u202eexample.com", strings.Repeat("ü", 60) + ".com",
	} {
		if name, addr, err := CanonicalHost(in); err == nil || name != "" || addr.IsValid() {
			t.Errorf("CanonicalHost(%q) = %q, %v, %v; want an error", in, name, addr, err)
		}
	}
}

// checkCanonical checks the properties that CanonicalHost has for every text.
func checkCanonical(t interface {
	Helper()
	Fatalf(string, ...any)
}, text string) {
	t.Helper()
	name, addr, err := CanonicalHost(text)
	if err != nil {
		if name != "" || addr.IsValid() {
			t.Fatalf("CanonicalHost(%q) gives a host with its error", text)
		}
		return
	}
	canonical := name
	if addr.IsValid() {
		canonical = addr.String()
	}
	name2, addr2, err := CanonicalHost(canonical)
	if err != nil || name2 != name || addr2 != addr {
		t.Fatalf("CanonicalHost(%q) = %q, but of that it is %q, %v, %v", text, canonical, name2, addr2, err)
	}
	if addr.Is4In6() || addr.Zone() != "" || strings.ContainsFunc(name, func(r rune) bool { return notInName(r) && r != '.' }) || len(name) > maxName {
		t.Fatalf("CanonicalHost(%q) = %q, %v is not canonical", text, name, addr)
	}
}

func checkGrant(t interface {
	Helper()
	Fatalf(string, ...any)
}, text string) {
	t.Helper()
	g, err := ParseNetGrant(text)
	if err != nil {
		if g != (NetGrant{}) {
			t.Fatalf("ParseNetGrant(%q) gives a grant with its error", text)
		}
		return
	}
	if again, err := ParseNetGrant(g.String()); err != nil || again != g {
		t.Fatalf("ParseNetGrant(%q) = %s, which is then %s, %v", text, g, again, err)
	}
	if g.name == "" && !g.prefix.IsValid() {
		t.Fatalf("ParseNetGrant(%q) is the grant of nothing", text)
	}
}

func TestHostProperties(t *testing.T) {
	part := rapid.OneOf(
		rapid.StringMatching(`[a-z0-9_-]{0,6}`), rapid.StringMatching(`0?x?[0-9a-fA-F]{0,9}`),
		rapid.SampledFrom([]string{".", "..", "*", "*.", ":", "/", "[", "]", "xn--", "xn--bcher-kva", "ü", "。", "１", "::", "443", ":443", "/8", "ſ", "ß", "א", "\u200d"}),
		rapid.String(),
	)
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(part, 1, 6).Draw(t, "parts"), rapid.SampledFrom([]string{"", "."}).Draw(t, "between"))
		checkCanonical(t, text)
		checkGrant(t, text)
	})
}

// Every notation of an address gives that address.
func TestCanonicalHostReadsEveryAddressNotation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := netip.AddrFrom4([4]byte(rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "address")))
		b := want.As4()
		parts := rapid.IntRange(1, 4).Draw(t, "parts")
		var text []string
		for i := range parts {
			n := uint64(b[i])
			if i == parts-1 {
				for _, rest := range b[i+1:] {
					n = n<<8 | uint64(rest)
				}
			}
			text = append(text, rapid.SampledFrom([]func(uint64) string{
				func(n uint64) string { return strconv.FormatUint(n, 10) },
				func(n uint64) string { return "0" + strconv.FormatUint(n, 8) },
				func(n uint64) string { return "0x" + strconv.FormatUint(n, 16) },
				func(n uint64) string { return "0X00" + strings.ToUpper(strconv.FormatUint(n, 16)) },
			}).Draw(t, "base")(n))
		}
		in := strings.Join(text, ".") + rapid.SampledFrom([]string{"", "."}).Draw(t, "end")
		if name, got, err := CanonicalHost(in); err != nil || name != "" || got != want {
			t.Fatalf("CanonicalHost(%q) = %q, %v, %v; want %v", in, name, got, err, want)
		}
	})
}

func FuzzCanonicalHost(f *testing.F) {
	for _, s := range []string{"example.com", "0x7f.1", "bücher.example.", "[::ffff:1.2.3.4]", "xn--bcher-kva", "א.example", "a\u3002b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) { checkCanonical(t, text) })
}

func FuzzParseNetGrant(f *testing.F) {
	for _, s := range []string{"*.example.org:443", "10.0.0.0/8:*", "[fd00::/8]:443", "bücher.example", "127.1", "a@b:1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) { checkGrant(t, text) })
}
