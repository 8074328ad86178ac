package egress

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// site is a plain HTTP server at publicA:80 that answers with the request it received.
func site(t *testing.T, w *world) {
	for _, name := range []string{"example.com", "other.example"} {
		w.name(name, publicA)
	}
	w.name("inside.example", "10.0.0.5")
	server := &http.Server{Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch r.URL.Path {
		case "/redirect":
			http.Redirect(rw, r, "http://evil.example/", http.StatusFound)
			return
		case "/switch":
			rw.Header().Set("Connection", "Upgrade")
			rw.Header().Set("Upgrade", "evil")
			rw.WriteHeader(http.StatusSwitchingProtocols)
			return
		}
		var names []string
		for name := range r.Header {
			names = append(names, name)
		}
		slices.Sort(names)
		rw.Header().Set("Keep-Alive", "timeout=1")
		fmt.Fprintf(rw, "%s %s host=%s body=%q te=%v headers=%v", r.Method, r.RequestURI, r.Host, body, r.TransferEncoding, names)
	})}
	l := listen(t)
	w.servers[publicA+":80"] = l.Addr().String()
	w.servers[publicA+":8080"] = l.Addr().String()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(l)
	}()
	t.Cleanup(func() {
		server.Close()
		<-done
	})
}

func TestForward(t *testing.T) {
	for _, tt := range []struct {
		name, request string
		status        int
		words         string // in the body
		violation     string
	}{
		{"plain", "GET http://example.com/a?b=%2f;c HTTP/1.1\r\nHost: example.com\r\n\r\n", 200, "GET /a?b=%2f;c host=example.com", ""},
		{"port", "GET http://example.com:8080/ HTTP/1.1\r\nHost: example.com:8080\r\n\r\n", 200, "host=example.com:8080", ""},
		{"empty port", "GET http://example.com:/ HTTP/1.1\r\nHost: x\r\n\r\n", 200, "host=example.com ", ""},
		{"case and dot", "GET HTTP://EXAMPLE.com.:80/ HTTP/1.1\r\nHost: x\r\n\r\n", 200, "host=example.com ", ""},
		{"escaped path", "GET http://example.com/%2e%2e/%2F HTTP/1.1\r\nHost: x\r\n\r\n", 200, "GET /%2e%2e/%2F host", ""},
		{"lying Host", "GET http://example.com/ HTTP/1.1\r\nHost: evil.example\r\n\r\n", 200, "host=example.com ", ""},
		{"no Host in 1.0", "GET http://example.com/ HTTP/1.0\r\n\r\n", 200, "host=example.com ", ""},
		{"lying URL", "GET http://evil.example/ HTTP/1.1\r\nHost: example.com\r\n\r\n", 403, "not in allow_net", "evil.example:80: not in allow_net"},
		{"port not granted", "GET http://example.com:81/ HTTP/1.1\r\nHost: example.com\r\n\r\n", 403, "", "example.com:81: this port"},
		{"userinfo", "GET http://example.com@evil.example/ HTTP/1.1\r\nHost: example.com\r\n\r\n", 403, "", "user before the host"},
		{"userinfo of a granted host", "GET http://u:p@example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n", 403, "", "user before the host"},
		{"suffix", "GET http://evilexample.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n", 403, "", "not in allow_net"},
		{"decimal address", "GET http://2130706433/ HTTP/1.1\r\nHost: example.com\r\n\r\n", 403, "", "127.0.0.1:80: not in allow_net"},
		{"hexadecimal address", "GET http://0xa9fea9fe/latest HTTP/1.1\r\nHost: example.com\r\n\r\n", 403, "", "169.254.169.254:80"},
		{"mapped address", "GET http://[::ffff:127.0.0.1]/ HTTP/1.1\r\nHost: example.com\r\n\r\n", 403, "", "127.0.0.1:80"},
		{"private", "GET http://inside.example/ HTTP/1.1\r\nHost: x\r\n\r\n", 403, "add 10.0.0.5:80 to allow_net", "resolves to 10.0.0.5, a private address"},
		{"encoded dot", "GET http://example%2ecom/ HTTP/1.1\r\nHost: x\r\n\r\n", 400, "", ""},
		{"backslash", "GET http://evil.example\\@example.com/ HTTP/1.1\r\nHost: x\r\n\r\n", 400, "", ""},
		{"opaque", "GET http:example.com HTTP/1.1\r\nHost: example.com\r\n\r\n", 400, "", ""},
		{"redirect is not followed", "GET http://example.com/redirect HTTP/1.1\r\nHost: x\r\n\r\n", 302, "", ""},
		{"upgrade is not offered", "GET http://example.com/ HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n\r\n", 200, "headers=[]", ""},
		{"switch is not taken", "GET http://example.com/switch HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: evil\r\n\r\n", 502, "switches", ""},
		{"hop by hop", "GET http://example.com/ HTTP/1.1\r\nHost: x\r\nConnection: close, X-Mine\r\nX-Mine: 1\r\nProxy-Authorization: Basic eA==\r\nProxy-Connection: keep-alive\r\nKeep-Alive: 5\r\nTE: trailers\r\nAccept: a\r\n\r\n", 200, "headers=[Accept Te]", ""},
		{"body", "POST http://example.com/ HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", 200, `body="abc" te=[]`, ""},
		{"chunked body", "POST http://example.com/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", 200, `body="abc" te=[chunked]`, ""},
		{"CL.TE", "POST http://example.com/ HTTP/1.1\r\nHost: x\r\nContent-Length: 60\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 200, `body=""`, ""},
		{"TE obfuscated", "POST http://example.com/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 501, "", ""},
		{"TE twice", "POST http://example.com/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n", 501, "", ""},
		{"TE with space", "POST http://example.com/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n", 400, "", ""},
		{"CL twice", "POST http://example.com/ HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", 400, "", ""},
		{"CL signed", "POST http://example.com/ HTTP/1.1\r\nHost: x\r\nContent-Length: +3\r\n\r\nabc", 400, "", ""},
		{"Host twice", "GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\nHost: evil.example\r\n\r\n", 400, "", ""},
		{"NUL in a header", "GET http://example.com/ HTTP/1.1\r\nHost: x\r\nA: b\x00c\r\n\r\n", 400, "", ""},
		{"large header", "GET http://example.com/ HTTP/1.1\r\nHost: x\r\nA: " + strings.Repeat("a", 80<<10) + "\r\n\r\n", 431, "", ""},
		{"not resolved", "GET http://missing.example/ HTTP/1.1\r\nHost: x\r\n\r\n", 502, "cannot be resolved", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			site(t, w)
			conn := dialProxy(t, w.proxy(t, "example.com:80", "example.com:8080", "inside.example", "missing.example"))
			send(t, conn, tt.request)
			status, body := readResponse(t, bufio.NewReader(conn), "GET")
			if status != tt.status || !strings.Contains(body, tt.words) {
				t.Errorf("%d %q; want %d %q", status, body, tt.status, tt.words)
			}
			if tt.violation != "" {
				w.mustReport(t, tt.violation)
			} else if found := w.violations(); len(found) > 0 {
				t.Errorf("%v", found)
			}
			if tt.status >= 400 && tt.status != 502 && len(w.dials()) > 0 {
				t.Errorf("dialed %v", w.dials())
			}
		})
	}
}

// Each request on a connection is judged.
func TestForwardKeepAlive(t *testing.T) {
	w := newWorld(t)
	site(t, w)
	conn := dialProxy(t, w.proxy(t, "example.com:80"))
	r := bufio.NewReader(conn)
	for i, tt := range []struct {
		request string
		status  int
	}{
		{"GET http://example.com/1 HTTP/1.1\r\nHost: example.com\r\n\r\n", 200},
		{"GET http://other.example/2 HTTP/1.1\r\nHost: example.com\r\n\r\n", 403},
		{"GET http://example.com/3 HTTP/1.1\r\nHost: example.com\r\n\r\n", 200},
		{"CONNECT other.example:80 HTTP/1.1\r\nHost: example.com\r\n\r\n", 403},
		{"POST http://example.com/4 HTTP/1.1\r\nHost: example.com\r\nContent-Length: 67\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" +
			"GET http://other.example/smuggled HTTP/1.1\r\nHost: example.com\r\n\r\n", 200},
	} {
		send(t, conn, tt.request)
		if status, body := readResponse(t, r, "GET"); status != tt.status {
			t.Fatalf("request %d: %d %q", i+1, status, body)
		}
	}
	// Bytes after the end of the last request are judged as a request, or not
	// answered. They are never part of an allowed one.
	rest, _ := io.ReadAll(io.LimitReader(r, 12))
	if len(rest) > 0 && string(rest) != "HTTP/1.1 403" {
		t.Errorf("the smuggled request is answered: %q", rest)
	}
	for _, v := range w.violations() {
		if !strings.HasPrefix(v.Detail, "other.example:80: not in allow_net") {
			t.Errorf("%+v", v)
		}
	}
	if dials := w.dials(); !slices.Equal(dials, []string{publicA + ":80"}) {
		t.Errorf("dialed %v", dials)
	}
}

// The proxy frames requests anew, so that the server sees exactly one.
func TestForwardWritesRequestsAnew(t *testing.T) {
	w := newWorld(t)
	w.name("example.com", publicA)
	heard := make(chan string, 1)
	w.serve(t, publicA+":80", func(conn net.Conn) {
		var all []byte
		for !strings.HasSuffix(string(all), "0\r\n\r\n") {
			b := make([]byte, 4096)
			n, err := conn.Read(b)
			all = append(all, b[:n]...)
			if err != nil {
				break
			}
		}
		heard <- string(all)
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
	})
	conn := dialProxy(t, w.proxy(t, "example.com"))
	send(t, conn, "POST http://example.com/ HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n0\r\n\r\n")
	if status, _ := readResponse(t, bufio.NewReader(conn), "POST"); status != 200 {
		t.Errorf("status %d", status)
	}
	got := <-heard
	if strings.Contains(got, "Content-Length") || strings.Contains(got, "evil") || strings.Count(got, "Transfer-Encoding: chunked") != 1 ||
		!strings.HasPrefix(got, "POST / HTTP/1.1\r\nHost: example.com\r\n") || !strings.HasSuffix(got, "5\r\nhello\r\n0\r\n\r\n") {
		t.Errorf("the server hears %q", got)
	}
}

func TestForwardTraffic(t *testing.T) {
	w := newWorld(t)
	site(t, w)
	p, address := w.start(t, Options{Grants: grants(t, "example.com:80")})
	conn := dialProxy(t, address)
	r := bufio.NewReader(conn)
	for range 2 {
		send(t, conn, "GET http://example.com/ HTTP/1.1\r\nHost: x\r\n\r\n")
		readResponse(t, r, "GET")
	}
	got := p.Traffic()
	if len(got) != 1 || got[0].Host != "example.com" || got[0].Port != 80 || got[0].Connections != 1 || got[0].Sent < 40 || got[0].Received < 80 {
		t.Errorf("%+v", got)
	}
}

// Each name below a wildcard is another host, whose connection is kept for the next
// request. The number of kept connections is bounded.
func TestForwardHoldsFewConnections(t *testing.T) {
	w := newWorld(t)
	site(t, w)
	p, address := w.start(t, Options{Grants: grants(t, "*.example.com:80")})
	conn := dialProxy(t, address)
	r := bufio.NewReader(conn)
	for i := range 500 {
		host := fmt.Sprintf("n%d.example.com", i)
		w.name(host, publicA)
		send(t, conn, "GET http://"+host+"/ HTTP/1.1\r\nHost: x\r\n\r\n")
		if status, body := readResponse(t, r, "GET"); status != 200 {
			t.Fatalf("%d %s", status, body)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	// Beyond the idle ones: the listener, the guest, and connections that are closing.
	if n := len(p.open); n > maxIdle+8 {
		t.Errorf("%d are open", n)
	}
}
