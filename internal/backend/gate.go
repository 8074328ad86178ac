package backend

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cordon-sandbox/cordon/run"
)

// maxPatience covers the shortest scripts; to wake a processor that sleeps
// takes about a quarter of it.
const maxPatience = 600 * time.Microsecond

// Load counts the runs under way in all tiers of one Runner.
type Load struct{ running atomic.Int64 }

// Gate counts the runs of one tier, until it is closed. It does not queue: a run has its
// turn from the Runner before it comes to a tier.
type Gate struct {
	load   *Load
	closed chan struct{}

	mu      sync.Mutex
	running int
	gone    sync.Cond // nobody is running any more
}

// NewGate returns an open gate. A nil load means that there is no other tier.
func NewGate(load *Load) *Gate {
	if load == nil {
		load = &Load{}
	}
	g := &Gate{load: load, closed: make(chan struct{})}
	g.gone.L = &g.mu
	return g
}

// Pass is one run inside, from Enter to Leave. One goroutine uses it; it is not copied.
type Pass struct{ gate *Gate }

// Enter counts a run, unless its context has ended or the gate is closed.
func (g *Gate) Enter(ctx context.Context) (Pass, error) {
	if err := ctx.Err(); err != nil {
		return Pass{}, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.IsOpen() {
		return Pass{}, ErrClosed()
	}
	g.running++
	g.load.running.Add(1)
	return Pass{g}, nil
}

// Leave ends the run. Only the first call has an effect.
func (p *Pass) Leave() {
	if g := p.gate; g != nil {
		p.gate = nil
		g.leave()
	}
}

func (g *Gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.load.running.Add(-1)
	if g.running--; g.running == 0 {
		g.gone.Broadcast()
	}
}

// Running is how many runs are inside.
func (g *Gate) Running() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.running
}

// Busy is Running for metrics: none when the gate is closed.
func (g *Gate) Busy() int {
	if !g.IsOpen() {
		return 0
	}
	return g.Running()
}

// Patience is how long a run may keep a processor to itself while it looks for
// its result: none when others could use it.
func (g *Gate) Patience() time.Duration {
	if g.load.running.Load() > 1 || runtime.NumCPU() == 1 {
		return 0
	}
	return maxPatience
}

// Close lets no further run in, and returns when the last one has left.
func (g *Gate) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.closed)
	for g.running > 0 {
		g.gone.Wait()
	}
}

// Closed is closed when the gate is.
func (g *Gate) Closed() <-chan struct{} { return g.closed }

// IsOpen says whether Close has not been called.
func (g *Gate) IsOpen() bool {
	select {
	case <-g.closed:
		return false
	default:
		return true
	}
}

// ErrClosed says so.
func ErrClosed() error { return run.Wrap(run.Closed, errors.New("the Runner is closed")) }
