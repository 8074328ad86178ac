package process

import (
	"net"
	"os"
	"slices"
	"sync"

	"github.com/cordon-sandbox/cordon/internal/egress"
	"github.com/cordon-sandbox/cordon/internal/zygote"
	"github.com/cordon-sandbox/cordon/run"
)

// certificates are what a client needs to check who it talks to.
var certificates = []string{"/etc/ssl/certs", "/etc/ssl/cert.pem", "/etc/ssl/openssl.cnf", "/usr/lib/ssl", "/etc/pki/tls", "/etc/pki/ca-trust", "/usr/share/ca-certificates", "/usr/local/share/ca-certificates"}

// proxied says that scripts have hosts to talk to.
func (b *Backend) proxied() bool { return len(b.grants) > 0 }

// connection is the network of one run.
type connection struct {
	proxy *egress.Proxy
	conns chan net.Conn
	done  chan struct{}
	close sync.Once
	ended chan struct{}
}

// connect gives a run its network, or nil if there is none to have.
func (b *Backend) connect(w *zygote.Worker) *connection {
	if !b.proxied() {
		return nil
	}
	c := &connection{
		proxy: egress.New(egress.Options{Grants: b.grants, Report: w.Report}),
		conns: make(chan net.Conn), done: make(chan struct{}), ended: make(chan struct{}),
	}
	go func() {
		defer close(c.ended)
		_ = c.proxy.Serve(c) // until it is closed
	}()
	return c
}

// network is what the worker needs of it.
func (c *connection) network() *zygote.Network {
	if c == nil {
		return nil
	}
	return &zygote.Network{Proxy: egress.GuestAddress, Serve: c.serve}
}

func (c *connection) serve(conn net.Conn) {
	select {
	case c.conns <- conn:
	case <-c.done:
		_ = conn.Close()
	}
}

// Accept makes it a net.Listener, for the proxy.
func (c *connection) Accept() (net.Conn, error) {
	select {
	case conn := <-c.conns:
		return conn, nil
	case <-c.done:
		return nil, net.ErrClosed
	}
}

// Addr is where a listener would be.
func (c *connection) Addr() net.Addr { return net.TCPAddrFromAddrPort(egress.GuestAddress) }

// Close lets nobody in any more.
func (c *connection) Close() error {
	c.close.Do(func() { close(c.done) })
	return nil
}

// end closes every connection, and says what went over them.
func (c *connection) end() ([]run.Traffic, error) {
	if c == nil {
		return nil, nil
	}
	err := c.proxy.Close()
	<-c.ended
	return c.proxy.Traffic(), err
}

// readable lists what guests may read beside the interpreter's files.
func (b *Backend) readable() []string {
	paths := slices.Clone(b.options.Policy.Read)
	if !b.proxied() {
		return paths
	}
	for _, path := range certificates {
		if _, err := os.Stat(path); err == nil {
			paths = append(paths, path)
		}
	}
	return paths
}

// networkEnvironment tells clients of the proxy.
func (b *Backend) networkEnvironment() []string {
	if !b.proxied() {
		return nil
	}
	return egress.Environment(egress.GuestAddress.String())
}
