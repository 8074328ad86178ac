package egress

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Two addresses of the public internet. No test sends packets to them: the
// world's Dial connects to loopback instead.
const (
	publicA = "93.184.215.14"
	publicB = "93.184.215.15"
)

// world is the internet that a proxy under test sees.
type world struct {
	t        testing.TB
	mu       sync.Mutex
	names    map[string][][]string // answers of the resolver, one after the other
	asked    []string
	servers  map[string]string // "address:port" to where it really is
	dialed   []string
	reported []run.Violation
}

func newWorld(t testing.TB) *world {
	return &world{t: t, names: map[string][][]string{}, servers: map[string]string{}}
}

func (w *world) name(name string, addrs ...string) { w.names[name] = append(w.names[name], addrs) }

func (w *world) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = append(w.asked, host)
	answers := w.names[host]
	if len(answers) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, Server: "10.9.8.7:53", IsNotFound: true}
	}
	answer := answers[0]
	if len(answers) > 1 {
		w.names[host] = answers[1:]
	}
	var addrs []netip.Addr
	for _, a := range answer {
		addrs = append(addrs, netip.MustParseAddr(a))
	}
	return addrs, nil
}

func (w *world) dial(ctx context.Context, network, address string) (net.Conn, error) {
	w.mu.Lock()
	w.dialed = append(w.dialed, address)
	real, known := w.servers[address]
	w.mu.Unlock()
	if _, err := netip.ParseAddrPort(address); err != nil {
		w.t.Errorf("dials %q, which is not a literal", address)
	}
	if !known {
		return nil, fmt.Errorf("nobody is at %s", address)
	}
	return (&net.Dialer{}).DialContext(ctx, network, real)
}

func (w *world) report(v run.Violation) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reported = append(w.reported, v)
}

func (w *world) violations() []run.Violation {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.reported)
}

func (w *world) dials() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.dialed)
}

func (w *world) lookups() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.asked)
}

// mustReport checks for exactly one violation, with these words in its detail.
func (w *world) mustReport(t testing.TB, words string) {
	t.Helper()
	reported := w.violations()
	if len(reported) != 1 || !strings.Contains(reported[0].Detail, words) {
		t.Fatalf("violations %+v; want one with %q", reported, words)
	}
	v := reported[0]
	if v.Wall != policy.WallEgress || v.Op != "connect" || v.Count != 1 || v.Hint == "" || v.Allowed == nil {
		t.Errorf("incomplete: %+v", v)
	}
	if len(v.Detail) > 400 || strings.ContainsFunc(v.Detail, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		t.Errorf("the detail passes on what the guest sent: %q", v.Detail)
	}
}

func grants(t testing.TB, list ...string) []policy.NetGrant {
	t.Helper()
	var all []policy.NetGrant
	for _, text := range list {
		g, err := policy.ParseNetGrant(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, g)
	}
	return all
}

// proxy starts a proxy in this world and returns its address.
func (w *world) proxy(t testing.TB, list ...string) string {
	_, address := w.start(t, Options{Grants: grants(t, list...)})
	return address
}

func (w *world) start(t testing.TB, o Options) (*Proxy, string) {
	t.Helper()
	o.Resolver, o.Dial, o.Report = w, w.dial, w.report
	p := New(o)
	l := listen(t)
	served := make(chan error, 1)
	go func() { served <- p.Serve(l) }()
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return p, l.Addr().String()
}

func listen(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// serve answers each connection at a public address by f.
func (w *world) serve(t testing.TB, public string, f func(net.Conn)) {
	t.Helper()
	l := listen(t)
	w.servers[public] = l.Addr().String()
	var running sync.WaitGroup
	running.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() {
				defer conn.Close()
				f(conn)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		running.Wait()
	})
}

// echo sends back what it receives.
func echo(conn net.Conn) { _, _ = io.Copy(conn, conn) }

// recorder records what servers receive.
type recorder struct{ end chan string }

func newRecorder() *recorder { return &recorder{end: make(chan string, 16)} }

// hear reads to the end and sends nothing.
func (r *recorder) hear(conn net.Conn) {
	data, _ := io.ReadAll(conn)
	r.end <- string(data)
}

func dialProxy(t testing.TB, address string) *net.TCPConn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(5 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	return conn.(*net.TCPConn)
}

func send(t testing.TB, conn net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
}

// readResponse reads the head and body of an HTTP answer.
func readResponse(t testing.TB, r *bufio.Reader, method string) (int, string) {
	t.Helper()
	resp, err := http.ReadResponse(r, &http.Request{Method: method})
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if method == http.MethodConnect && resp.StatusCode == http.StatusOK {
		return resp.StatusCode, ""
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// connect opens a tunnel by CONNECT.
func connect(t testing.TB, address, to string) (*net.TCPConn, int, string) {
	t.Helper()
	conn := dialProxy(t, address)
	send(t, conn, "CONNECT "+to+" HTTP/1.1\r\nHost: proxy\r\n\r\n")
	// Read single bytes, because those after the answer belong to the tunnel.
	status, body := readResponse(t, bufio.NewReaderSize(oneByte{conn}, 16), http.MethodConnect)
	return conn, status, body
}

type oneByte struct{ io.Reader }

func (r oneByte) Read(b []byte) (int, error) { return r.Reader.Read(b[:1]) }

// mustConnect is connect for an allowed target.
func mustConnect(t testing.TB, address, to string) *net.TCPConn {
	t.Helper()
	conn, status, body := connect(t, address, to)
	if status != http.StatusOK {
		t.Fatalf("CONNECT %s: %d %s", to, status, body)
	}
	return conn
}

// mustEcho checks that a tunnel carries bytes both ways.
func mustEcho(t testing.TB, conn *net.TCPConn, text string) {
	t.Helper()
	send(t, conn, text)
	if err := conn.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(conn)
	if err != nil || string(got) != text {
		t.Fatalf("echo of %.40q is %.40q, %v", text, got, err)
	}
}
