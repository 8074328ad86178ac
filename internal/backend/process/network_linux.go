package process

import (
	"net"
	"os"
	"slices"

	"github.com/cordon-sandbox/cordon/internal/egress"
	"github.com/cordon-sandbox/cordon/internal/zygote"
	"github.com/cordon-sandbox/cordon/run"
)

// certificates are the files that a client needs to verify a server.
var certificates = []string{"/etc/ssl/certs", "/etc/ssl/cert.pem", "/etc/ssl/openssl.cnf", "/usr/lib/ssl", "/etc/pki/tls", "/etc/pki/ca-trust", "/usr/share/ca-certificates", "/usr/local/share/ca-certificates"}

// proxied reports whether scripts may reach any hosts.
func (b *Backend) proxied() bool { return len(b.grants) > 0 }

// connection is the network of one run.
type connection struct{ proxy proxy }

// proxy is one for the whole guest, or one for each of its modules.
type proxy interface {
	ServeConn(conn net.Conn)
	Traffic() []run.Traffic
	Close() error
}

// connect returns the network of a run, or nil if it has none.
func (b *Backend) connect(w *zygote.Worker) *connection {
	if !b.proxied() {
		return nil
	}
	options := egress.Options{Grants: b.grants, Report: w.Report}
	if b.watchesModules() {
		return &connection{egress.NewModules(options, b.networkRule)}
	}
	return &connection{egress.New(options)}
}

// network is the part that the worker needs.
func (c *connection) network() *zygote.Network {
	if c == nil {
		return nil
	}
	return &zygote.Network{Proxy: egress.GuestAddress, Serve: c.proxy.ServeConn}
}

// traffic returns the traffic so far.
func (c *connection) traffic() []run.Traffic {
	if c == nil {
		return nil
	}
	return c.proxy.Traffic()
}

// end closes every connection and returns their traffic.
func (c *connection) end() ([]run.Traffic, error) {
	if c == nil {
		return nil, nil
	}
	err := c.proxy.Close()
	return c.proxy.Traffic(), err
}

// readable lists what guests may read besides the interpreter's files.
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

// networkEnvironment has the variables that make clients use the proxy.
func (b *Backend) networkEnvironment() []string {
	if !b.proxied() {
		return nil
	}
	return egress.Environment(egress.GuestAddress.String())
}
