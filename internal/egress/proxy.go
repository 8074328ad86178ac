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

// Options say what a Proxy allows and what it works with.
type Options struct {
	// Grants are where guests may connect to. None means nowhere.
	Grants []policy.NetGrant
	// Resolver gets canonical names. Nil means net.DefaultResolver, which is
	// asked for full names only: no search domains.
	Resolver Resolver
	// Dial is only ever called with a literal address and a port. Nil means
	// net.Dialer.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Report is called for each attempt that was refused, by the goroutine of
	// the connection; several may call it at once. It must not call Close.
	Report func(run.Violation)
	// MaxConnections bounds the guest's connections; 0 means 2048. Those above
	// wait in the listener's backlog, where there is one. To close them instead
	// would look like a broken network, and clients would come back at once and
	// louder.
	MaxConnections int
}

const defaultMaxConnections = 2048

// The times that a guest, a resolver and a server have. A tunnel that is up
// has no limit: a git clone may be silent for as long as the server thinks.
const (
	firstByteTime = time.Minute      // until a new connection says anything
	headerTime    = 20 * time.Second // for HTTP headers, and for all of SOCKS
	idleTime      = 2 * time.Minute  // between two HTTP requests
	helloTime     = 10 * time.Second // from a tunnel's first byte to the end of its first message
	resolveTime   = 10 * time.Second
	dialTime      = 30 * time.Second // for all addresses of a name
	addressTime   = 8 * time.Second  // for each but the last
	lingerTime    = 2 * time.Second  // for the guest to read why it was refused
)

const (
	maxHeader    = 64 << 10
	maxHello     = 64 << 10
	maxAddresses = 16
	maxIdle      = 64 // connections to servers that wait for another plain request
)

// Proxy is the way out of one guest.
type Proxy struct {
	grants   []policy.NetGrant
	allowed  []string
	resolver Resolver
	dialer   func(ctx context.Context, network, address string) (net.Conn, error)
	own      func() ([]netip.Addr, error) // this host's addresses
	told     func(run.Violation)
	slots    chan struct{}
	traffic  ledger

	server    *http.Server
	handoff   chan net.Conn // from the sniffer to server
	forwarder *httputil.ReverseProxy
	transport *http.Transport

	ctx    context.Context
	cancel context.CancelFunc

	mu      sync.Mutex
	closed  bool
	serving bool                   // server runs
	open    map[io.Closer]struct{} // all that Close has to close
	running sync.WaitGroup         // all that Close has to wait for
}

// New makes a Proxy. It does nothing until Serve or ServeConn.
func New(o Options) *Proxy {
	p := &Proxy{
		grants:   slices.Clone(o.Grants),
		allowed:  texts(o.Grants),
		resolver: o.Resolver,
		dialer:   o.Dial,
		own:      hostAddresses,
		told:     o.Report,
		handoff:  make(chan net.Conn),
		open:     map[io.Closer]struct{}{},
	}
	if p.resolver == nil {
		p.resolver = rooted{net.DefaultResolver}
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

// Serve answers the guests of l until it or the Proxy is closed. No error of
// Accept ends it: a guest that uses up our descriptors for a while must not
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
			p.accepted(conn)
			continue
		}
		<-p.slots
		if errors.Is(err, net.ErrClosed) || p.ctx.Err() != nil {
			return nil
		}
		// Out of descriptors, most often. It passes when others give up.
		pause = min(max(2*pause, 5*time.Millisecond), time.Second)
		select {
		case <-time.After(pause):
		case <-p.ctx.Done():
			return nil
		}
	}
}

// ServeConn answers one connection of a guest, as if it had been accepted, and
// does not wait: where Serve would leave it in the backlog, it is closed.
func (p *Proxy) ServeConn(conn net.Conn) {
	p.serveHTTPConnections()
	select {
	case p.slots <- struct{}{}:
		p.accepted(conn)
	default:
		conn.Close()
	}
}

// accepted looks after a connection in a goroutine of its own. The caller has
// taken a slot for it.
func (p *Proxy) accepted(conn net.Conn) {
	c := &guestConn{Conn: conn}
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

// Close ends every connection and returns when all their goroutines are gone.
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

// begin notes something that Close must close and wait for, until end. It is
// false when Close has been called.
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
