package egress

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"
)

// failure is a connection that the rules allow but that failed. Its message is
// shown to the guest, so it does not repeat the resolver's error, which names the
// host's servers.
type failure struct {
	words   string
	refused bool // by the server
}

func (f *failure) Error() string { return f.words }

// fullNames is a resolver that adds the trailing dot to names. Without it, a resolver
// would also try the host's search domains, and look a granted name up as another
// one. A single label keeps the search domains: it is useful only with them.
type fullNames struct{ *net.Resolver }

func (r fullNames) LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error) {
	if strings.Contains(host, ".") {
		host += "."
	}
	return r.Resolver.LookupNetIP(ctx, network, host)
}

// dial connects to a target that admit has allowed.
func (p *Proxy) dial(ctx context.Context, t target) (net.Conn, route, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()
	addrs, err := p.addresses(ctx, t)
	if err != nil {
		return nil, route{}, err
	}
	ctx, stop := context.WithTimeout(ctx, dialTime)
	defer stop()
	for i, addr := range addrs {
		conn, failed := p.dialOne(ctx, netip.AddrPortFrom(addr, t.port), i == len(addrs)-1)
		if failed == nil {
			return conn, route{t, p.allowsAddr(addr, t.port)}, nil
		}
		err = failed
	}
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return nil, route{}, &failure{words: t.String() + ": the server refuses the connection", refused: true}
	case ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded):
		return nil, route{}, &failure{words: t.String() + ": the server does not answer"}
	}
	return nil, route{}, &failure{words: t.String() + ": the server cannot be reached"}
}

func (p *Proxy) dialOne(ctx context.Context, address netip.AddrPort, last bool) (net.Conn, error) {
	if !last {
		// An address that drops packets must not use up the time for the others.
		short, cancel := context.WithTimeout(ctx, addressTime)
		defer cancel()
		ctx = short
	}
	conn, err := p.dialer(ctx, "tcp", address.String())
	if err != nil {
		return nil, err
	}
	// A tunnel may be silent for hours. Keepalive finds out whether the server is
	// still there.
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: 30 * time.Second, Interval: 15 * time.Second})
	}
	return conn, nil
}

// addresses resolves the target and drops the addresses that are not allowed.
func (p *Proxy) addresses(ctx context.Context, t target) ([]netip.Addr, error) {
	if t.addr.IsValid() {
		return []netip.Addr{t.addr}, nil // granted by address
	}
	ctx, cancel := context.WithTimeout(ctx, resolveTime)
	defer cancel()
	found, err := p.resolver.LookupNetIP(ctx, "ip", t.name)
	if err != nil || len(found) == 0 {
		return nil, &failure{words: t.String() + ": the name cannot be resolved"}
	}
	own, err := p.hostAddrs()
	if err != nil {
		return nil, &failure{words: t.String() + ": the host's own addresses cannot be listed"}
	}
	var usable []netip.Addr
	var reason *refusal
	for _, addr := range found[:min(len(found), maxAddresses)] {
		addr = addr.Unmap()
		words := nonPublicKind(addr)
		if words == "" && slices.Contains(own, addr) {
			words = "an address of the host itself"
		}
		switch {
		case words == "" || p.allowsAddr(addr, t.port):
			usable = append(usable, addr)
		case reason == nil:
			reason = &refusal{
				detail: t.String() + ": resolves to " + addr.String() + ", " + words,
				allow:  target{addr: addr, port: t.port}.String(),
			}
		}
	}
	if len(usable) == 0 {
		return nil, reason
	}
	return usable, nil
}

func (p *Proxy) allowsAddr(addr netip.Addr, port uint16) bool {
	for _, g := range p.grants {
		if g.AllowsAddr(addr, port) {
			return true
		}
	}
	return false
}
