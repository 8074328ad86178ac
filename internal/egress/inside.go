package egress

import (
	"context"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
)

// insideConn is a tunnel in which the guest speaks plain HTTP. The server of
// the proxy itself reads it, so that every request is judged and leaves as
// what was understood, and none as the guest's bytes.
type insideConn struct {
	guestConn
	to       route
	forward  http.Handler // to the tunnel's server
	hijacked atomic.Bool  // it has become a WebSocket
}

// Close is how whoever has taken the connection from net/http gives it back.
// Until then net/http says when all is done, in connState.
func (c *insideConn) Close() error {
	err := c.Conn.Close()
	if c.hijacked.Load() {
		c.finish()
	}
	return err
}

type insideKey struct{}

// insideContext lets requests know in which tunnel they are.
func insideContext(ctx context.Context, conn net.Conn) context.Context {
	if c, ok := conn.(*insideConn); ok {
		return context.WithValue(ctx, insideKey{}, c)
	}
	return ctx
}

// serveInside answers the requests in a tunnel, of which said has been read,
// until it ends. Empty lines before them are not in it: net/http wants none. The
// server was dialled for the tunnel, and is used first.
func (p *Proxy) serveInside(to route, guest, server net.Conn, said []byte) {
	dialled := make(chan net.Conn, 1)
	dialled <- server
	transport := p.newTransport()
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		select {
		case conn := <-dialled:
			return conn, nil
		default: // it has been used up
			return p.dialForward(ctx, network, address)
		}
	}
	defer transport.CloseIdleConnections()
	ended := make(chan struct{})
	c := &insideConn{to: to, forward: p.newForwarder(transport)}
	c.guestConn = guestConn{Conn: guest, first: said, finish: sync.OnceFunc(func() { close(ended) })}
	select {
	case p.handoff <- c:
		<-ended
	case <-p.ctx.Done():
	}
}

// serveInsideRequest judges a request in a tunnel and passes it on.
func (p *Proxy) serveInsideRequest(w http.ResponseWriter, r *http.Request, c *insideConn) {
	said, err := p.judgeInside(c.to, r)
	if err != nil {
		w.Header().Set("Connection", "close")
		p.answerError(w, err)
		return
	}
	// Some of the other protocols that can be requested have hosts and names of their own
	// (HTTP/2, TLS). A client that does not get one continues without it.
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") || len(r.Header["Upgrade"]) > 1 {
		r.Header.Del("Upgrade")
	}
	// A guest that has said all may close its side and still wait for the
	// answer; to net/http it is gone then.
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()
	c.forward.ServeHTTP(w, r.WithContext(context.WithValue(ctx, forwardKey{}, forwarding{c.to.target, said})))
}

// judgeInside gives the host that a request in a tunnel is for.
func (p *Proxy) judgeInside(to route, r *http.Request) (target, error) {
	switch {
	case r.URL.User != nil:
		return target{}, httpRefusal("HTTP request for " + to.String() + " has a user before the host")
	case r.Host == "": // from before there were hosts
		return to.target, nil
	}
	// The port is not compared: it is no part of which site is meant, and
	// clients leave it out as they like.
	said, err := parseTarget(r.Host, to.port)
	switch {
	case err != nil || !p.answersTo(to.target, said.host()):
		return target{}, httpRefusal("HTTP host " + show(r.Host) + " does not match " + to.String())
	case r.Method == http.MethodConnect:
		return target{}, httpRefusal("HTTP request for " + to.String() + " asks for a tunnel in the tunnel")
	}
	return said, nil
}
