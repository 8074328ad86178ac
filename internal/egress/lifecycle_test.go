package egress

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// One proxy, a thousand connections at the same time.
func TestHammerConnections(t *testing.T) {
	const connections = 1000
	w := newWorld(t)
	w.name("example.com", publicA)
	w.serve(t, publicA+":443", echo)
	p, address := w.start(t, Options{Grants: grants(t, "example.com")})
	var all sync.WaitGroup
	var failed atomic.Int64
	ready := make(chan struct{})
	var open sync.WaitGroup
	open.Add(connections)
	for i := range connections {
		all.Go(func() {
			conn, err := net.Dial("tcp", address)
			if err != nil {
				failed.Add(1)
				open.Done()
				return
			}
			defer conn.Close()
			request, reply := "CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200 Connection established\r\n\r\n"
			if i%2 == 0 {
				request, reply = "\x05\x01\x00"+socksRequestFor(1, "example.com", 443), "\x05\x00\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00"
			}
			got := make([]byte, len(reply))
			_, err = io.WriteString(conn, request)
			_, err2 := io.ReadFull(conn, got)
			open.Done()
			<-ready // all are open now
			text := fmt.Sprintf("\x00%d %s", i, strings.Repeat("x", i*17))
			_, err3 := io.WriteString(conn, text)
			back := make([]byte, len(text))
			_, err4 := io.ReadFull(conn, back)
			if errors.Join(err, err2, err3, err4) != nil || string(got) != reply || string(back) != text {
				failed.Add(1)
			}
		})
	}
	open.Wait()
	close(ready)
	all.Wait()
	if n := failed.Load(); n > 0 {
		t.Errorf("%d of %d failed", n, connections)
	}
	if got := p.Traffic(); len(got) != 1 || got[0].Connections != connections {
		t.Errorf("%+v", got)
	}
}

// Connections above the bound wait until others end.
func TestMaxConnections(t *testing.T) {
	w := newWorld(t)
	w.name("example.com", publicA)
	w.serve(t, publicA+":443", echo)
	p, address := w.start(t, Options{Grants: grants(t, "example.com"), MaxConnections: 2})
	first, second := mustConnect(t, address, "example.com:443"), mustConnect(t, address, "example.com:443")
	third := dialProxy(t, address)
	send(t, third, "CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n")
	mustEcho(t, second, "\x00second")
	second.Close()
	mustRead(t, third, "HTTP/1.1 200 Connection established\r\n\r\n")
	mustEcho(t, third, "\x00third")
	mustEcho(t, first, "\x00first")
	if got := p.Traffic(); len(got) != 1 || got[0].Connections != 3 {
		t.Errorf("%+v", got)
	}
}

// ServeConn serves a connection like an accepted one, and closes it where it would have
// to wait.
func TestServeConn(t *testing.T) {
	w := newWorld(t)
	w.name("example.com", publicA)
	w.serve(t, publicA+":443", echo)
	p := New(Options{Grants: grants(t, "example.com"), Resolver: w, Dial: w.dial, MaxConnections: 1})
	served := func() net.Conn {
		own, other := net.Pipe()
		p.ServeConn(other)
		return own
	}
	first := served()
	send(t, first, "CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n")
	mustRead(t, first, "HTTP/1.1 200 Connection established\r\n\r\n")
	if n, err := served().Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("the second hears %d bytes, %v", n, err)
	}
	send(t, first, "\x00first")
	mustRead(t, first, "\x00first")
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if n, err := served().Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("after Close: %d bytes, %v", n, err)
	}
}

// Close while connections are in every possible state.
func TestCloseWhileBusy(t *testing.T) {
	w := newWorld(t)
	w.name("example.com", publicA)
	w.name("silent.example", publicB)
	w.serve(t, publicA+":443", echo)
	w.serve(t, publicA+":80", func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }) // never answers
	w.serve(t, publicA+":81", func(conn net.Conn) { _, _ = io.Copy(conn, zeros{}) })    // never stops
	dialing := make(chan struct{})
	p := New(Options{Grants: grants(t, "example.com:*", "silent.example", "slow.example"), Resolver: slowResolver{w}, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		if strings.HasPrefix(address, publicB) {
			close(dialing)
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return w.dial(ctx, network, address)
	}})
	l := listen(t)
	served := make(chan error, 1)
	go func() { served <- p.Serve(l) }()
	address := l.Addr().String()

	idle := mustConnect(t, address, "example.com:443")
	hearing := mustConnect(t, address, "example.com:81")
	mustRead(t, hearing, "\x00\x00\x00")
	judged := mustConnect(t, address, "example.com:443")
	send(t, judged, "\x16\x03\x01")
	dialProxy(t, address)                                                                    // sends nothing
	send(t, dialProxy(t, address), "GET http://exam")                                        // half a request
	send(t, dialProxy(t, address), "\x05\x01")                                               // half a greeting
	send(t, dialProxy(t, address), "CONNECT silent.example:443 HTTP/1.1\r\nHost: x\r\n\r\n") // is being dialed
	send(t, dialProxy(t, address), "CONNECT slow.example:443 HTTP/1.1\r\nHost: x\r\n\r\n")   // is being resolved
	send(t, dialProxy(t, address), "POST http://example.com/ HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nabc")
	<-dialing

	for range 2 { // a second Close does nothing
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
	if _, err := io.Copy(io.Discard, idle); err != nil && !strings.Contains(err.Error(), "reset") {
		t.Error(err)
	}
	if _, err := net.Dial("tcp", address); err == nil {
		t.Error("still listens")
	}
	if err := p.Serve(listen(t)); err != nil {
		t.Errorf("Serve after Close: %v", err)
	}
	// TestMain checks that no goroutine is left.
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

type slowResolver struct{ *world }

func (r slowResolver) LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error) {
	if host == "slow.example" {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return r.world.LookupNetIP(ctx, network, host)
}

func TestServeEndsWithItsListener(t *testing.T) {
	p := New(Options{})
	defer p.Close()
	l := listen(t)
	served := make(chan error)
	go func() { served <- p.Serve(l) }()
	l.Close()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// failingListener is a listener whose Accept fails for a while.
type failingListener struct {
	*pipes
	failures int
}

func (l *failingListener) Accept() (net.Conn, error) {
	if l.failures--; l.failures >= 0 {
		return nil, syscall.EMFILE
	}
	return l.pipes.Accept()
}

func TestServeContinuesAfterAcceptErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(Options{})
		l := &failingListener{newPipes(), 1000}
		served := make(chan error, 1)
		go func() { served <- p.Serve(l) }()
		start := time.Now()
		conn := l.dial()
		if took := time.Since(start); took < 900*time.Second || took > 1000*time.Second {
			t.Errorf("1000 attempts take %v: the pause is not about a second", took)
		}
		conn.Close()
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}

// When a client disconnects, its connection to the server ends too.
func TestClientDisconnectEndsServerConnection(t *testing.T) {
	w := newWorld(t)
	w.name("example.com", publicA)
	ended := make(chan struct{}, 2)
	w.serve(t, publicA+":443", func(conn net.Conn) {
		_, _ = io.Copy(io.Discard, conn)
		ended <- struct{}{}
	})
	address := w.proxy(t, "example.com")
	reset := mustConnect(t, address, "example.com:443")
	send(t, reset, "\x00x")
	if err := reset.SetLinger(0); err != nil {
		t.Fatal(err)
	}
	reset.Close()
	<-ended
	closed := mustConnect(t, address, "example.com:443")
	closed.Close()
	<-ended
}

// If one side closes its direction, the other direction continues.
func TestHalfClose(t *testing.T) {
	w := newWorld(t)
	w.name("example.com", publicA)
	w.serve(t, publicA+":443", func(conn net.Conn) {
		sent, _ := io.ReadAll(conn) // to the guest's end
		fmt.Fprintf(conn, "heard %d", len(sent))
	})
	last := make(chan string, 1)
	w.serve(t, publicA+":80", func(conn net.Conn) { // ends first
		_, _ = io.WriteString(conn, "bye")
		_ = conn.(*net.TCPConn).CloseWrite()
		sent, _ := io.ReadAll(conn)
		last <- string(sent)
	})
	address := w.proxy(t, "example.com")
	conn := mustConnect(t, address, "example.com:443")
	send(t, conn, "\x00"+strings.Repeat("x", 99999))
	_ = conn.CloseWrite()
	if got, err := io.ReadAll(conn); err != nil || string(got) != "heard 100000" {
		t.Errorf("%q, %v", got, err)
	}
	conn = mustConnect(t, address, "example.com:80")
	if got, err := io.ReadAll(conn); err != nil || string(got) != "bye" {
		t.Errorf("%q, %v", got, err)
	}
	send(t, conn, "\x00and more")
	conn.Close()
	if got := <-last; got != "\x00and more" {
		t.Errorf("the server hears %q", got)
	}
}

// pipes is a listener of in-memory connections, for tests with a fake clock.
type pipes struct {
	conns chan net.Conn
	once  sync.Once
	done  chan struct{}
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), done: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}
func (p *pipes) Close() error   { p.once.Do(func() { close(p.done) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p *pipes) dial() net.Conn {
	own, other := net.Pipe()
	p.conns <- other
	return own
}

// Guests that are slow on purpose lose their connection. A silent tunnel does not.
func TestSlowGuests(t *testing.T) {
	for _, tt := range []struct {
		name, sent string
		drip       string // sent every second from then on
		want       time.Duration
	}{
		{"says nothing", "", "", firstByteTime},
		{"slow head", "GET http://example.com/ HTTP/1.1\r\n", "a", headerTime},
		{"slow greeting", "\x05\xff", "\x01", headerTime},
		{"half a SOCKS request", "\x05\x01\x00", "", headerTime},
		{"half a hello", "CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n\x16\x03\x01", "", helloTime},
		{"slow hello", "CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n\x16\x03\x01\x20\x00", "a", helloTime},
		{"slow method", "CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\nG", "", helloTime},
		{"silent tunnel", "CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n", "", 0},
		{"silent after a word", "CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n\x00", "", 0},
		{"silent after a byte of SSL 2 to an address", "CONNECT " + publicA + ":443 HTTP/1.1\r\nHost: x\r\n\r\n\x80", "", 0},
		{"silent after its hello", "CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n" + helloFor("example.com"), "", 0},
		{"silent after its key", "CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n" + helloFor("example.com") + cipher, "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.name("example.com", publicA)
				p := New(Options{Grants: grants(t, "example.com", publicA), Resolver: w, Dial: func(context.Context, string, string) (net.Conn, error) {
					own, other := net.Pipe()
					go func() {
						_, _ = io.Copy(io.Discard, other)
						other.Close()
					}()
					return own, nil
				}})
				p.hostAddrs = func() ([]netip.Addr, error) { return nil, nil }
				l := newPipes()
				go func() { _ = p.Serve(l) }()
				conn := l.dial()
				start := time.Now()
				ended := make(chan time.Duration, 1)
				go func() {
					_, _ = io.Copy(io.Discard, conn)
					ended <- time.Since(start)
				}()
				stop := make(chan struct{})
				var writing sync.WaitGroup
				writing.Go(func() {
					// Send the last byte separately, so that the proxy waits for it.
					cut := max(len(tt.sent)-1, 0)
					for _, piece := range []string{tt.sent[:cut], tt.sent[cut:]} {
						if _, err := io.WriteString(conn, piece); err != nil {
							return
						}
					}
					for tt.drip != "" {
						select {
						case <-time.After(time.Second):
						case <-stop:
							return
						}
						if _, err := io.WriteString(conn, tt.drip); err != nil {
							return
						}
					}
				})
				const long = 5 * time.Hour
				select {
				case took := <-ended:
					if tt.want == 0 || took < tt.want || took > tt.want+lingerTime {
						t.Errorf("ended after %v; want %v", took, tt.want)
					}
				case <-time.After(long):
					if tt.want != 0 {
						t.Errorf("still there after %v", long)
					}
				}
				close(stop)
				conn.Close()
				writing.Wait()
				if err := p.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// A transfer may pause for any time.
func TestRelayPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		guest, in := net.Pipe()
		out, server := net.Pipe()
		var total atomic.Int64
		ended := make(chan error, 1)
		go func() {
			ended <- relay(out, in, &meter{total: &total})
			in.Close()
		}()
		heard := make(chan int64, 1)
		go func() {
			n, _ := io.Copy(io.Discard, server)
			heard <- n
		}()
		for range 3 {
			if _, err := guest.Write(make([]byte, 3*relayBuffer)); err != nil {
				t.Fatal(err)
			}
			<-time.After(time.Hour)
		}
		guest.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if n := <-heard; n != 9*relayBuffer || total.Load() != n {
			t.Errorf("%d bytes arrive, %d are counted", n, total.Load())
		}
		server.Close()
	})
}

func TestEnvironment(t *testing.T) {
	set := map[string]string{}
	for _, e := range Environment("127.0.0.1:3128") {
		name, value, _ := strings.Cut(e, "=")
		set[name] = value
	}
	for _, name := range []string{"http_proxy", "https_proxy", "all_proxy"} {
		if set[name] != "http://127.0.0.1:3128" || set[strings.ToUpper(name)] != set[name] {
			t.Errorf("%s is %q", name, set[name])
		}
	}
	if set["NODE_USE_ENV_PROXY"] != "1" || set["no_proxy"] == "" || set["no_proxy"] != set["NO_PROXY"] || len(set) != 9 {
		t.Errorf("%v", set)
	}
}

// A connection can carry plain requests and then become a tunnel.
func TestHTTPThenTunnelOnOneConnection(t *testing.T) {
	w := newWorld(t)
	site(t, w)
	w.serve(t, publicA+":443", echo)
	conn := dialProxy(t, w.proxy(t, "example.com"))
	send(t, conn, "GET http://example.com/ HTTP/1.1\r\nHost: x\r\n\r\n")
	r := bufio.NewReaderSize(oneByte{conn}, 16)
	if status, _ := readResponse(t, r, "GET"); status != 200 {
		t.Fatal(status)
	}
	send(t, conn, "CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n")
	if status, _ := readResponse(t, r, http.MethodConnect); status != 200 {
		t.Fatal(status)
	}
	mustEcho(t, conn, "\x00tunnel")
}
