package egress

import (
	"cmp"
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/cordon-sandbox/cordon/internal/text"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Rule is the part of a module rule that concerns the network. It narrows the grants.
type Rule struct {
	// Name is the module of the rule, or policy.AnyModule.
	Name string
	// Grants lists the destinations that the module may connect to. Nil means none.
	Grants []policy.NetGrant
}

// A connection of a guest with module rules begins with the name of the module that
// opened it, which an audit hook in the guest sends before the client's first byte. The
// name is empty for the script itself.
//
//	1, n, n bytes of name, the client's bytes
//
// Neither HTTP nor SOCKS begins with 1. The name is the guest's word.
const moduleMark = 1

// maxModules is the number of modules whose connections are counted separately.
const maxModules = 64

// maxModuleName bounds a name in reports.
const maxModuleName = 255

// Modules connects one guest to the network, with a Proxy for each module that opens
// connections. No module uses a connection to a server that another one opened.
type Modules struct {
	options Options
	ruleFor func(module string) *Rule

	mu      sync.Mutex
	closed  bool
	proxies map[asker]*Proxy
	unnamed map[net.Conn]struct{} // their first bytes are being read
	reading sync.WaitGroup
}

// asker is whose connections a Proxy serves: those of a module, and the name of its rule.
type asker struct{ module, rule string }

// NewModules returns a proxy for a guest with module rules. ruleFor returns the rule of a
// module, or nil if the grants alone apply. A connection without a name, from a client that
// raises no audit event, gets the rule of policy.AnyModule.
func NewModules(o Options, ruleFor func(module string) *Rule) *Modules {
	return &Modules{options: o, ruleFor: ruleFor, proxies: map[asker]*Proxy{}, unnamed: map[net.Conn]struct{}{}}
}

// ServeConn answers one connection of the guest. It does not block.
func (m *Modules) ServeConn(conn net.Conn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		conn.Close()
		return
	}
	m.unnamed[conn] = struct{}{}
	m.reading.Go(func() {
		first, p, err := m.identify(conn)
		m.mu.Lock()
		delete(m.unnamed, conn)
		m.mu.Unlock()
		if err != nil {
			conn.Close()
			return
		}
		p.serveConn(conn, first)
	})
}

// identify reads the name of the module, and returns its Proxy and what was read of the
// client's bytes.
func (m *Modules) identify(conn net.Conn) (first []byte, p *Proxy, err error) {
	if err := conn.SetReadDeadline(time.Now().Add(firstByteTime)); err != nil {
		return nil, nil, err
	}
	var mark [1]byte
	if _, err := io.ReadFull(conn, mark[:]); err != nil {
		return nil, nil, err
	}
	if mark[0] != moduleMark {
		p, err = m.proxyFor("", m.ruleFor(policy.AnyModule))
		return mark[:], p, err
	}
	name, err := readVector(conn)
	if err != nil {
		return nil, nil, err
	}
	var rule *Rule
	if len(name) > 0 {
		rule = m.ruleFor(string(name))
	}
	p, err = m.proxyFor(text.Clip(string(name), maxModuleName), rule)
	return nil, p, err
}

// proxyFor returns the Proxy of a module. Above maxModules, modules with the same rule share
// one that has no name.
func (m *Modules) proxyFor(module string, rule *Rule) (*Proxy, error) {
	by := asker{module: module}
	if rule != nil {
		by.rule = rule.Name
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, errors.New("closed")
	}
	if m.proxies[by] == nil && len(m.proxies) >= maxModules {
		by.module = ""
	}
	p := m.proxies[by]
	if p == nil {
		p = New(m.options)
		p.module, p.rule = by.module, rule
		m.proxies[by] = p
	}
	return p, nil
}

// Close ends every connection and returns after all their goroutines have ended.
func (m *Modules) Close() error {
	m.mu.Lock()
	m.closed = true
	for conn := range m.unnamed {
		conn.Close()
	}
	m.mu.Unlock()
	m.reading.Wait()
	var errs []error
	for _, p := range m.proxies {
		errs = append(errs, p.Close())
	}
	return errors.Join(errs...)
}

// Traffic lists connections and bytes by host, port and module.
func (m *Modules) Traffic() []run.Traffic {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []run.Traffic
	for _, p := range m.proxies {
		all = append(all, p.Traffic()...)
	}
	slices.SortFunc(all, func(a, b run.Traffic) int {
		return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Port, b.Port), cmp.Compare(a.Module, b.Module))
	})
	return all
}
