package egress

import (
	"cmp"
	"net"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// maxHosts bounds the memory that a guest can use, because a wildcard grants any number
// of names. Further hosts are counted together.
const maxHosts = 4096

var otherHosts = target{name: "(others)"}

type account struct{ connections, sent, received atomic.Int64 }

// ledger has an account for each target with a connection.
type ledger struct {
	mu       sync.Mutex
	accounts map[target]*account
}

// connected counts a connection and returns the account for its bytes.
func (l *ledger) connected(t target) *account {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.accounts[t]
	if a == nil && len(l.accounts) >= maxHosts {
		t = otherHosts
		a = l.accounts[t]
	}
	if a == nil {
		if l.accounts == nil {
			l.accounts = map[target]*account{}
		}
		a = &account{}
		l.accounts[t] = a
	}
	a.connections.Add(1)
	return a
}

// Traffic lists connections and bytes by host and port. It may lack the last half
// megabyte of a busy connection.
func (p *Proxy) Traffic() []run.Traffic {
	p.traffic.mu.Lock()
	defer p.traffic.mu.Unlock()
	var all []run.Traffic
	for t, a := range p.traffic.accounts {
		all = append(all, run.Traffic{
			Host: t.host(), Port: int(t.port), Module: p.module, Connections: int(a.connections.Load()),
			Sent: policy.Bytes(a.sent.Load()), Received: policy.Bytes(a.received.Load()),
		})
	}
	slices.SortFunc(all, func(a, b run.Traffic) int {
		return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Port, b.Port))
	})
	return all
}

// Since returns the traffic between two answers of Traffic.
func Since(before, now []run.Traffic) (since []run.Traffic) {
	type account struct {
		host   string
		port   int
		module string
	}
	known := make(map[account]run.Traffic, len(before))
	for _, t := range before {
		known[account{t.Host, t.Port, t.Module}] = t
	}
	for _, t := range now {
		old := known[account{t.Host, t.Port, t.Module}]
		t.Connections -= old.Connections
		t.Sent -= old.Sent
		t.Received -= old.Received
		if t.Connections > 0 || t.Sent > 0 || t.Received > 0 {
			since = append(since, t)
		}
	}
	return since
}

// countedConn counts the bytes of plain requests and their answers.
type countedConn struct {
	net.Conn
	account *account
}

func (c countedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.account.received.Add(int64(n))
	return n, err
}

func (c countedConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.account.sent.Add(int64(n))
	return n, err
}

// forwardConn is a connection that the Proxy's Close must close.
type forwardConn struct {
	countedConn
	proxy *Proxy
	once  sync.Once
}

func (c *forwardConn) Close() error {
	err := c.Conn.Close()
	c.once.Do(func() { c.proxy.end(c) })
	return err
}
