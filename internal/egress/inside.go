package egress

import (
	"context"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
)

// insideConn is a tunnel that contains plain HTTP. The proxy's server parses it, so that
// every request is judged and written anew; no bytes of the guest are copied.
type insideConn struct {
	guestConn
	to       route
	forward  http.Handler // to the tunnel's server
	hijacked atomic.Bool  // it has become a WebSocket
}

// Close is called by the code that hijacked the connection from net/http. Otherwise
// net/http reports the end in connState.
func (c *insideConn) Close() error {
	err := c.Conn.Close()
	if c.hijacked.Load() {
		c.finish()
	}
	return err
}

type insideKey struct{}

// insideContext adds the tunnel to the context of its requests.
func insideContext(ctx context.Context, conn net.Conn) context.Context {
	if c, ok := conn.(*insideConn); ok {
		return context.WithValue(ctx, insideKey{}, c)
	}
	return ctx
}

// serveInside answers the requests in a tunnel until it ends. The bytes in sent are
// already read, without the empty lines before the first request, which net/http does
// not accept. The connection to the server that was dialed for the tunnel serves the
// first request.
func (p *Proxy) serveInside(to route, guest, server net.Conn, sent []byte) {
	dialed := make(chan net.Conn, 1)
	dialed <- server
	transport := p.newTransport()
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		select {
		case conn := <-dialed:
			return conn, nil
		default: // the first connection is in use
			return p.dialForward(ctx, network, address)
		}
	}
	defer transport.CloseIdleConnections()
	ended := make(chan struct{})
	c := &insideConn{to: to, forward: p.newForwarder(transport)}
	c.guestConn = guestConn{Conn: guest, first: sent, finish: sync.OnceFunc(func() { close(ended) })}
	select {
	case p.handoff <- c:
		<-ended
	case <-p.ctx.Done():
	}
}

// serveInsideRequest judges a request in a tunnel and forwards it.
func (p *Proxy) serveInsideRequest(w http.ResponseWriter, r *http.Request, c *insideConn) {
	named, err := p.judgeInside(c.to, r)
	if err != nil {
		w.Header().Set("Connection", "close")
		p.answerError(w, err)
		return
	}
	// Other protocols (HTTP/2, TLS) would name hosts again. A client whose upgrade is
	// ignored continues without it.
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") || len(r.Header["Upgrade"]) > 1 {
		r.Header.Del("Upgrade")
	}
	// A guest may close its side after the request and wait for the answer, but
	// net/http then takes it for disconnected.
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()
	c.forward.ServeHTTP(w, r.WithContext(context.WithValue(ctx, forwardKey{}, forwarding{c.to.target, named})))
}

// judgeInside returns the host that a request in a tunnel names, if it is allowed.
func (p *Proxy) judgeInside(to route, r *http.Request) (target, error) {
	switch {
	case r.URL.User != nil:
		return target{}, httpRefusal("HTTP request for " + to.String() + " has a user before the host")
	case r.Host == "": // HTTP/1.0 has no Host header
		return to.target, nil
	}
	// The port is not compared: it does not select a site, and some clients omit
	// it.
	named, err := parseTarget(r.Host, to.port)
	switch {
	case err != nil || !p.matchesTarget(to.target, named.host()):
		return target{}, httpRefusal("HTTP host " + show(r.Host) + " does not match " + to.String())
	case r.Method == http.MethodConnect:
		return target{}, httpRefusal("HTTP request for " + to.String() + " asks for a tunnel in the tunnel")
	}
	return named, nil
}
