package egress

import (
	"bytes"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// vector returns data with its length, of size bytes, before it.
func vector(size int, data string) string {
	var head []byte
	for i := size - 1; i >= 0; i-- {
		head = append(head, byte(len(data)>>(8*i)))
	}
	return string(head) + data
}

func extension(kind int, data string) string {
	return string([]byte{byte(kind >> 8), byte(kind)}) + vector(2, data)
}

func sni(name string) string { return extension(0, vector(2, "\x00"+vector(2, name))) }

// helloMessage returns a ClientHello without its records.
func helloMessage(extensions ...string) string {
	body := "\x03\x03" + strings.Repeat("r", 32) + vector(1, "") + vector(2, "\x13\x01") + vector(1, "\x00") + vector(2, strings.Join(extensions, ""))
	return "\x01" + vector(3, body)
}

func record(data string) string { return "\x16\x03\x01" + vector(2, data) }

// records cuts a message into records of n bytes.
func records(message string, n int) string {
	var all strings.Builder
	for len(message) > n {
		all.WriteString(record(message[:n]))
		message = message[n:]
	}
	return all.String() + record(message)
}

func helloFor(name string) string {
	return record(helloMessage(extension(10, "\x00\x02\x00\x1d"), sni(name)))
}

const (
	alert   = "\x15\x03\x01\x00\x02\x02\x70"
	cipher  = "\x14\x03\x03\x00\x01\x01"
	appData = "\x17\x03\x03\x00\x05hello"
)

var firstMessages = []struct {
	name, to, sent string
	words          string // of the violation; empty if it passes
	answer         string // what the guest receives, at least
}{
	{"name", "example.com:443", helloFor("example.com"), "", ""},
	{"case and dot", "example.com:443", helloFor("EXAMPLE.com."), "", ""},
	{"and more", "example.com:443", helloFor("example.com") + cipher + appData, "", ""},
	{"TLS 1.2 key exchange", "example.com:443", helloFor("example.com") + record("\x10\x00\x00\x04abcd"), "", ""},
	{"TLS 1.2 resumption", "example.com:443", helloFor("example.com") + cipher + record("\x01\x99\x88\x77random bytes that look like a hello"), "", ""},
	{"records of 1 byte", "example.com:443", records(helloMessage(sni("example.com")), 1), "", ""},
	{"early data", "example.com:443", record(helloMessage(extension(42, ""), sni("example.com"))) + cipher + strings.Repeat(appData, 20000), "", ""},
	{"early data, then its end", "example.com:443", record(helloMessage(extension(42, ""), sni("example.com"))) + cipher + appData, "", ""},
	{"second hello", "example.com:443", helloFor("example.com") + cipher + helloFor("example.com") + appData, "", ""},
	{"large hello", "example.com:443", records(helloMessage(sni("example.com"), extension(41, strings.Repeat("k", 40000))), 16384), "", ""},

	{"other name", "example.com:443", helloFor("evil.example"), "TLS server name evil.example does not match example.com:443", alert},
	{"other granted name", "example.com:443", helloFor("other.example"), "TLS server name other.example does not match example.com:443", alert},
	{"name below", "example.com:443", helloFor("www.example.com"), "does not match", alert},
	{"suffix", "example.com:443", helloFor("evilexample.com"), "does not match", alert},
	{"NUL", "example.com:443", helloFor("example.com\x00.evil.net"), "does not match", alert},
	{"control characters", "example.com:443", helloFor("evil\n\x1b[2J" + strings.Repeat("e", 5000)), `"evil\n\x1b[2J`, alert},
	{"an address as name", "example.com:443", helloFor(publicA), "does not match", alert},
	{"wide letters", "example.com:443", helloFor("ｅxample.com"), "does not match", alert},
	{"a dot of another script", "example.com:443", helloFor("example。com"), "does not match", alert},
	{"wide letters of a granted name", publicA + ":443", helloFor("ｏther.example"), "does not match", alert},
	{"no name", "example.com:443", record(helloMessage(extension(10, "\x00\x02\x00\x1d"))), "names no server", alert},
	{"no extensions", "example.com:443", record("\x01" + vector(3, "\x03\x03"+strings.Repeat("r", 32)+"\x00\x00\x02\x13\x01\x01\x00")), "names no server", alert},
	{"empty name", "example.com:443", record(helloMessage(sni(""))), "malformed", alert},
	{"two names", "example.com:443", record(helloMessage(extension(0, vector(2, "\x00"+vector(2, "example.com")+"\x00"+vector(2, "evil.net"))))), "malformed", alert},
	{"name twice", "example.com:443", record(helloMessage(sni("example.com"), sni("evil.example"))), "malformed", alert},
	{"other kind of name", "example.com:443", record(helloMessage(extension(0, vector(2, "\x01"+vector(2, "example.com"))))), "malformed", alert},
	{"split before the name", "example.com:443", records(helloMessage(sni("evil.example")), 50), "does not match", alert},
	{"records of 1 byte, other name", "example.com:443", records(helloMessage(sni("evil.example")), 1), "does not match", alert},
	{"ECH with our name outside", "example.com:443", record(helloMessage(sni("example.com"), extension(0xfe0d, "\x00\x00\x01\x00\x01\x00"))), "(ECH)", alert},
	{"ECH with its own name outside", "example.com:443", record(helloMessage(sni("public.example"), extension(0xfe0d, "\x00"))), "(ECH)", alert},
	{"ESNI", "example.com:443", record(helloMessage(sni("example.com"), extension(0xffce, "\x00"))), "(ECH)", alert},
	{"second hello, other name", "example.com:443", helloFor("example.com") + cipher + helloFor("evil.example"), "TLS server name evil.example does not match", ""},
	{"second hello in pieces", "example.com:443", helloFor("example.com") + cipher + records(helloMessage(sni("evil.example")), 1), "evil.example does not match", ""},
	{"second hello at once", "example.com:443", helloFor("example.com") + helloFor("evil.example"), "evil.example does not match", ""},
	{"second hello after an alert", "example.com:443", helloFor("example.com") + "\x15\x03\x03\x00\x02\x01\x5a" + cipher + helloFor("evil.example"), "evil.example does not match", ""},
	{"second hello after early data", "example.com:443", record(helloMessage(extension(42, ""), sni("example.com"))) + cipher + appData + appData + helloFor("evil.example"), "evil.example does not match", ""},
	{"second hello around a record", "example.com:443", helloFor("example.com") + record("\x01") + cipher + record(helloMessage(sni("evil.example"))[1:]), "malformed", ""},
	{"second hello after nothing", "example.com:443", helloFor("example.com") + record("") + helloFor("evil.example"), "malformed", ""},
	{"second hello after many", "example.com:443", helloFor("example.com") + strings.Repeat(cipher, 9) + helloFor("evil.example"), "out of order", ""},
	{"second hello, large", "example.com:443", helloFor("example.com") + cipher + records(helloMessage(sni("evil.example"), extension(41, strings.Repeat("k", 65000)), extension(42, strings.Repeat("k", 600))), 16384), "second TLS ClientHello for example.com:443 is malformed", ""},
	{"second hello, as large as they get", "example.com:443", helloFor("example.com") + cipher + record("\x01\x02\x01\x44"+strings.Repeat("evil", 4000)), "second TLS ClientHello for example.com:443 is malformed", ""},
	{"second hello cut off", "example.com:443", helloFor("example.com") + "\x16\x03", "cut off", ""},
	{"two hellos in a record", "example.com:443", record(helloMessage(sni("example.com")) + helloMessage(sni("evil.example"))), "malformed", alert},
	{"alert before the hello", "example.com:443", "\x15\x03\x01\x00\x02\x01\x64" + helloFor("evil.example"), "malformed", alert},
	{"alert before the hello for an address", publicA + ":443", "\x15\x03\x01\x00\x02\x01\x64" + helloFor("evil.example"), "malformed", alert},
	{"cipher before the hello", "example.com:443", cipher + helloFor("evil.example"), "malformed", alert},
	{"data before the hello", "example.com:443", appData + helloFor("evil.example"), "malformed", alert},
	{"heartbeat before the hello", "example.com:443", "\x18\x03\x01\x00\x03\x01\x00\x00" + helloFor("evil.example"), "malformed", alert},
	{"empty record", "example.com:443", record("") + helloFor("example.com"), "malformed", alert},
	{"alert between", "example.com:443", records(helloMessage(sni("example.com")), 20)[:25] + alert, "malformed", alert},
	{"no hello", "example.com:443", record("\x02\x00\x00\x04abcd"), "malformed", alert},
	{"endless", "example.com:443", record("\x01\xff\xff\xff" + strings.Repeat("x", 100)), "malformed", alert},
	{"too long", "example.com:443", records(helloMessage(sni("example.com"), extension(41, strings.Repeat("k", 65500))), 16384), "malformed", alert},
	{"cut off", "example.com:443", helloFor("example.com")[:30], "cut off", ""},
	{"SSL 2", "example.com:443", "\x80\x2e\x01\x03\x01" + strings.Repeat("x", 41), "SSL 2", alert},

	{"address without a name", publicA + ":443", record(helloMessage(extension(10, "\x00\x02\x00\x1d"))), "", ""},
	{"address with its own", publicA + ":443", helloFor(publicA), "", ""},
	{"address with a granted name", publicA + ":443", helloFor("other.example"), "", ""},
	{"address with another name", publicA + ":443", helloFor("evil.example"), "does not match " + publicA, alert},

	{"HTTP other host", "example.com:443", "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", "HTTP host evil.example does not match example.com:443", "HTTP/1.1 403"},
	{"HTTP other host after empty lines", "example.com:443", "\r\n\r\nGET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", "does not match", "HTTP/1.1 403"},
	{"HTTP absolute lie", "example.com:443", "GET http://evil.example/ HTTP/1.1\r\nHost: example.com\r\n\r\n", "HTTP host evil.example", "HTTP/1.1 403"},
	{"HTTP CONNECT inside", "example.com:443", "CONNECT evil.example:443 HTTP/1.1\r\nHost: example.com\r\n\r\n", "HTTP host evil.example:443", "HTTP/1.1 403"},
	{"HTTP 0.9", "example.com:443", "GET /\r\n", "no version", "HTTP/1.1 403"},
	{"HTTP 0.9 absolute", "example.com:443", "GET http://evil.example/\r\n", "no version", "HTTP/1.1 403"},
	{"HTTP 2", "example.com:443", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "cannot be checked", "HTTP/1.1 403"},
	{"HTTP 2 to an address", publicA + ":443", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00", "", ""},
	{"HTTP 1 with the method of 2", publicA + ":443", "PRI * HTTP/1.1\r\nHost: evil.example\r\n\r\n", "cannot be checked", "HTTP/1.1 403"},
	{"HTTP line cut off", "example.com:443", "GET / HT", "cut off", ""},
	{"HTTP other host for an address", publicA + ":443", "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", "does not match", "HTTP/1.1 403"},

	{"SSH", "example.com:443", "SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n\x00\x00\x05\xdc", "", ""},
	{"SMTP", "example.com:443", "EHLO me.example\r\n", "", ""},
	{"git", "example.com:443", "0032git-upload-pack /project.git\x00host=example.com\x00", "", ""},
	{"redis", "example.com:443", "*1\r\n$4\r\nPING\r\n", "", ""},
	{"ldap", "example.com:443", "0\x0c\x02\x01\x01\x60\x07\x02\x01\x03\x04\x00\x80\x00", "", ""},
	{"amqp", "example.com:443", "AMQP\x00\x00\x09\x01", "", ""},
	{"postgres", "example.com:443", "\x00\x00\x00\x08\x04\xd2\x16\x2f", "", ""},
	{"mysql", "example.com:443", "\xb4\x00\x00\x01\x85\xa6\xff\x01", "", ""},
	{"one word", "example.com:443", "hello", "", ""},
	{"a long word", "example.com:443", strings.Repeat("A", 1000), "", ""},
	{"no such version, no name", "example.com:443", "\x16\x00\x00" + record(helloMessage())[3:], "names no server", alert},
	{"no such version, other name", "example.com:443", "\x16\xff\xff" + helloFor("evil.example")[3:], "does not match", alert},
	{"second hello, no such version", "example.com:443", helloFor("example.com") + "\x16\x09\x09" + strings.Replace(helloFor("evil.example")[3:], "\x03\x03", "\x09\x09", 1), "evil.example does not match", ""},
	{"nothing", "example.com:443", "", "", ""},
}

// Each case is sent at once, in pieces, and in single bytes. The judgment must be the
// same, and the server must not receive a byte of a refused message.
func TestFirstMessage(t *testing.T) {
	for _, pieces := range []int{1 << 20, 700, 1} {
		for _, tt := range firstMessages {
			if pieces == 1 && len(tt.sent) > 5000 {
				continue
			}
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.name("example.com", publicA)
				heard := newRecorder()
				w.serve(t, publicA+":443", heard.hear)
				list := []string{"example.com", "other.example"}
				if strings.HasPrefix(tt.to, publicA) {
					list = append(list, publicA)
				}
				conn := mustConnect(t, w.proxy(t, list...), tt.to)
				for sent := tt.sent; len(sent) > 0; {
					n := min(pieces, len(sent))
					if _, err := io.WriteString(conn, sent[:n]); err != nil {
						break // refused before the end of the message
					}
					sent = sent[n:]
				}
				_ = conn.CloseWrite()
				answer, err := io.ReadAll(conn)
				got := <-heard.end
				if tt.words == "" {
					if got != tt.sent || len(answer) > 0 || err != nil || len(w.violations()) > 0 {
						t.Fatalf("the server hears %d bytes of %d, the guest %q, %v; %v", len(got), len(tt.sent), answer, err, w.violations())
					}
					return
				}
				w.mustReport(t, tt.words)
				second := strings.HasPrefix(tt.name, "second")
				if got != "" && !second || second && strings.Contains(got, "evil") {
					t.Errorf("the server hears %q", got)
				}
				// A guest that is cut off while it still writes may lose the answer.
				if len(tt.sent) < 10000 && !strings.HasPrefix(string(answer), tt.answer) {
					t.Errorf("the guest receives %q, %v; want %q", answer, err, tt.answer)
				}
			})
		}
	}
}

// While the proxy waits for the rest of a hello, no byte of it may reach the server.
func TestServerReceivesNothingBeforeTheJudgment(t *testing.T) {
	w := newWorld(t)
	w.name("example.com", publicA)
	greeted := make(chan struct{})
	heard := newRecorder()
	w.serve(t, publicA+":443", func(conn net.Conn) {
		_, _ = io.WriteString(conn, "welcome")
		close(greeted)
		heard.hear(conn)
	})
	conn := mustConnect(t, w.proxy(t, "example.com"), "example.com:443")
	sent := helloFor("evil.example")
	send(t, conn, sent[:len(sent)-1])
	<-greeted
	mustRead(t, conn, "welcome") // bytes of the server pass at once
	send(t, conn, sent[len(sent)-1:])
	if rest, _ := io.ReadAll(conn); len(rest) > 0 {
		t.Errorf("an answer in the middle of the server's: %q", rest)
	}
	if got := <-heard.end; got != "" {
		t.Errorf("the server hears %q", got)
	}
	w.mustReport(t, "does not match")
}

func TestTLSThroughTheProxy(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "over TLS to "+r.Host)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	w := newWorld(t)
	w.name("example.com", publicA)
	w.servers[publicA+":443"] = server.Listener.Addr().String()
	address := w.proxy(t, "example.com", publicA)

	for _, tt := range []struct {
		to, name string
		ok       bool
	}{{"example.com:443", "example.com", true}, {publicA + ":443", "", true}, {"example.com:443", "evil.example", false}, {"example.com:443", "", false}} {
		config := &tls.Config{ServerName: tt.name, InsecureSkipVerify: true}
		client := tls.Client(mustConnect(t, address, tt.to), config)
		err := client.HandshakeContext(t.Context())
		if (err == nil) != tt.ok {
			t.Errorf("%s as %q: %v", tt.to, tt.name, err)
		}
		if !tt.ok && !strings.Contains(err.Error(), "unrecognized name") {
			t.Errorf("the client says %q", err)
		}
	}

	// net/http's client, which also resumes sessions.
	pool := server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	transport := &http.Transport{
		Proxy:             http.ProxyURL(mustURL(t, "http://"+address)),
		TLSClientConfig:   &tls.Config{RootCAs: pool, ClientSessionCache: tls.NewLRUClientSessionCache(4)},
		DisableKeepAlives: true,
	}
	for range 3 {
		resp, err := (&http.Client{Transport: transport}).Get("https://example.com/")
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if string(body) != "over TLS to example.com" {
			t.Errorf("%q", body)
		}
	}
}

// A server can ask for a second ClientHello.
func TestHelloRetry(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.TLS = &tls.Config{CurvePreferences: []tls.CurveID{tls.CurveP521}}
	server.StartTLS()
	defer server.Close()
	w := newWorld(t)
	w.name("example.com", publicA)
	w.servers[publicA+":443"] = server.Listener.Addr().String()
	client := tls.Client(mustConnect(t, w.proxy(t, "example.com"), "example.com:443"), &tls.Config{
		ServerName: "example.com", InsecureSkipVerify: true,
		// The client sends a key share for the first; the server asks for the other.
		CurvePreferences: []tls.CurveID{tls.X25519, tls.CurveP521},
	})
	if err := client.HandshakeContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !client.ConnectionState().HelloRetryRequest {
		t.Error("there was no second ClientHello: the test shows nothing")
	}
}

func TestTunnelTraffic(t *testing.T) {
	w := newWorld(t)
	w.name("example.com", publicA)
	w.serve(t, publicA+":443", echo)
	w.serve(t, publicA+":80", echo)
	p, address := w.start(t, Options{Grants: grants(t, "example.com", publicA)})
	mustEcho(t, mustConnect(t, address, "example.com:443"), "\x00234567")
	mustEcho(t, mustConnect(t, address, "EXAMPLE.com.:443"), "\x00"+strings.Repeat("x", 3<<20))
	mustEcho(t, mustConnect(t, address, "example.com:80"), helloFor("example.com"))
	mustEcho(t, mustConnect(t, address, publicA+":80"), "\x00")
	if err := p.Close(); err != nil { // after Close, everything is counted
		t.Fatal(err)
	}
	hello := int64(len(helloFor("example.com")))
	want := []run.Traffic{
		{Host: publicA, Port: 80, Connections: 1, Sent: 1, Received: 1},
		{Host: "example.com", Port: 80, Connections: 1, Sent: policy.Bytes(hello), Received: policy.Bytes(hello)},
		{Host: "example.com", Port: 443, Connections: 2, Sent: 8 + 3<<20, Received: 8 + 3<<20},
	}
	if got := p.Traffic(); len(got) != 3 || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("%+v; want %+v", got, want)
	}
}

func TestLedgerIsBounded(t *testing.T) {
	var l ledger
	for i := range maxHosts + 10 {
		l.connected(target{addr: netip.AddrFrom4([4]byte{1, byte(i >> 16), byte(i >> 8), byte(i)}), port: 1})
	}
	if len(l.accounts) != maxHosts+1 || l.accounts[otherHosts].connections.Load() != 10 {
		t.Errorf("%d accounts, %d others", len(l.accounts), l.accounts[otherHosts].connections.Load())
	}
}

// fixed is a connection that sends its data and then ends.
type fixed struct {
	net.Conn
	*bytes.Reader
}

func fixedConn(data []byte) fixed {
	own, other := net.Pipe()
	other.Close()
	return fixed{own, bytes.NewReader(data)}
}

func (f fixed) Read(b []byte) (int, error) { return f.Reader.Read(b) }

func FuzzClientHello(f *testing.F) {
	for _, tt := range firstMessages {
		if len(tt.sent) < 2000 {
			f.Add([]byte(tt.sent))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		e := &early{conn: fixedConn(data)}
		defer e.conn.Close()
		h, err := readHello(e)
		if err != nil {
			return
		}
		// The name is part of the data, unless records split it.
		if e.next > len(data) || len(h.name) > len(data) {
			t.Fatalf("%q from %q", h.name, data)
		}
		// The same message in records of another size gives the same hello.
		var message []byte
		for rest := data[:e.next]; len(rest) > 0; {
			size := int(rest[3])<<8 | int(rest[4])
			message = append(message, rest[5:5+size]...)
			rest = rest[5+size:]
		}
		if len(message) > 8000 {
			return
		}
		again, err := readHello(&early{conn: fixedConn([]byte(records(string(message), 3)))})
		if err != nil || again != h {
			t.Fatalf("%+v, but in small records %+v, %v", h, again, err)
		}
	})
}

// In any first message that passes, the parsers of the standard library find no other
// host.
func FuzzFirstMessage(f *testing.F) {
	for _, tt := range firstMessages {
		if len(tt.sent) < 2000 {
			f.Add([]byte(tt.sent))
		}
	}
	p := New(Options{Grants: grants(f, "example.com")})
	to := route{target: target{name: "example.com", port: 443}}
	f.Fuzz(func(t *testing.T, data []byte) {
		conn := fixedConn(data)
		defer conn.Close()
		if p.judgeFirstMessage(to, &early{conn: conn}) != nil {
			return
		}
		if host, ok := hostByNetHTTP(data); ok && !strings.EqualFold(strings.TrimSuffix(host, "."), "example.com") {
			t.Fatalf("%q passes, and net/http reads the host %q in it", data, host)
		}
		if name, ok := nameByCryptoTLS(data); ok && !strings.EqualFold(strings.TrimSuffix(name, "."), "example.com") {
			t.Fatalf("%q passes, and crypto/tls reads the name %q in it", data, name)
		}
	})
}
