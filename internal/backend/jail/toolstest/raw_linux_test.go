package toolstest

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// raw sends bytes to the proxy unchanged, and returns the answer. Each part is sent after the
// answer to the one before.
func (w *workshop) raw(parts ...string) run.Result {
	w.t.Helper()
	var coded []string
	for _, part := range parts {
		coded = append(coded, base64.StdEncoding.EncodeToString([]byte(part)))
	}
	return w.python(fmt.Sprintf(`
import base64, socket, sys
s = socket.create_connection(("127.0.0.1", 3128))
s.settimeout(10)
parts = %q.split()
for part in parts:
    s.sendall(base64.b64decode(part))
    if part is not parts[-1]:
        sys.stdout.buffer.write(s.recv(65536))
try:
    if parts: # a server may take half a farewell for a whole one, before its answer
        sys.stdout.buffer.write(s.recv(65536))
    s.shutdown(socket.SHUT_WR)
    while data := s.recv(65536):
        sys.stdout.buffer.write(data)
except (TimeoutError, ConnectionResetError) as e:
    print(type(e).__name__)
`, strings.Join(coded, " ")))
}

// testRawBypasses sends what no tool would send.
func testRawBypasses(t *testing.T, n *internet, p policy.Policy) {
	hosttest.Needs(t, "python3")
	const unlisted = ": not in allow_net"
	const byAddress = ": not in allow_net, where an address needs a grant by address"
	w := online(t, n, strictPolicy(p))
	connect := func(target string) []string {
		return []string{"CONNECT " + target + " HTTP/1.1\r\nHost: allowed.test.example:443\r\n\r\n"}
	}
	get := func(lines string) []string {
		return []string{strings.ReplaceAll(lines, "\n", "\r\n") + "\r\n\r\n"}
	}
	for _, try := range []struct {
		name    string
		send    []string
		answer  string // a part of the answer
		refused []string
	}{
		// Every notation of an address, unchanged. An answer of 400 means that it is not
		// valid HTTP, and names no host to report.
		{"decimal", connect("1572395074:80"), "403", []string{"93.184.216.66:80" + byAddress}},
		{"octal", connect("0135.0270.0330.0102:80"), "403", []string{"93.184.216.66:80" + byAddress}},
		{"hexadecimal", connect("0x5DB8D842:80"), "403", []string{"93.184.216.66:80" + byAddress}},
		{"mixed", connect("0x5d.184.0330.66:80"), "403", []string{"93.184.216.66:80" + byAddress}},
		{"short", connect("93.12113986:80"), "403", []string{"93.184.216.66:80" + byAddress}},
		{"shorter loopback", connect("127.1:9999"), "403", []string{"127.0.0.1:9999" + byAddress}},
		{"zero", connect("0:9999"), "403", []string{"0.0.0.0:9999" + byAddress}},
		{"mapped", connect("[::ffff:93.184.216.66]:80"), "403", []string{"93.184.216.66:80" + byAddress}},
		{"mapped in hex", connect("[::ffff:5db8:d842]:80"), "403", []string{"93.184.216.66:80" + byAddress}},
		{"mapped loopback", connect("[::ffff:127.0.0.1]:9999"), "403", []string{"127.0.0.1:9999" + byAddress}},
		{"a zone", connect("[fe80::1%lo]:9999"), "400", nil},
		{"a zone of loopback", connect("[::1%lo]:9999"), "400", nil},
		{"a zone, escaped", connect("[fe80::1%25lo]:9999"), "", []string{"fe80::1%25lo"}},
		{"no brackets", connect("::1:9999"), "400", nil},
		{"an octal nobody reads alike", connect("010.8.08.1:80"), "", []string{"ends in a number and is not an IPv4 address"}},

		{"trailing dot", connect("allowed.test.example.:443"), "200", nil},
		{"two dots", connect("allowed.test.example..:443"), "403", []string{"has an empty label"}},
		{"upper case", connect("ALLOWED.TEST.EXAMPLE:443"), "200", nil},
		{"another host, the Host allowed", connect("evil.test.example:443"), "403", []string{"evil.test.example:443" + unlisted}},
		{"a user", connect("allowed.test.example:443@evil.test.example:443"), "403", []string{"evil.test.example"}},
		{"a path", connect("evil.test.example:443/allowed.test.example:443"), "", []string{"evil.test.example"}},
		{"a NUL", connect("allowed.test.example\x00.evil.test.example:443"), "", nil},
		{"two ports", connect("evil.test.example:80:443"), "400", nil},
		{"no port", connect("allowed.test.example"), "403", []string{"has no port"}},
		{"port 0", connect("allowed.test.example:0"), "403", []string{"0 is not a port"}},
		{"a port too large", connect("allowed.test.example:65979"), "403", []string{"the port is not a number"}}, // 443 + 65536
		{"a signed port", connect("allowed.test.example:+443"), "400", nil},
		{"UTF-8", connect("еvil.test.example:443"), "", []string{"xn--vil-"}},

		// Two requests at once; the second must be answered, too.
		{"smuggled connect", []string{"CONNECT allowed.test.example:80 HTTP/1.1\r\n\r\nCONNECT evil.test.example:443 HTTP/1.1\r\n\r\n"}, "", []string{"allowed.test.example:80"}},
		{"pipelined", []string{"GET http://allowed.test.example/ HTTP/1.1\r\nHost: allowed.test.example\r\n\r\nGET http://evil.test.example/ HTTP/1.1\r\nHost: allowed.test.example\r\n\r\n"},
			"hello from 93.184.216.34", []string{"evil.test.example:80" + unlisted}},
		{"kept alive", []string{"GET http://allowed.test.example/ HTTP/1.1\r\nHost: x\r\n\r\n", "GET http://evil.test.example/ HTTP/1.1\r\nHost: allowed.test.example\r\n\r\n"},
			"hello from 93.184.216.34", []string{"evil.test.example:80" + unlisted}},
		{"two lengths", get("POST http://allowed.test.example/upload HTTP/1.1\nHost: allowed.test.example\nContent-Length: 5\nContent-Length: 6"), "400", nil},
		{"length and chunks", []string{"POST http://allowed.test.example/upload HTTP/1.1\r\nHost: allowed.test.example\r\nContent-Length: 60\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: evil.test.example\r\n\r\n"}, "", nil},
		{"an odd coding", get("POST http://allowed.test.example/upload HTTP/1.1\nHost: allowed.test.example\nTransfer-Encoding: xchunked"), "", nil},
		{"a blank before the colon", get("GET http://allowed.test.example/ HTTP/1.1\nHost : evil.test.example\nHost: allowed.test.example"), "400", nil},
		{"two Hosts", get("GET http://allowed.test.example/ HTTP/1.1\nHost: allowed.test.example\nHost: evil.test.example"), "400", nil},
		{"a broken line", get("GET http://allowed.test.example/\rGET http://evil.test.example/ HTTP/1.1\nHost: allowed.test.example"), "400", nil},
		{"not absolute", get("GET / HTTP/1.1\nHost: evil.test.example"), "400", nil},
		{"not absolute, loopback", get("GET / HTTP/1.1\nHost: localhost:9999"), "400", nil},
		{"another scheme", get("GET https://evil.test.example/ HTTP/1.1\nHost: evil.test.example"), "403", []string{"evil.test.example:443"}},
		{"a file", get("GET file:///etc/passwd HTTP/1.1\nHost: x"), "400", nil},
		{"a user in the line", get("GET http://allowed.test.example@evil.test.example/ HTTP/1.1\nHost: x"), "403", []string{"evil.test.example"}},
		{"HTTP/0.9", []string{"GET http://evil.test.example/\r\n"}, "400", nil},
		{"HTTP/2", []string{"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"}, "", nil},
		{"an upgrade", get("GET http://allowed.test.example/ HTTP/1.1\nHost: x\nConnection: upgrade, close\nUpgrade: h2c"), "hello from 93.184.216.34", nil},
		{"nothing", []string{""}, "", nil},

		// Plain text in a tunnel.
		{"another host in a tunnel", []string{"CONNECT allowed.test.example:80 HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: evil.test.example\r\n\r\n"}, "403", []string{"HTTP host evil.test.example does not match allowed.test.example:80"}},
		{"two in a tunnel", []string{"CONNECT allowed.test.example:80 HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: allowed.test.example\r\nHost: evil.test.example\r\n\r\n"}, "400", nil},
		{"absolute in a tunnel", []string{"CONNECT allowed.test.example:80 HTTP/1.1\r\n\r\n", "GET http://evil.test.example/ HTTP/1.1\r\nHost: allowed.test.example\r\n\r\n"}, "403", []string{"HTTP host evil.test.example does not match"}},
		{"folded in a tunnel", []string{"CONNECT allowed.test.example:80 HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nX: y\r\n Host: evil.test.example\r\nHost: allowed.test.example\r\n\r\n"}, "hello from 93.184.216.34", nil},
		{"bare line feeds", []string{"CONNECT allowed.test.example:80 HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\nHost: evil.test.example\n\n"}, "403", []string{"HTTP host evil.test.example does not match"}},
		{"too old for a Host", []string{"CONNECT allowed.test.example:80 HTTP/1.1\r\n\r\n", "GET /\r\n"}, "403", []string{"has no version and no Host header"}},
		{"HTTP/2 in a tunnel", []string{"CONNECT allowed.test.example:80 HTTP/1.1\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"}, "403", []string{"HTTP/2 without TLS"}},

		// SOCKS5: 5, number of methods, none; 5, CONNECT, 0, kind, host, port.
		{"SOCKS, IPv4", []string{"\x05\x01\x00", "\x05\x01\x00\x01\x5d\xb8\xd8\x42\x00\x50"}, "\x05\x02", []string{"93.184.216.66:80" + byAddress}},
		{"SOCKS, mapped", []string{"\x05\x01\x00", "\x05\x01\x00\x04" + strings.Repeat("\x00", 10) + "\xff\xff\x7f\x00\x00\x01\x27\x0f"}, "\x05\x02", []string{"127.0.0.1:9999" + byAddress}},
		{"SOCKS, IPv6", []string{"\x05\x01\x00", "\x05\x01\x00\x04" + strings.Repeat("\x00", 15) + "\x01\x27\x0f"}, "\x05\x02", []string{"[::1]:9999" + byAddress}},
		{"SOCKS, a name of numbers", []string{"\x05\x01\x00", "\x05\x01\x00\x03\x0a2130706433\x27\x0f"}, "\x05\x02", []string{"127.0.0.1:9999" + byAddress}},
		{"SOCKS, a NUL", []string{"\x05\x01\x00", "\x05\x01\x00\x03\x16allowed.test.example\x00x\x01\xbb"}, "\x05\x02", []string{"control characters"}},
		{"SOCKS, UDP", []string{"\x05\x01\x00", "\x05\x03\x00\x01\x5d\xb8\xd8\x42\x00\x35"}, "\x05\x07", []string{"93.184.216.66:53: SOCKS command 3 is not CONNECT"}},
		{"SOCKS, listening", []string{"\x05\x01\x00", "\x05\x02\x00\x01\x5d\xb8\xd8\x42\x00\x35"}, "\x05\x07", []string{"93.184.216.66:53: SOCKS command 2 is not CONNECT"}},
		{"SOCKS, all at once", []string{"\x05\x01\x00\x05\x01\x00\x03\x14allowed.test.example\x00\x50GET / HTTP/1.1\r\nHost: evil.test.example\r\n\r\n"}, "\x05\x00", []string{"HTTP host evil.test.example does not match"}},
	} {
		t.Run(try.name, func(t *testing.T) {
			r := w.raw(try.send...)
			if !strings.Contains(r.Stdout, try.answer) {
				t.Errorf("the answer is %q, %q; want %q", r.Stdout, r.Stderr, try.answer)
			}
			if !r.OK() {
				t.Errorf("%s %s", r.Outcome, r.Stderr)
			}
			stdout := r.Stdout
			if strings.Contains(try.answer, "hello") {
				r.Stdout = "" // the first of two is allowed
			}
			refusedBy(t, r, try.refused...)
			if strings.Contains(stdout, "to evil") {
				t.Errorf("the evil server answered: %q", stdout)
			}
			n.check(t)
		})
	}
	if found := n.requests("smuggled"); len(found) > 0 {
		t.Errorf("a second request came through: %q", found)
	}
}

// testTLSBypasses use another name inside the encryption.
func testTLSBypasses(t *testing.T, n *internet, p policy.Policy) {
	hosttest.Needs(t, "openssl", "python3")
	w := online(t, n, strictPolicy(p))
	mismatch := "TLS server name evil.test.example does not match allowed.test.example:443"
	t.Run("openssl", func(t *testing.T) {
		for options, refused := range map[string]string{
			"-servername evil.test.example":         mismatch,
			"-servername evil.test.example -tls1_2": mismatch,
			"-noservername":                         "TLS ClientHello for allowed.test.example:443 names no server",
			"-servername ALLOWED.test.example":      "",
		} {
			r := w.request(run.Request{Command: run.Command{Args: []string{"sh"}}, Stdin: "printf 'GET / HTTP/1.0\\r\\nHost: x\\r\\n\\r\\n' | timeout 20 openssl s_client -quiet -ign_eof -proxy 127.0.0.1:3128 -connect allowed.test.example:443 -CAfile ca.pem " + options + " 2>&1"})
			if refused != "" {
				refusedBy(t, r, refused)
			} else {
				reaches(t, r, "hello from")
			}
		}
	})
	hello := `
import os, socket, ssl
context = ssl.create_default_context(cafile="ca.pem")
def hello(name):
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    try:
        context.wrap_bio(incoming, outgoing, server_hostname=name).do_handshake()
    except ssl.SSLWantReadError:
        return outgoing.read()
s = socket.create_connection(("127.0.0.1", 3128))
s.settimeout(10)
`
	for name, script := range map[string]string{
		"with the request": `
s.sendall(b"CONNECT allowed.test.example:443 HTTP/1.1\r\n\r\n" + hello("evil.test.example"))
`,
		"byte by byte": `
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
s.sendall(b"CONNECT allowed.test.example:443 HTTP/1.1\r\n\r\n")
s.recv(1000)
for byte in hello("evil.test.example"):
    s.sendall(bytes([byte]))
`,
		"in many records": `
s.sendall(b"CONNECT allowed.test.example:443 HTTP/1.1\r\n\r\n")
s.recv(1000)
body = hello("evil.test.example")[5:]
s.sendall(b"".join(b"\x16\x03\x01\x00\x01" + body[i:i+1] for i in range(len(body))))
`,
		"in SOCKS": `
s.sendall(b"\x05\x01\x00")
s.recv(2)
s.sendall(b"\x05\x01\x00\x03\x14allowed.test.example\x01\xbb" + hello("evil.test.example"))
`,
	} {
		t.Run(name, func(t *testing.T) {
			r := w.python(hello + script + `
try:
    while s.recv(1000): pass
except OSError: pass
`)
			refusedBy(t, r, mismatch)
		})
	}
	t.Run("cut off", func(t *testing.T) {
		r := w.python(hello + `
s.sendall(b"CONNECT allowed.test.example:443 HTTP/1.1\r\n\r\n" + hello("evil.test.example")[:60])
s.recv(1000)
s.shutdown(socket.SHUT_WR)
while s.recv(1000): pass
`)
		refusedBy(t, r, "allowed.test.example:443: the first message is cut off")
	})
	n.check(t)
}
