package egress

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// Plain HTTP in a tunnel: what the server and the guest receive.
func TestInside(t *testing.T) {
	const good = "GET / HTTP/1.1\r\nHost: example.com\r\n\r\n"
	for _, tt := range []struct {
		name, to, sent string
		status         int
		words          string // in the body
		violation      string
	}{
		{"plain", "example.com:80", good, 200, "GET / host=example.com ", ""},
		{"with port", "example.com:80", "GET / HTTP/1.1\r\nhost:EXAMPLE.com:80\r\nA: b\r\n\r\n", 200, "host=example.com ", ""},
		{"without port", "example.com:8080", good, 200, "host=example.com:8080", ""},
		{"after empty lines", "example.com:80", "\r\n" + good, 200, "host=example.com ", ""},
		{"absolute", "example.com:80", "GET http://example.com/a HTTP/1.1\r\nHost: example.com\r\n\r\n", 200, "GET /a host=example.com ", ""},
		{"absolute, and a lie that nobody reads", "example.com:80", "GET http://example.com/ HTTP/1.1\r\nHost: evil.example\r\n\r\n", 200, "host=example.com ", ""},
		{"a long method", "example.com:80", strings.Repeat("METHOD", 10) + " / HTTP/1.1\r\nHost: example.com\r\n\r\n", 200, "METHOD / host=example.com", ""},
		{"no host", "example.com:80", "GET / HTTP/1.0\r\n\r\n", 200, "host=example.com ", ""},
		{"body", "example.com:80", "POST / HTTP/1.1\r\nHost: example.com\r\nContent-Length: 4\r\n\r\n\n\x00\n\x00", 200, `body="\n\x00\n\x00"`, ""},
		{"chunked body", "example.com:80", "POST / HTTP/1.1\r\nHost: example.com\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", 200, `body="abc" te=[chunked]`, ""},
		{"folded", "example.com:80", "GET / HTTP/1.1\r\nA: b\r\n Host: evil.example\r\nHost: example.com\r\n\r\n", 200, "host=example.com ", ""},
		{"upgrade to HTTP/2", "example.com:80", "GET / HTTP/1.1\r\nHost: example.com\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n\r\n", 200, "headers=[]", ""},
		{"switch that nobody asked for", "example.com:80", "GET /switch HTTP/1.1\r\nHost: example.com\r\n\r\n", 502, "switches", ""},
		{"address", publicA + ":80", "GET / HTTP/1.1\r\nHost: " + publicA + "\r\n\r\n", 200, "host=" + publicA + " ", ""},
		{"address with a granted name", publicA + ":80", "GET / HTTP/1.1\r\nHost: other.example\r\n\r\n", 200, "host=other.example ", ""},

		{"other host", "example.com:80", "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", 403, "send only requests for this host", "HTTP host evil.example does not match example.com:80"},
		{"other granted host", "example.com:80", "GET / HTTP/1.1\r\nHost: other.example\r\n\r\n", 403, "", "HTTP host other.example does not match"},
		{"other host, bare line feeds", "example.com:80", "GET / HTTP/1.1\nHost: evil.example\n\n", 403, "", "HTTP host evil.example"},
		{"other host, long method", "example.com:80", strings.Repeat("M", 25) + " / HTTP/1.1\r\nHost: evil.example\r\n\r\n", 403, "", "HTTP host evil.example"},
		{"absolute lie", "example.com:80", "GET http://evil.example/ HTTP/1.1\r\nHost: example.com\r\n\r\n", 403, "", "HTTP host evil.example"},
		{"userinfo", "example.com:80", "GET http://evil.example@example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n", 403, "", "user before the host"},
		{"tunnel in the tunnel", "example.com:80", "CONNECT evil.example:443 HTTP/1.1\r\nHost: example.com\r\n\r\n", 403, "", "HTTP host evil.example:443"},
		{"tunnel to itself", "example.com:80", "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n", 403, "", "a tunnel in the tunnel"},
		{"other host for an address", publicA + ":80", "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", 403, "", "does not match " + publicA},

		{"other host after blanks", "example.com:80", " \tGET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", 400, "", ""},
		{"other host after a blank of Latin-1", "example.com:80", "\xa0GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", 400, "", ""},
		{"tabs", "example.com:80", "GET\t/\tHTTP/1.1\r\nHost: evil.example\r\n\r\n", 400, "", ""},
		{"vertical tabs", "example.com:80", "GET\v/\vHTTP/1.1\r\nHost: evil.example\r\n\r\n", 400, "", ""},
		{"blanks of Latin-1", "example.com:80", "GET\xa0/\x85HTTP/1.1\r\nHost: evil.example\r\n\r\n", 400, "", ""},
		{"control characters in the line", "example.com:80", "GET /\x01 HTTP/1.1\r\nHost: evil.example\r\n\r\n", 400, "", ""},
		{"NUL in the line", "example.com:80", "GET /\x00 HTTP/1.1\r\nHost: evil.example\r\n\r\n", 400, "", ""},
		{"lower case", "example.com:80", "get / http/1.1\r\nHost: evil.example\r\n\r\n", 400, "", ""},
		{"two hosts", "example.com:80", "GET / HTTP/1.1\r\nHost: example.com\r\nHost: evil.example\r\n\r\n", 400, "", ""},
		{"user in the header", "example.com:80", "GET / HTTP/1.1\r\nHost: example.com@evil.example\r\n\r\n", 400, "", ""},
		{"bare CR", "example.com:80", "GET / HTTP/1.1\r\nA: b\rHost: evil.example\r\nHost: example.com\r\n\r\n", 400, "", ""},
		{"space before colon", "example.com:80", "GET / HTTP/1.1\r\nHost : evil.example\r\nHost: example.com\r\n\r\n", 400, "", ""},
		{"head too long", "example.com:80", "GET / HTTP/1.1\r\nHost: x\r\nA: " + strings.Repeat("a", 80<<10) + "\r\n\r\n", 431, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			site(t, w)
			list := []string{"example.com", "example.com:8080", "other.example"}
			if strings.HasPrefix(tt.to, publicA) {
				list = append(list, publicA)
			}
			conn := mustConnect(t, w.proxy(t, list...), tt.to)
			_, _ = io.WriteString(conn, tt.sent)
			_ = conn.CloseWrite() // the proxy may have refused the request before its end
			status, body := readResponse(t, bufio.NewReader(conn), "GET")
			if status != tt.status || !strings.Contains(body, tt.words) || strings.Contains(body, "host=evil") {
				t.Errorf("%d %q; want %d %q", status, body, tt.status, tt.words)
			}
			if tt.violation != "" {
				w.mustReport(t, tt.violation)
			} else if found := w.violations(); len(found) > 0 {
				t.Errorf("%v", found)
			}
			if dials := w.dials(); len(dials) != 1 {
				t.Errorf("dialed %v", dials)
			}
		})
	}
}

// The second request is judged like the first, and so is one hidden in a body.
func TestInsideKeepAlive(t *testing.T) {
	w := newWorld(t)
	site(t, w)
	p, address := w.start(t, Options{Grants: grants(t, "example.com")})
	conn := mustConnect(t, address, "example.com:80")
	r := bufio.NewReader(conn)
	for range 2 {
		send(t, conn, "GET / HTTP/1.1\r\nHost: example.com\r\n\r\n")
		if status, body := readResponse(t, r, "GET"); status != 200 {
			t.Fatalf("%d %q", status, body)
		}
	}
	send(t, conn, "POST / HTTP/1.1\r\nHost: example.com\r\nContent-Length: 0\r\n\r\nGET / HTTP/1.1\r\nHost: evil.example\r\n\r\n")
	for _, want := range []int{200, 403} {
		if status, body := readResponse(t, r, "GET"); status != want || strings.Contains(body, "host=evil") {
			t.Fatalf("%d %q; want %d", status, body, want)
		}
	}
	if rest, err := io.ReadAll(r); len(rest) > 0 || err != nil {
		t.Errorf("after the refusal: %q, %v", rest, err)
	}
	w.mustReport(t, "HTTP host evil.example does not match example.com:80")
	if dials := w.dials(); len(dials) != 1 {
		t.Errorf("dialed %v", dials)
	}
	if got := p.Traffic(); len(got) != 1 || got[0].Connections != 1 || got[0].Sent < 100 || got[0].Received < 200 {
		t.Errorf("%+v", got)
	}
}

// upgrading is a server that becomes an echo.
func upgrading(conn net.Conn) {
	r, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil || r.Header.Get("Upgrade") == "" {
		_, _ = io.WriteString(conn, "HTTP/1.1 400 No\r\nContent-Length: 0\r\n\r\n")
		return
	}
	_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: "+r.Header.Get("Upgrade")+"\r\n\r\n")
	echo(conn)
}

func TestInsideWebSocket(t *testing.T) {
	w := newWorld(t)
	w.name("example.com", publicA)
	w.serve(t, publicA+":80", upgrading)
	p, address := w.start(t, Options{Grants: grants(t, "example.com")})
	open := func(protocol string) (*bufio.Reader, net.Conn, string) {
		conn := mustConnect(t, address, "example.com:80")
		r := bufio.NewReader(conn)
		send(t, conn, "GET / HTTP/1.1\r\nHost: example.com\r\nConnection: Upgrade\r\nUpgrade: "+protocol+"\r\n\r\n")
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		for head := line; head != "\r\n"; {
			if head, err = r.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
		_, status, _ := strings.Cut(line, " ")
		return r, conn, status
	}
	mustEcho := func(r *bufio.Reader, conn net.Conn, text string) {
		t.Helper()
		send(t, conn, text)
		got := make([]byte, len(text))
		if _, err := io.ReadFull(r, got); err != nil || string(got) != text {
			t.Errorf("%q, %v", got, err)
		}
	}
	r, conn, status := open("websocket")
	if status != "101 Switching Protocols\r\n" {
		t.Fatalf("status %q", status)
	}
	mustEcho(r, conn, "\x81\x05hello")
	mustEcho(r, conn, helloFor("example.com"))
	conn.Close()
	if _, _, status := open("h2c"); !strings.HasPrefix(status, "400") {
		t.Errorf("h2c: %q", status)
	}
	if _, _, status := open("TLS/1.0"); !strings.HasPrefix(status, "400") {
		t.Errorf("TLS: %q", status)
	}
	// An open WebSocket does not block Close.
	r, conn, _ = open("websocket")
	mustEcho(r, conn, "\x81\x00")
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// A request is not forwarded to a server that has sent bytes of another protocol.
func TestInsideRefusesServerOfAnotherProtocol(t *testing.T) {
	w := newWorld(t)
	w.name("example.com", publicA)
	heard := newRecorder()
	w.serve(t, publicA+":80", func(conn net.Conn) {
		_, _ = io.WriteString(conn, "220 welcome\r\n")
		heard.hear(conn)
	})
	conn := mustConnect(t, w.proxy(t, "example.com"), "example.com:80")
	mustRead(t, conn, "220 welcome\r\n")
	send(t, conn, "GET / HTTP/1.1\r\nHost: example.com\r\n\r\n")
	if rest, err := io.ReadAll(conn); len(rest) > 0 || err != nil {
		t.Errorf("%q, %v", rest, err)
	}
	if got := <-heard.end; got != "" {
		t.Errorf("the server hears %q", got)
	}
	w.mustReport(t, "uses another protocol")
}

// A server that closes its connection after each answer is dialed again, by the same
// rules.
func TestInsideDialsAgain(t *testing.T) {
	w := newWorld(t)
	w.name("example.com", publicA)
	w.name("example.com", "127.0.0.1")
	w.serve(t, publicA+":80", func(conn net.Conn) {
		if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
		}
	})
	conn := mustConnect(t, w.proxy(t, "example.com"), "example.com:80")
	r := bufio.NewReader(conn)
	for _, want := range []int{200, 403} {
		send(t, conn, "GET / HTTP/1.1\r\nHost: example.com\r\n\r\n")
		if status, body := readResponse(t, r, "GET"); status != want {
			t.Fatalf("%d %q; want %d", status, body, want)
		}
	}
	w.mustReport(t, "resolves to 127.0.0.1, a loopback address")
}

// Close may find a connection at any moment, even one that was just dialed.
func TestHammerCloseWhileForwarding(t *testing.T) {
	for range 200 {
		w := newWorld(t)
		w.name("example.com", publicA)
		dialed := make(chan struct{})
		p := New(Options{Grants: grants(t, "example.com"), Resolver: w, Dial: func(context.Context, string, string) (net.Conn, error) {
			own, other := net.Pipe()
			other.Close()
			close(dialed)
			return own, nil
		}})
		answered := make(chan struct{})
		go func() {
			defer close(answered)
			if conn, err := p.dialForward(t.Context(), "tcp", "example.com:80"); err == nil {
				conn.Close()
			}
		}()
		<-dialed
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		<-answered
	}
}
