// Package hook is the `hook` tier: it keeps workers for one script, and gives
// each call one of them. Where workers come from, and what walls they have, is
// their maker's business.
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
	// idleFor is after how much time a worker that nobody needs is let go. The
	// last one stays.
	idleFor = 30 * time.Second
	// maxWaiting is how many calls may wait for a worker.
	maxWaiting = 4096
	// maxAttempts is how many workers may die under one call before it starts.
	maxAttempts = 5
)

// Hook is one script with its workers. They come with the calls that need them,
// and a lost one is replaced before the next call asks.
type Hook struct {
	start  func(context.Context) (Worker, error)
	most   int
	onStop func()

	mu      sync.Mutex
	idle    []resting // the one used last at the end
	total   int       // of the workers: idle, busy and starting
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

// New gives a hook with its first worker, up to a number of them, and what to
// call when it is closed.
func New(first Worker, most int, start func(context.Context) (Worker, error), onClose func()) *Hook {
	h := &Hook{start: start, most: most, onStop: onClose, idle: []resting{{first, time.Now()}}, total: 1}
	h.ctx, h.stop = context.WithCancel(context.Background())
	return h
}

// Call runs one call in a worker of its own.
func (h *Hook) Call(ctx context.Context, call Call) (run.Result, error) {
	if err := ctx.Err(); err != nil {
		return run.Result{}, err
	}
	for left := maxAttempts; ; left-- {
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

// growLocked starts a worker, unless there are as many as there may be.
func (h *Hook) growLocked() {
	if h.total >= h.most || h.closed {
		return
	}
	h.total++
	h.starting.Go(func() {
		w, err := h.start(h.ctx)
		if err == nil {
			h.give(w)
			return
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.total--
		h.handLocked(handover{err: err})
	})
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

// give takes a worker back, or in, and passes it on to one who waits.
func (h *Hook) give(w Worker) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		w.Close()
		h.total--
		return
	}
	if h.handLocked(handover{worker: w}) {
		return
	}
	h.idle = append(h.idle, resting{w, time.Now()})
	if len(h.idle) > 1 && h.shrink == nil {
		h.shrink = time.AfterFunc(idleFor, h.letGo)
	}
}

// lose closes a worker that is of no more use, and has another start if the
// next call would have to wait for it.
func (h *Hook) lose(w Worker) {
	w.Close()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.total--
	if len(h.waiting) > 0 || len(h.idle) == 0 {
		h.growLocked()
	}
}

// letGo closes the workers that nobody has needed for a while.
func (h *Hook) letGo() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.shrink = nil
	if h.closed {
		return
	}
	for len(h.idle) > 1 && time.Since(h.idle[0].since) >= idleFor {
		h.idle[0].Close()
		h.idle = slices.Delete(h.idle, 0, 1)
		h.total--
	}
	if len(h.idle) > 1 {
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
	h.idle = nil
	h.mu.Unlock()
	h.stop()
	h.starting.Wait()
	h.calls.Wait()
	if h.onStop != nil {
		h.onStop()
	}
}

func errClosed() error { return run.Wrap(run.Closed, errors.New("the hook is closed")) }
