package egress

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Resolver finds the addresses of a name; *net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Options configure a Proxy.
type Options struct {
	// Grants lists the destinations that guests may connect to. Nil means none.
	Grants []policy.NetGrant
	// Resolver resolves canonical names. Nil means net.DefaultResolver without
	// search domains.
	Resolver Resolver
	// Dial is called only with a literal address and a port. Nil means net.Dialer.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Report is called for each refused attempt, by the goroutine of the
	// connection. Calls may be concurrent. It must not call Close.
	Report func(run.Violation)
	// MaxConnections bounds the guest's connections; 0 means 2048. Connections
	// above the bound wait in the listener's backlog, if there is one. If they were
	// closed instead, clients would see a broken network and retry at once.
	MaxConnections int
}

const defaultMaxConnections = 2048

// Time limits of guests, resolvers and servers. An established tunnel has none: during
// a git clone, the server may compute for a long time without sending anything.
const (
	firstByteTime = time.Minute      // until the first byte of a new connection
	headerTime    = 20 * time.Second // for HTTP headers, and for all of SOCKS
	idleTime      = 2 * time.Minute  // between two HTTP requests
	helloTime     = 10 * time.Second // from a tunnel's first byte to the end of its first message
	resolveTime   = 10 * time.Second
	dialTime      = 30 * time.Second // for all addresses of a name
	addressTime   = 8 * time.Second  // for each address but the last
	lingerTime    = 2 * time.Second  // for the guest to read why it was refused
)

const (
	maxHeader    = 64 << 10
	maxHello     = 64 << 10
	maxAddresses = 16
	maxIdle      = 64 // idle connections to servers, kept for the next plain request
)

// Proxy connects one guest to the network.
type Proxy struct {
	grants      []policy.NetGrant
	module      string // whose connections these are; empty for all or the script's
	rule        *Rule  // of that module; nil if it has none
	resolver    Resolver
	dialer      func(ctx context.Context, network, address string) (net.Conn, error)
	hostAddrs   func() ([]netip.Addr, error) // this host's addresses
	onViolation func(run.Violation)
	slots       chan struct{}
	traffic     ledger

	server    *http.Server
	handoff   chan net.Conn // from greet to server
	forwarder *httputil.ReverseProxy
	transport *http.Transport

	ctx    context.Context
	cancel context.CancelFunc

	mu      sync.Mutex
	closed  bool
	serving bool                   // server runs
	open    map[io.Closer]struct{} // closed by Close
	running sync.WaitGroup         // Close waits for it
}

// New returns a Proxy, which does nothing until Serve or ServeConn is called.
func New(o Options) *Proxy {
	p := &Proxy{
		grants:      slices.Clone(o.Grants),
		resolver:    o.Resolver,
		dialer:      o.Dial,
		hostAddrs:   hostAddresses,
		onViolation: o.Report,
		handoff:     make(chan net.Conn),
		open:        map[io.Closer]struct{}{},
	}
	if p.resolver == nil {
		p.resolver = fullNames{net.DefaultResolver}
	}
	if p.dialer == nil {
		p.dialer = (&net.Dialer{}).DialContext
	}
	if o.MaxConnections <= 0 {
		o.MaxConnections = defaultMaxConnections
	}
	p.slots = make(chan struct{}, o.MaxConnections)
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.server = p.newServer()
	p.transport = p.newTransport()
	p.forwarder = p.newForwarder(p.transport)
	return p
}

// Serve answers the guests of l until l or the Proxy is closed. It continues after
// other errors of Accept: a guest that uses up the descriptors for a while must not
// lose its network for good.
func (p *Proxy) Serve(l net.Listener) error {
	if !p.begin(l) {
		l.Close()
		return nil
	}
	defer p.end(l)
	p.serveHTTPConnections()
	for pause := time.Duration(0); ; {
		select {
		case p.slots <- struct{}{}:
		case <-p.ctx.Done():
			return nil
		}
		conn, err := l.Accept()
		if err == nil {
			pause = 0
			p.accepted(conn, nil)
			continue
		}
		<-p.slots
		if errors.Is(err, net.ErrClosed) || p.ctx.Err() != nil {
			return nil
		}
		// Most often no descriptors are left, until other connections end.
		pause = min(max(2*pause, 5*time.Millisecond), time.Second)
		select {
		case <-time.After(pause):
		case <-p.ctx.Done():
			return nil
		}
	}
}

// ServeConn answers one connection of a guest, as if Serve had accepted it. Above
// MaxConnections, where Serve would leave it in the backlog, it closes the connection.
func (p *Proxy) ServeConn(conn net.Conn) { p.serveConn(conn, nil) }

// serveConn is ServeConn for a connection whose first bytes are already read.
func (p *Proxy) serveConn(conn net.Conn, first []byte) {
	p.serveHTTPConnections()
	select {
	case p.slots <- struct{}{}:
		p.accepted(conn, first)
	default:
		conn.Close()
	}
}

// accepted serves a connection in a new goroutine. The caller has taken a slot for it.
func (p *Proxy) accepted(conn net.Conn, first []byte) {
	c := &guestConn{Conn: conn, first: first}
	if !p.begin(c) {
		conn.Close()
		<-p.slots
		return
	}
	c.finish = sync.OnceFunc(func() {
		conn.Close()
		<-p.slots
		p.end(c)
	})
	go p.greet(c)
}

// Close ends every connection and returns after all their goroutines have ended.
func (p *Proxy) Close() error {
	p.mu.Lock()
	p.closed = true
	all := make([]io.Closer, 0, len(p.open))
	for c := range p.open {
		all = append(all, c)
	}
	p.mu.Unlock()
	p.cancel()
	err := p.server.Close()
	for _, c := range all {
		c.Close()
	}
	p.running.Wait()
	p.transport.CloseIdleConnections()
	return err
}

// begin registers c, which Close closes and waits for until end is called. It returns
// false after Close.
func (p *Proxy) begin(c io.Closer) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.open[c] = struct{}{}
	p.running.Add(1)
	return true
}

func (p *Proxy) end(c io.Closer) {
	p.mu.Lock()
	delete(p.open, c)
	p.mu.Unlock()
	p.running.Done()
}
