// Package hook keeps workers for one script, and gives each call one of them:
// workers that serve call after call (the `hook` tier), or workers that serve one
// call each and were opened ahead of it. Where workers come from, and what walls
// they have, is their maker's business.
package hook

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/internal/wire"
	"github.com/cordon-sandbox/cordon/run"
)

// Call is one call: of a function by its name, or of the script as a whole.
type Call struct {
	Function  string
	Arguments []Argument
}

// Argument is a JSON value. Its name is for errors.
type Argument = wire.Field

// Worker serves the calls of one hook, one at a time.
type Worker interface {
	// Call gives the guest's end as a Result, and says whether the worker can
	// serve another. backend.ErrNotStarted among the causes of an error says
	// that no guest code ran.
	Call(ctx context.Context, call Call) (result run.Result, reusable bool, err error)
	Close()
}

const (
	// idleFor is after how much time a worker that nobody needs is closed. The last
	// one of a hook whose workers serve many calls stays.
	idleFor = 30 * time.Second
	// maxWaiting is how many calls may wait for a worker.
	maxWaiting = 4096
	// maxAttempts is how many workers may die under one call before it starts, beside
	// those that rest when it comes: they may all be dead, with the fork server that
	// they had in common.
	maxAttempts = 5
)

// Options say how a hook keeps its workers.
type Options struct {
	// Start opens the hook in a new worker.
	Start func(context.Context) (Worker, error)
	// Most is how many workers there may be: idle, busy and starting.
	Most int
	// Ahead is for workers that serve one call each. It is nil for workers that
	// serve many.
	Ahead *Ahead
	// OnClose, if there is one, is called when the hook was closed.
	OnClose func()
}

// Hook is one script with its workers. They come with the calls that need them,
// and a lost one is replaced before the next call asks.
type Hook struct {
	Options

	mu      sync.Mutex
	idle    []resting // the one used last at the end
	total   int       // of the workers: idle, busy and starting
	coming  int       // of those that start: ahead of a call
	waiting []chan handover
	shrink  *time.Timer // nil when none is to be let go
	closed  bool

	ctx      context.Context // of the workers that start
	stop     context.CancelFunc
	starting sync.WaitGroup
	calls    sync.WaitGroup
}

// resting is an idle worker.
type resting struct {
	Worker
	since time.Time
}

// handover is what one who waits gets.
type handover struct {
	worker Worker
	err    error
}

// New gives a hook with its first worker.
func New(first Worker, options Options) *Hook {
	h := &Hook{Options: options, total: 1}
	h.ctx, h.stop = context.WithCancel(context.Background())
	h.mu.Lock()
	defer h.mu.Unlock()
	h.restLocked(first, h.Ahead.reserve())
	return h
}

// Call runs one call in a worker of its own.
func (h *Hook) Call(ctx context.Context, call Call) (run.Result, error) {
	if err := ctx.Err(); err != nil {
		return run.Result{}, err
	}
	for left := h.Idle() + maxAttempts; ; left-- {
		inside, end := observe.Begin(ctx, observe.Lease)
		w, err := h.take(inside)
		end(err)
		if err != nil {
			return run.Result{}, err
		}
		inside, end = observe.Begin(ctx, observe.Guest)
		result, reusable, err := w.Call(inside, call)
		end(err)
		if reusable {
			h.give(w)
		} else {
			h.lose(w)
		}
		h.calls.Done()
		if !errors.Is(err, backend.ErrNotStarted) || left == 1 || ctx.Err() != nil {
			return result, err
		}
	}
}

// take gives a worker that is idle, or waits for the next one: that starts, or
// that somebody gives back. The call is under way then.
func (h *Hook) take(ctx context.Context) (Worker, error) {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil, errClosed()
	}
	if last := len(h.idle) - 1; last >= 0 {
		w := h.idle[last].Worker
		h.idle = h.idle[:last]
		h.Ahead.release(1)
		h.calls.Add(1)
		h.mu.Unlock()
		return w, nil
	}
	if len(h.waiting) >= maxWaiting {
		h.mu.Unlock()
		return nil, run.Errorf(run.Busy, "%d calls of the hook are waiting already; try again later", maxWaiting)
	}
	turn := make(chan handover, 1)
	h.waiting = append(h.waiting, turn)
	h.growLocked()
	h.mu.Unlock()
	select {
	case got := <-turn:
		return got.worker, got.err
	case <-ctx.Done():
		h.leave(turn)
		return nil, ctx.Err()
	}
}

// leave gives up waiting; what was handed over meanwhile is given back.
func (h *Hook) leave(turn chan handover) {
	h.mu.Lock()
	i := slices.Index(h.waiting, turn)
	if i >= 0 {
		h.waiting = slices.Delete(h.waiting, i, i+1)
	}
	h.mu.Unlock()
	if i >= 0 {
		return
	}
	if got := <-turn; got.worker != nil {
		h.give(got.worker)
		h.calls.Done()
	}
}

// growLocked starts a worker for a call that waits, unless there are as many as
// there may be.
func (h *Hook) growLocked() {
	if h.total < h.Most && !h.closed {
		h.startLocked(false)
	}
}

// startLocked starts a worker, in a goroutine: ahead of any call, with a place that
// is reserved for it, or for a call that waits.
func (h *Hook) startLocked(ahead bool) {
	h.total++
	if ahead {
		h.coming++
	}
	h.starting.Go(func() {
		w, err := h.Start(h.ctx)
		h.mu.Lock()
		defer h.mu.Unlock()
		if ahead {
			h.coming--
		}
		if err == nil {
			h.giveLocked(w, ahead)
			return
		}
		h.total--
		if !ahead {
			h.handLocked(handover{err: err})
			return
		}
		h.Ahead.release(1)
		if len(h.waiting) > 0 {
			h.growLocked() // a call that came meanwhile hears of its own failures alone
		}
	})
}

// refillLocked orders the successors of workers that serve one call each. It is
// called when a call is over, so that they do not compete with it for a processor.
func (h *Hook) refillLocked() {
	for !h.closed && len(h.idle)+h.coming < h.Ahead.perHook() && h.total < h.Most && h.Ahead.reserve() {
		h.startLocked(true)
	}
}

// handLocked gives the first who waits what he waits for.
func (h *Hook) handLocked(what handover) bool {
	if len(h.waiting) == 0 {
		return false
	}
	turn := h.waiting[0]
	h.waiting = slices.Delete(h.waiting, 0, 1)
	if what.worker != nil {
		h.calls.Add(1)
	}
	turn <- what
	return true
}

// give takes back a worker that can serve another call.
func (h *Hook) give(w Worker) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.giveLocked(w, false)
}

// giveLocked passes a worker on to a call that waits, or lets it rest: in the place
// that is reserved for it, or in another if there is one.
func (h *Hook) giveLocked(w Worker, reserved bool) {
	switch {
	case h.closed:
		h.restLocked(w, false)
	case h.handLocked(handover{worker: w}):
	default:
		h.restLocked(w, reserved || h.Ahead.reserve())
		return
	}
	if reserved {
		h.Ahead.release(1)
	}
}

// restLocked has a worker wait for a call, or closes it if there is no place.
func (h *Hook) restLocked(w Worker, place bool) {
	if !place {
		w.Close()
		h.total--
		return
	}
	h.idle = append(h.idle, resting{w, time.Now()})
	h.planShrinkLocked()
}

// lose closes a worker that is of no more use, and starts another if the next
// call would have to wait for it.
func (h *Hook) lose(w Worker) {
	w.Close()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.total--
	switch {
	case len(h.waiting) > 0:
		h.growLocked()
	case h.Ahead != nil:
		h.refillLocked()
	case len(h.idle) == 0:
		h.growLocked()
	}
}

// letGo closes the workers that nobody has needed for a while.
func (h *Hook) letGo() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.shrink = nil
	for !h.closed && len(h.idle) > h.kept() && time.Since(h.idle[0].since) >= idleFor {
		h.idle[0].Close()
		h.idle = slices.Delete(h.idle, 0, 1)
		h.Ahead.release(1)
		h.total--
	}
	h.planShrinkLocked()
}

// kept is how many workers stay, however long nobody calls.
func (h *Hook) kept() int {
	if h.Ahead != nil {
		return 0
	}
	return 1
}

func (h *Hook) planShrinkLocked() {
	if !h.closed && len(h.idle) > h.kept() && h.shrink == nil {
		h.shrink = time.AfterFunc(idleFor, h.letGo)
	}
}

// Workers is how many there are: idle, busy and starting.
func (h *Hook) Workers() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.total
}

// Idle is how many workers wait for a call.
func (h *Hook) Idle() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.idle)
}

// Close waits for the calls under way, turns away those that wait, and lets go
// of all workers.
func (h *Hook) Close() {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return
	}
	h.closed = true
	if h.shrink != nil {
		h.shrink.Stop()
	}
	for h.handLocked(handover{err: errClosed()}) {
		continue
	}
	for _, w := range h.idle {
		w.Close()
	}
	h.Ahead.release(len(h.idle))
	h.idle = nil
	h.mu.Unlock()
	h.stop()
	h.starting.Wait()
	h.calls.Wait()
	if h.OnClose != nil {
		h.OnClose()
	}
}

func errClosed() error { return run.Wrap(run.Closed, errors.New("the hook is closed")) }
