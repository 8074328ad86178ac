package process

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

// gate bounds the runs under way and those that wait for their turn.
type gate struct {
	slots  chan struct{} // one token for each run under way
	queue  int
	closed chan struct{}

	mu      sync.Mutex
	waiting int
}

func newGate(concurrent, queue int) *gate {
	return &gate{slots: make(chan struct{}, concurrent), queue: queue, closed: make(chan struct{})}
}

// enter waits for a turn. What cannot be served soon is better told now: the
// queue is bounded too.
func (g *gate) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if g.open() {
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
		return errClosed()
	}
}

func (g *gate) leave() { <-g.slots }

// patience is how long a run may keep a processor to itself while it looks for
// its result: none when others could use it.
func (g *gate) patience() time.Duration {
	if len(g.slots) > 1 || runtime.NumCPU() == 1 {
		return 0
	}
	return maxPatience
}

// close turns away everybody who comes or waits, and returns when the last
// run has left.
func (g *gate) close() {
	close(g.closed)
	for range cap(g.slots) {
		g.slots <- struct{}{} // taken for good
	}
}

func (g *gate) open() bool {
	select {
	case <-g.closed:
		return false
	default:
		return true
	}
}

func (g *gate) enqueue() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.open() {
		return errClosed()
	}
	if g.waiting >= g.queue {
		return run.Errorf(run.Busy, "%d runs are waiting already; try again later", g.waiting)
	}
	g.waiting++
	return nil
}

func (g *gate) dequeue() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting--
}

func errClosed() error { return run.Wrap(run.Closed, errors.New("the Runner is closed")) }
