package backend

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"github.com/cordon-sandbox/cordon/run"
)

// maxPatience covers the shortest scripts; to wake a processor that sleeps
// takes about a quarter of it.
const maxPatience = 600 * time.Microsecond

// Gate bounds the runs under way and those that wait for their turn.
type Gate struct {
	slots  chan struct{} // one token for each run under way
	queue  int
	closed chan struct{}

	mu      sync.Mutex
	waiting int
}

// NewGate lets so many run at once, and so many wait.
func NewGate(concurrent, queue int) *Gate {
	return &Gate{slots: make(chan struct{}, concurrent), queue: queue, closed: make(chan struct{})}
}

// Enter waits for a turn. What cannot be served soon is better told now: the
// queue is bounded too.
func (g *Gate) Enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if g.IsOpen() {
		select { // at once, as a rule
		case g.slots <- struct{}{}:
			return nil
		default:
		}
	}
	if err := g.enqueue(); err != nil {
		return err
	}
	defer g.dequeue()
	select {
	case g.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-g.closed:
		return ErrClosed()
	}
}

// Leave ends a turn.
func (g *Gate) Leave() { <-g.slots }

// Running is how many have their turn.
func (g *Gate) Running() int { return len(g.slots) }

// Busy is Running for who only looks: none when the gate is closed, and all turns are
// taken for good.
func (g *Gate) Busy() int {
	if !g.IsOpen() {
		return 0
	}
	return g.Running()
}

// Patience is how long a run may keep a processor to itself while it looks for
// its result: none when others could use it.
func (g *Gate) Patience() time.Duration {
	if len(g.slots) > 1 || runtime.NumCPU() == 1 {
		return 0
	}
	return maxPatience
}

// Close turns away everybody who comes or waits, and returns when the last
// run has left.
func (g *Gate) Close() {
	close(g.closed)
	for range cap(g.slots) {
		g.slots <- struct{}{} // taken for good
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

func (g *Gate) enqueue() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.IsOpen() {
		return ErrClosed()
	}
	if g.waiting >= g.queue {
		return run.Errorf(run.Busy, "%d runs are waiting already; try again later", g.waiting)
	}
	g.waiting++
	return nil
}

func (g *Gate) dequeue() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting--
}

// ErrClosed says so.
func ErrClosed() error { return run.Wrap(run.Closed, errors.New("the Runner is closed")) }
