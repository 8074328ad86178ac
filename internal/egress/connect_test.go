package egress

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/run"
)

// attempts has every way to write a host, with the expected result. TestConnect and
// TestSocks use the same table.
var attempts = []struct {
	host   string
	port   int
	grants []string
	want   string // the dialed address
	words  string // or the reason for the refusal
}{
	{"example.com", 443, []string{"example.com"}, publicA, ""},
	{"EXAMPLE.com", 443, []string{"example.com"}, publicA, ""},
	{"example.com.", 443, []string{"example.com"}, publicA, ""},
	{"a.b.example.com", 443, []string{"*.example.com"}, publicA, ""},
	{"bücher.example", 443, []string{"xn--bcher-kva.example"}, publicA, ""},
	{"ｅxample.com", 443, []string{"example.com"}, publicA, ""},
	{publicA, 443, []string{publicA}, publicA, ""},
	{"1572394766", 443, []string{publicA}, publicA, ""}, // the same address

	{"example.com", 443, nil, "", "example.com:443: not in allow_net"},
	{"example.com", 22, []string{"example.com"}, "", "example.com:22: this port is not in allow_net"},
	{"example.com", 444, []string{"example.com:443"}, "", "this port is not in allow_net"},
	{"example.com", 0, []string{"example.com:*"}, "", "example.com:0: 0 is not a port"},
	{"evilexample.com", 443, []string{"example.com", "*.example.com"}, "", "evilexample.com:443: not in allow_net"},
	{"example.com.evil.net", 443, []string{"example.com", "*.example.com"}, "", "not in allow_net"},
	{"example.com", 443, []string{"*.example.com"}, "", "not in allow_net"},
	{"www.example.com", 443, []string{"example.com"}, "", "not in allow_net"},
	{"exаmple.com", 443, []string{"example.com"}, "", "xn--exmple-4nf.com:443: not in allow_net"}, // a Cyrillic а
	{"example.com..", 443, []string{"example.com"}, "", "empty label"},
	{"example..com", 443, []string{"example.com"}, "", "empty label"},
	{"user@example.com", 443, []string{"example.com"}, "", "user before the host"},
	{"example.com@evil.net", 443, []string{"example.com"}, "", "user before the host"},
	{"example.com%2eevil.net", 443, []string{"example.com"}, "", "percent sign"},
	{"example.com/", 443, []string{"example.com"}, "", "is not a host name"},
	{"example.com#.evil.net", 443, []string{"example.com"}, "", "characters of a URL"},
	{"*.example.com", 443, []string{"*.example.com"}, "", "is not a host name"},
	{strings.Repeat("a", 250), 443, []string{"example.com"}, "", "label of 250"},
	{publicA, 443, []string{"example.com"}, "", "an address needs a grant by address"},

	{"127.0.0.1", 80, []string{"example.com"}, "", "127.0.0.1:80: not in allow_net"},
	{"127.1", 80, []string{"example.com"}, "", "127.0.0.1:80: not in allow_net"},
	{"2130706433", 80, []string{"example.com"}, "", "127.0.0.1:80"},
	{"0x7f000001", 80, []string{"example.com"}, "", "127.0.0.1:80"},
	{"0x7f.1", 80, []string{"example.com"}, "", "127.0.0.1:80"},
	{"0177.0.0.1", 80, []string{"example.com"}, "", "127.0.0.1:80"},
	{"017700000001", 80, []string{"example.com"}, "", "127.0.0.1:80"},
	{"127.0.0.1.", 80, []string{"example.com"}, "", "127.0.0.1:80"},
	{"１２７.0.0.1", 80, []string{"example.com"}, "", "127.0.0.1:80"},
	{"0", 80, []string{"example.com"}, "", "0.0.0.0:80"},
	{"169.254.169.254", 80, []string{"example.com"}, "", "169.254.169.254:80"},
	{"4294967296", 80, []string{"example.com"}, "", "ends in a number"},
}

func init() {
	// Granted names that resolve to non-public addresses of each kind.
	for _, k := range []struct{ addr, words string }{
		{"127.0.0.1", "a loopback address"}, {"::1", "a loopback address"}, {"10.0.0.5", "a private address"},
		{"172.31.255.255", "a private address"}, {"192.168.1.1", "a private address"}, {"169.254.169.254", "a cloud metadata address"},
		{"fd00:ec2::254", "a cloud metadata address"}, {"100.100.100.200", "a cloud metadata address"}, {"168.63.129.16", "a cloud metadata address"},
		{"169.254.1.1", "a link-local address"}, {"fe80::1", "a link-local address"}, {"100.64.0.1", "a carrier's shared address"},
		{"::ffff:10.0.0.5", "resolves to 10.0.0.5, a private address"}, {"64:ff9b::a00:5", "a private address behind NAT64"},
		{"2002:a00:5::", "a tunnel's address"}, {"0.0.0.0", "an unspecified address"}, {"::", "an unspecified address"}, {"224.0.0.1", "a multicast address"},
	} {
		host := "to-" + strings.NewReplacer(".", "-", ":", "-").Replace(k.addr) + "-x.inside.example"
		attempts = append(attempts, struct {
			host   string
			port   int
			grants []string
			want   string
			words  string
		}{host, 443, []string{"*.inside.example"}, "", k.words})
		inside[host] = k.addr
	}
}

var inside = map[string]string{}

// attemptWorld has a server for each target that attempts may reach.
func attemptWorld(t *testing.T) *world {
	w := newWorld(t)
	for _, name := range []string{"example.com", "a.b.example.com", "xn--bcher-kva.example"} {
		w.name(name, publicA)
	}
	for name, addr := range inside {
		w.name(name, addr)
	}
	w.serve(t, publicA+":443", echo)
	return w
}

func TestConnect(t *testing.T) {
	for _, tt := range attempts {
		t.Run(fmt.Sprintf("%.40s:%d", tt.host, tt.port), func(t *testing.T) {
			w := attemptWorld(t)
			conn, status, body := connect(t, w.proxy(t, tt.grants...), fmt.Sprintf("%s:%d", tt.host, tt.port))
			if tt.want != "" {
				if status != 200 || !slices.Equal(w.dials(), []string{tt.want + ":443"}) || len(w.violations()) > 0 {
					t.Fatalf("%d %s, dialed %v, %v", status, body, w.dials(), w.violations())
				}
				mustEcho(t, conn, "\x00hello")
				return
			}
			if status == 400 && len(w.dials()) == 0 {
				return // net/http does not accept it as a request
			}
			if status != 403 || len(w.dials()) > 0 {
				t.Fatalf("%d %q, dialed %v", status, body, w.dials())
			}
			if tt.grants != nil {
				w.mustReport(t, tt.words)
			}
			if !strings.Contains(body, "cordon: ") || !strings.Contains(body, "allow_net") || len(body) > 600 {
				t.Errorf("body %q", body)
			}
		})
	}
}

func TestConnectSaysHowToAllow(t *testing.T) {
	w := newWorld(t)
	_, status, body := connect(t, w.proxy(t, "example.com"), "evil.example:443")
	want := "cordon: evil.example:443: not in allow_net\nonly hosts in allow_net can be reached from this sandbox: use one of them, or add evil.example:443 to allow_net in the policy\n"
	if status != 403 || body != want {
		t.Errorf("%d %q", status, body)
	}
	if v := w.violations()[0]; !slices.Equal(v.Allowed, []string{"example.com"}) || v.Detail != "evil.example:443: not in allow_net" ||
		v.HintCode != run.HintAllowHost || v.HintData["host"] != "evil.example:443" {
		t.Errorf("%+v", v)
	}
}

// A name that is not granted is not resolved, because a query is a message.
func TestRefusedNamesAreNotResolved(t *testing.T) {
	w := newWorld(t)
	address := w.proxy(t, "example.com:443")
	for _, host := range []string{"secret.evil.example:443", "example.com:25", "127.0.0.1:443"} {
		if _, status, _ := connect(t, address, host); status != 403 {
			t.Errorf("%s: %d", host, status)
		}
	}
	if asked := w.lookups(); len(asked) > 0 {
		t.Errorf("asked for %v", asked)
	}
}

func TestConnectMalformed(t *testing.T) {
	for _, request := range []string{
		"CONNECT example.com HTTP/1.1\r\nHost: example.com\r\n\r\n",
		"CONNECT example.com: HTTP/1.1\r\nHost: example.com\r\n\r\n",
		"CONNECT :443 HTTP/1.1\r\nHost: example.com\r\n\r\n",
		"CONNECT example.com:0 HTTP/1.1\r\nHost: example.com\r\n\r\n",
		"CONNECT example.com:65979 HTTP/1.1\r\nHost: example.com\r\n\r\n",
		"CONNECT example.com:443:443 HTTP/1.1\r\nHost: example.com\r\n\r\n",
		"CONNECT example.com:+443 HTTP/1.1\r\nHost: example.com\r\n\r\n",
		"CONNECT example.com:443/ HTTP/1.1\r\nHost: example.com\r\n\r\n",
		"CONNECT http://example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n",
		"CONNECT //example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n",
		"CONNECT 1.2.3.4@example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n",
		"CONNECT example.com:443@evil.net:443 HTTP/1.1\r\nHost: example.com\r\n\r\n",
		"CONNECT exam\x00ple.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n",
		"CONNECT ::1:443 HTTP/1.1\r\nHost: example.com\r\n\r\n",
		"CONNECT [::1%25lo]:443 HTTP/1.1\r\nHost: example.com\r\n\r\n",
		"CONNECT [example.com]:443 HTTP/1.1\r\nHost: example.com\r\n\r\n",
		"CONNECT  example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n",
		"CONNECT example.com:443\r\nHost: example.com\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: example.com\r\n\r\n",
		"OPTIONS * HTTP/1.1\r\nHost: example.com\r\n\r\n",
		"GET https://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"\r\n\r\n", "\x16\x03\x01\x00\x05hello",
	} {
		w := attemptWorld(t)
		conn := dialProxy(t, w.proxy(t, "example.com:*"))
		send(t, conn, request)
		if err := conn.CloseWrite(); err != nil {
			t.Fatal(err)
		}
		answer, _ := io.ReadAll(conn)
		if strings.HasPrefix(string(answer), "HTTP/1.1 2") || len(w.dials()) > 0 {
			t.Errorf("%q: %q, dialed %v", request, answer, w.dials())
		}
	}
}

// The Host header of a CONNECT request neither allows nor refuses anything.
func TestConnectIgnoresTheHostHeader(t *testing.T) {
	for _, tt := range []struct {
		line, host string
		status     int
	}{{"evil.example:443", "example.com:443", 403}, {"example.com:443", "evil.example:443", 200}} {
		w := attemptWorld(t)
		conn := dialProxy(t, w.proxy(t, "example.com"))
		send(t, conn, "CONNECT "+tt.line+" HTTP/1.1\r\nHost: "+tt.host+"\r\n\r\n")
		if status, body := readResponse(t, bufio.NewReader(conn), "CONNECT"); status != tt.status {
			t.Errorf("CONNECT %s with Host %s: %d %s", tt.line, tt.host, status, body)
		}
	}
}

func TestRebinding(t *testing.T) {
	w := newWorld(t)
	w.name("example.com", publicA)
	w.name("example.com", "127.0.0.1")
	w.serve(t, publicA+":443", echo)
	address := w.proxy(t, "example.com")
	mustEcho(t, mustConnect(t, address, "example.com:443"), "\x00one")
	if asked := w.lookups(); len(asked) != 1 {
		t.Fatalf("one connection asked %d times", len(asked))
	}
	// The next connection gets the second answer, which is judged again.
	if _, status, _ := connect(t, address, "example.com:443"); status != 403 {
		t.Errorf("status %d", status)
	}
	w.mustReport(t, "example.com:443: resolves to 127.0.0.1, a loopback address")
	if dials := w.dials(); !slices.Equal(dials, []string{publicA + ":443"}) {
		t.Errorf("dialed %v", dials)
	}
}

func TestMixedAnswers(t *testing.T) {
	w := newWorld(t)
	w.name("example.com", "10.0.0.5", publicB, "169.254.169.254", publicA, "::1")
	w.serve(t, publicA+":443", echo) // publicB has no server
	mustEcho(t, mustConnect(t, w.proxy(t, "example.com"), "example.com:443"), "\x00x")
	if dials := w.dials(); !slices.Equal(dials, []string{publicB + ":443", publicA + ":443"}) {
		t.Errorf("dialed %v", dials)
	}
	if found := w.violations(); len(found) > 0 {
		t.Errorf("%v", found)
	}
}

func TestGrantByAddressOpensARange(t *testing.T) {
	for _, tt := range []struct {
		grants []string
		status int
	}{
		{[]string{"db.example:443"}, 403},
		{[]string{"db.example:443", "10.0.0.0/8:443"}, 200},
		{[]string{"db.example:443", "10.0.0.0/8:5432"}, 403},
		{[]string{"db.example:443", "192.168.0.0/16:443"}, 403},
		{[]string{"10.0.0.0/8:443"}, 403}, // the name itself is not granted
	} {
		w := newWorld(t)
		w.name("db.example", "10.0.0.5")
		w.serve(t, "10.0.0.5:443", echo)
		if _, status, body := connect(t, w.proxy(t, tt.grants...), "db.example:443"); status != tt.status {
			t.Errorf("%v: %d %s", tt.grants, status, body)
		}
	}
}

// Services on the host's public address may trust connections from the host itself.
func TestNamesMustNotResolveToTheHost(t *testing.T) {
	w := newWorld(t)
	w.name("example.com", publicA)
	w.serve(t, publicA+":443", echo)
	var reported []run.Violation
	p := New(Options{Grants: grants(t, "example.com"), Resolver: w, Dial: w.dial, Report: func(v run.Violation) { reported = append(reported, v) }})
	p.hostAddrs = func() ([]netip.Addr, error) { return []netip.Addr{netip.MustParseAddr(publicA)}, nil }
	_, _, err := p.dial(t.Context(), target{name: "example.com", port: 443})
	if r := (*refusal)(nil); !errors.As(err, &r) || !strings.Contains(r.detail, "an address of the host itself") {
		t.Errorf("%v", err)
	}
	p.hostAddrs = func() ([]netip.Addr, error) { return nil, errors.New("no netlink") }
	if _, _, err := p.dial(t.Context(), target{name: "example.com", port: 443}); err == nil {
		t.Error("connects without knowing the host's addresses")
	}
	if len(w.dials()) > 0 {
		t.Errorf("dialed %v", w.dials())
	}
	if own, err := hostAddresses(); err != nil || !slices.Contains(own, netip.MustParseAddr("127.0.0.1")) {
		t.Errorf("hostAddresses = %v, %v", own, err)
	}
}

func TestFailuresAreNoViolations(t *testing.T) {
	w := newWorld(t)
	w.name("gone.example", publicB)
	closed := listen(t)
	w.servers[publicA+":443"] = closed.Addr().String()
	closed.Close()
	w.name("refusing.example", publicA)
	address := w.proxy(t, "*.example.com", "missing.example", "gone.example", "refusing.example")
	for _, tt := range []struct{ host, words string }{
		{"missing.example:443", "the name cannot be resolved"},
		{"gone.example:443", "the server cannot be reached"},
		{"refusing.example:443", "the server refuses the connection"},
	} {
		_, status, body := connect(t, address, tt.host)
		if status != 502 || !strings.Contains(body, tt.words) {
			t.Errorf("%s: %d %q", tt.host, status, body)
		}
		if strings.Contains(body, "10.9.8.7") || strings.Contains(body, publicA) {
			t.Errorf("tells the guest about the host's network: %q", body)
		}
	}
	if found := w.violations(); len(found) > 0 {
		t.Errorf("%v", found)
	}
}

// Bytes that a guest sends right after CONNECT, without waiting, are part of the tunnel.
func TestConnectKeepsBytesSentBeforeTheAnswer(t *testing.T) {
	w := attemptWorld(t)
	conn := dialProxy(t, w.proxy(t, "example.com"))
	send(t, conn, "CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n\x00eager")
	want := "HTTP/1.1 200 Connection established\r\n\r\n\x00eager"
	answer := make([]byte, len(want))
	if _, err := io.ReadFull(conn, answer); err != nil || string(answer) != want {
		t.Errorf("%q, %v", answer, err)
	}
}

func TestServerMaySpeakFirst(t *testing.T) {
	w := newWorld(t)
	w.name("ssh.example", publicA)
	w.serve(t, publicA+":22", func(conn net.Conn) {
		_, _ = io.WriteString(conn, "SSH-2.0-server\r\n")
		echo(conn)
	})
	conn := mustConnect(t, w.proxy(t, "ssh.example:22"), "ssh.example:22")
	banner := make([]byte, 16)
	if _, err := io.ReadFull(conn, banner); err != nil || string(banner) != "SSH-2.0-server\r\n" {
		t.Fatalf("%q, %v", banner, err)
	}
	mustEcho(t, conn, "SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n")
}
