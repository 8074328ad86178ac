package portable

import (
	"errors"
	"net"
	"slices"
	"sync"

	"github.com/cordon-sandbox/cordon/internal/egress"
	"github.com/cordon-sandbox/cordon/internal/launch"
	"github.com/cordon-sandbox/cordon/internal/notify"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// network is what guests may reach.
type network struct {
	mode   policy.Egress
	grants []policy.NetGrant
	names  []string
	own    bool // each process has a network of its own, see launch.Networked
}

func newNetwork(p policy.Policy, mode policy.Egress) (network, error) {
	grants, err := p.NetGrants()
	if err != nil {
		return network{}, run.Wrap(run.Invalid, err)
	}
	return network{mode: mode, grants: grants, names: p.AllowNet}, nil
}

// proxied reports whether guests may reach hosts, which is possible only through the
// Runner.
func (n network) proxied() bool { return n.mode == policy.EgressStrict && len(n.grants) > 0 }

// open adds the network to what a guest may reach. While the walls are planned the port
// is not known yet, and any port stands for it.
func (n network) open(access *launch.Access, port int) {
	access.AnyNetwork = n.mode != policy.EgressStrict
	if n.proxied() {
		access.Proxy = max(port, 1)
	}
}

// report adds the walls. Without a network wall a guest need not use the proxy.
func (n network) report(e *run.Enforcement) {
	if !n.proxied() && n.mode == policy.EgressStrict && e.Tier != policy.TierJail {
		return
	}
	e.Walls[policy.WallEgress] = egress.Words(n.mode, n.names)
	kept := n.own || slices.ContainsFunc(meets(policy.WallNetwork), func(w policy.Wall) bool { return e.Walls[w].Enforced() })
	if n.mode == policy.EgressStrict && !kept {
		e.Walls[policy.WallEgress] = policy.MissingWall("no wall here keeps guests from the network")
	}
}

// proxy is the network of one run; nil if it has none.
type proxy struct {
	*egress.Proxy
	listener net.Listener
	serving  sync.WaitGroup
	served   error
	denials  notify.Denials
}

// serve starts the proxy of a run on its own port, the only one to which the walls let
// the guest connect.
func (n network) serve() (*proxy, error) {
	if !n.proxied() || n.own {
		return nil, nil
	}
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, run.Errorf(run.Internal, "the proxy: %w", err)
	}
	return n.serveOn(listener), nil
}

// serveIn starts the proxy of a run in the network of its process.
func (n network) serveIn(p launch.Process) *proxy {
	if !n.proxied() || !n.own {
		return nil
	}
	return n.serveOn(p.(launch.Networked).Network())
}

func (n network) serveOn(listener net.Listener) *proxy {
	p := &proxy{listener: listener}
	p.Proxy = egress.New(egress.Options{Grants: slices.Clone(n.grants), Report: func(v run.Violation) { p.denials.Add(v) }})
	p.serving.Go(func() { p.served = p.Serve(listener) })
	return p
}

func (p *proxy) port() int {
	if p == nil {
		return 0
	}
	return p.listener.Addr().(*net.TCPAddr).Port
}

// environment tells a guest where its proxy is. That in a network of its own is not there yet.
func (n network) environment(p *proxy) []string {
	switch {
	case !n.proxied():
		return nil
	case n.own:
		return egress.Environment(egress.GuestAddress.String())
	}
	return egress.Environment(p.listener.Addr().String())
}

func (p *proxy) violations() []run.Violation {
	if p == nil {
		return nil
	}
	return p.denials.Take()
}

func (p *proxy) traffic() []run.Traffic {
	if p == nil {
		return nil
	}
	return p.Traffic()
}

func (p *proxy) close() error {
	if p == nil {
		return nil
	}
	err := p.Close()
	p.serving.Wait()
	if err = errors.Join(err, p.served); err != nil {
		return run.Errorf(run.Internal, "the proxy: %w", err)
	}
	return nil
}
