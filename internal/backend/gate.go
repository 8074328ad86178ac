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

// Turns bounds the runs under way and those that wait, of all gates that share it: those of
// the tiers of one Runner.
type Turns struct {
	slots   chan struct{} // one token for each run under way
	queue   int64
	waiting atomic.Int64
}

// NewTurns lets so many run at once, and so many wait.
func NewTurns(concurrent, queue int) *Turns {
	return &Turns{slots: make(chan struct{}, concurrent), queue: int64(queue)}
}

// Gate gives out the turns of one tier, until it is closed.
type Gate struct {
	turns  *Turns
	closed chan struct{}

	mu      sync.Mutex
	running int
	gone    sync.Cond // nobody is running any more
}

// NewGate lets so many run at once, and so many wait.
func NewGate(concurrent, queue int) *Gate { return NewTurns(concurrent, queue).Gate() }

// Gate is another one with the same turns.
func (t *Turns) Gate() *Gate {
	g := &Gate{turns: t, closed: make(chan struct{})}
	g.gone.L = &g.mu
	return g
}

// Enter waits for a turn. What cannot be served soon is better told now: the
// queue is bounded too.
func (g *Gate) Enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !g.IsOpen() {
		return ErrClosed()
	}
	select { // at once, as a rule
	case g.turns.slots <- struct{}{}:
		return g.begin()
	default:
	}
	if waiting := g.turns.waiting.Add(1) - 1; waiting >= g.turns.queue {
		g.turns.waiting.Add(-1)
		return run.Errorf(run.Busy, "%d runs are waiting already", waiting)
	}
	defer g.turns.waiting.Add(-1)
	select {
	case g.turns.slots <- struct{}{}:
		return g.begin()
	case <-ctx.Done():
		return ctx.Err()
	case <-g.closed:
		return ErrClosed()
	}
}

// begin counts a run that has its turn, unless the gate was closed meanwhile.
func (g *Gate) begin() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.IsOpen() {
		<-g.turns.slots
		return ErrClosed()
	}
	g.running++
	return nil
}

// Leave ends a turn.
func (g *Gate) Leave() {
	<-g.turns.slots
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.running--; g.running == 0 {
		g.gone.Broadcast()
	}
}

// Running is how many of this gate have their turn.
func (g *Gate) Running() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.running
}

// Busy is Running for who only looks: none when the gate is closed.
func (g *Gate) Busy() int {
	if !g.IsOpen() {
		return 0
	}
	return g.Running()
}

// Patience is how long a run may keep a processor to itself while it looks for
// its result: none when others could use it.
func (g *Gate) Patience() time.Duration {
	if len(g.turns.slots) > 1 || runtime.NumCPU() == 1 {
		return 0
	}
	return maxPatience
}

// Close turns away everybody who comes or waits, and returns when the last
// run has left.
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
