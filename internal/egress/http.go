package egress

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// newServer returns the server that parses the guests' requests. It is net/http's,
// which handles more kinds of malformed requests than we could think of.
func (p *Proxy) newServer() *http.Server {
	server := &http.Server{
		Handler:                      http.HandlerFunc(p.serveRequest),
		ReadHeaderTimeout:            headerTime,
		IdleTimeout:                  idleTime,
		MaxHeaderBytes:               maxHeader,
		DisableGeneralOptionsHandler: true,
		ConnState:                    connState,
		ConnContext:                  insideContext,
		BaseContext:                  func(net.Listener) context.Context { return p.ctx },
		ErrorLog:                     log.New(io.Discard, "", 0), // mistakes of guests are not logged
		Protocols:                    new(http.Protocols),
	}
	server.Protocols.SetHTTP1(true)
	return server
}

// newTransport returns the transport to the servers. It uses no other proxy, follows no
// redirects, and dials by the rules.
func (p *Proxy) newTransport() *http.Transport {
	transport := &http.Transport{
		DialContext:            p.dialForward,
		DisableCompression:     true,    // bodies pass as they are
		MaxIdleConns:           maxIdle, // a wildcard grants any number of hosts
		MaxIdleConnsPerHost:    16,
		IdleConnTimeout:        30 * time.Second,
		MaxResponseHeaderBytes: 1 << 20,
		ExpectContinueTimeout:  time.Second,
		Protocols:              new(http.Protocols),
	}
	transport.Protocols.SetHTTP1(true)
	return transport
}

// newForwarder forwards plain requests. It writes each request anew from the parsed
// form and never copies the guest's bytes. An ambiguous request, which two servers would
// cut at different positions (Content-Length against Transfer-Encoding), leaves here
// unambiguous.
func (p *Proxy) newForwarder(transport http.RoundTripper) *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Transport:     transport,
		FlushInterval: -1, // event streams
		ErrorLog:      p.server.ErrorLog,
		Rewrite: func(r *httputil.ProxyRequest) {
			f, ok := r.In.Context().Value(forwardKey{}).(forwarding)
			if !ok {
				r.Out.URL.Host = "" // the transport refuses it
				return
			}
			r.Out.URL = &url.URL{
				Scheme: "http", Host: f.to.String(),
				Path: r.In.URL.Path, RawPath: r.In.URL.RawPath,
				RawQuery: r.In.URL.RawQuery, ForceQuery: r.In.URL.ForceQuery,
			}
			// Use the judged host, not the Host header.
			r.Out.Host = strings.TrimSuffix(f.named.String(), ":80")
		},
		ModifyResponse: func(r *http.Response) error {
			if r.StatusCode == http.StatusSwitchingProtocols && r.Request.Header.Get("Upgrade") == "" {
				return &failure{words: "the server switches to a protocol that nobody asked for"}
			}
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) { p.answerError(w, err) },
	}
}

// forwarding is the target of a request, and the host that it names. They differ only
// if a tunnel leads to an address and the host is a granted name.
type forwarding struct{ to, named target }

type forwardKey struct{}

// listener passes the connections that greet detects as HTTP to the server.
type listener struct{ p *Proxy }

func (l listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.p.handoff:
		return c, nil
	case <-l.p.ctx.Done():
		return nil, net.ErrClosed
	}
}

func (l listener) Close() error   { return nil } // Accept ends with the context
func (l listener) Addr() net.Addr { return &net.TCPAddr{} }

// serveHTTPConnections starts the server, once.
func (p *Proxy) serveHTTPConnections() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.serving || p.closed {
		return
	}
	p.serving = true
	p.running.Go(func() { _ = p.server.Serve(listener{p}) }) // it returns only after Close
}

func connState(conn net.Conn, state http.ConnState) {
	inside, isInside := conn.(*insideConn)
	c, isGuest := conn.(*guestConn)
	switch {
	case isInside && state == http.StateHijacked:
		inside.hijacked.Store(true)
	case isInside && state == http.StateClosed:
		inside.finish()
	case isGuest && state == http.StateClosed:
		c.finish()
	}
}

// serveRequest judges every request, not only the first of a connection.
func (p *Proxy) serveRequest(w http.ResponseWriter, r *http.Request) {
	inside, isInside := r.Context().Value(insideKey{}).(*insideConn)
	switch {
	case isInside:
		p.serveInsideRequest(w, r, inside)
	case r.Method == http.MethodConnect:
		p.connect(w, r)
	case r.URL.Scheme == "http" && r.URL.Host != "":
		p.forward(w, r)
	default:
		// A URL of another scheme. Its host is judged all the same.
		if r.URL.Host != "" {
			if _, err := p.admitted(r.URL.Host, standardPorts[r.URL.Scheme]); err != nil {
				p.answerError(w, err)
				return
			}
		}
		answer(w, http.StatusBadRequest, "cordon: this is a proxy: send CONNECT host:port, or a request for http://host/\n")
	}
}

func (p *Proxy) forward(w http.ResponseWriter, r *http.Request) {
	if r.URL.User != nil {
		p.answerError(w, &refusal{detail: show(r.URL.Host) + ": has a user before the host"})
		return
	}
	t, err := p.admitted(r.URL.Host, 80)
	if err != nil {
		p.answerError(w, err)
		return
	}
	// A server may ignore an upgrade, and clients that always offer one (h2c)
	// rely on that.
	r.Header.Del("Upgrade")
	p.forwarder.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), forwardKey{}, forwarding{t, t})))
}

// dialForward is called by the transport with a target that was admitted. It admits it
// again, because that is cheap.
func (p *Proxy) dialForward(ctx context.Context, _, address string) (net.Conn, error) {
	t, err := p.admitted(address, 0)
	if err != nil {
		return nil, err
	}
	conn, _, err := p.dial(ctx, t)
	if err != nil {
		return nil, err
	}
	c := &forwardConn{countedConn: countedConn{conn, p.traffic.connected(t)}, proxy: p}
	if !p.begin(c) {
		conn.Close()
		return nil, net.ErrClosed
	}
	return c, nil
}

// answerError answers with a refusal of the rules or a failure of the network.
func (p *Proxy) answerError(w http.ResponseWriter, err error) {
	var r *refusal
	var f *failure
	switch {
	case errors.As(err, &r):
		p.report(r)
		answer(w, http.StatusForbidden, r.body())
	case errors.As(err, &f):
		answer(w, http.StatusBadGateway, "cordon: "+f.words+"\n")
	default:
		answer(w, http.StatusBadGateway, "cordon: the connection to the server failed\n")
	}
}

func answer(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}

// connect opens a tunnel to the target in the request line. It ignores the Host header.
func (p *Proxy) connect(w http.ResponseWriter, r *http.Request) {
	t, err := p.admitted(r.RequestURI, 0)
	if err != nil {
		p.answerError(w, err)
		return
	}
	server, to, err := p.dial(r.Context(), t)
	if err != nil {
		p.answerError(w, err)
		return
	}
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		server.Close()
		return
	}
	guest, ok := conn.(*guestConn)
	if !ok {
		server.Close()
		conn.Close()
		return
	}
	defer guest.finish()
	// A guest that does not wait for the answer has already sent data.
	sent := make([]byte, buffered.Reader.Buffered())
	if _, err := io.ReadFull(buffered.Reader, sent); err != nil {
		server.Close()
		return
	}
	if _, err := io.WriteString(guest.Conn, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		server.Close()
		return
	}
	p.tunnel(to, guest.Conn, server, sent)
}
