// Package hook keeps workers for one script and gives one to each call. Workers serve
// call after call (the `hook` tier), or serve one call each and are opened ahead of it.
// The caller's Start function makes the workers and their walls.
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

// Call is one call. It names a function, or runs the whole script.
type Call struct {
	Function  string
	Arguments []Argument
}

// Argument is a JSON value. Its name is used in errors.
type Argument = wire.Field

// Worker serves the calls of one hook, one at a time.
type Worker interface {
	// Call returns the guest's end as a Result, and whether the worker can serve another
	// call. An error that wraps backend.ErrNotStarted means that no guest code ran.
	Call(ctx context.Context, call Call) (result run.Result, reusable bool, err error)
	Close()
}

const (
	// idleFor is how long an idle worker is kept. If workers serve many calls, the last
	// one of a hook stays.
	idleFor = 30 * time.Second
	// maxAttempts is how many workers may die before one call starts, not counting those
	// that were idle when it came: these may all have died with their common fork
	// server.
	maxAttempts = 5
)

// Options configure the workers of a hook.
type Options struct {
	// Start opens the hook in a new worker.
	Start func(context.Context) (Worker, error)
	// MaxWorkers bounds the workers: idle, busy and starting.
	MaxWorkers int
	// Ahead is for workers that serve one call each. It is nil for workers that
	// serve many.
	Ahead *Ahead
	// OnClose, if not nil, is called after the hook was closed.
	OnClose func()
}

// Hook is one script with its workers. Workers are started as calls need them, and a lost
// one is replaced before the next call.
type Hook struct {
	Options

	mu      sync.Mutex
	idle    []resting // the most recently used is last
	total   int       // workers: idle, busy and starting
	coming  int       // workers that are starting ahead of a call
	waiting []chan handover
	shrink  *time.Timer // nil if no worker is due to be closed
	closed  bool

	ctx      context.Context // of starting workers
	stop     context.CancelFunc
	starting sync.WaitGroup
	calls    sync.WaitGroup
}

// resting is an idle worker.
type resting struct {
	Worker
	since time.Time
}

// handover is what a waiting call receives.
type handover struct {
	worker Worker
	err    error
}

// New returns a hook with its first worker.
func New(first Worker, options Options) *Hook {
	h := &Hook{Options: options, total: 1}
	h.ctx, h.stop = context.WithCancel(context.Background())
	h.mu.Lock()
	defer h.mu.Unlock()
	h.restLocked(first, h.Ahead.reserve())
	return h
}

// Call runs one call in a worker that no other call uses meanwhile.
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

// take returns an idle worker, or waits for one that starts or is given back. Then the
// call counts as running. Few calls wait here: the Runner's queue admits no more than
// MaxWorkers at a time.
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

// leave stops waiting, and gives back what was handed over meanwhile.
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

// growLocked starts a worker for a waiting call, unless MaxWorkers are there.
func (h *Hook) growLocked() {
	if h.total < h.MaxWorkers && !h.closed {
		h.startLocked(false)
	}
}

// startLocked starts a worker in a goroutine: ahead of calls, with a reserved slot, or
// for a waiting call.
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
			h.growLocked() // a call that came meanwhile only gets its own failures
		}
	})
}

// refillLocked starts the successors of workers that serve one call each. It is called
// when a call has ended, so that they do not compete with it for a CPU.
func (h *Hook) refillLocked() {
	for !h.closed && len(h.idle)+h.coming < h.Ahead.perHook() && h.total < h.MaxWorkers && h.Ahead.reserve() {
		h.startLocked(true)
	}
}

// handLocked hands a worker or an error to the first waiting call.
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

// give returns a worker that can serve another call.
func (h *Hook) give(w Worker) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.giveLocked(w, false)
}

// giveLocked passes a worker to a waiting call, or keeps it idle: in the slot that is
// reserved for it, or in another free one.
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

// restLocked keeps a worker idle, or closes it if there is no slot.
func (h *Hook) restLocked(w Worker, place bool) {
	if !place {
		w.Close()
		h.total--
		return
	}
	h.idle = append(h.idle, resting{w, time.Now()})
	h.planShrinkLocked()
}

// lose closes a useless worker, and starts another if the next call would have to wait.
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

// closeIdle closes the workers that were idle for long.
func (h *Hook) closeIdle() {
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

// kept is how many workers stay without calls.
func (h *Hook) kept() int {
	if h.Ahead != nil {
		return 0
	}
	return 1
}

func (h *Hook) planShrinkLocked() {
	if !h.closed && len(h.idle) > h.kept() && h.shrink == nil {
		h.shrink = time.AfterFunc(idleFor, h.closeIdle)
	}
}

// Workers returns the number of workers: idle, busy and starting.
func (h *Hook) Workers() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.total
}

// Idle returns the number of idle workers.
func (h *Hook) Idle() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.idle)
}

// Close waits for the running calls, rejects the waiting ones, and closes all workers.
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
