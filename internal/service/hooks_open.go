package service

import (
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"github.com/cordon-sandbox/cordon/run"
)

const (
	// mostHooks bounds those that one caller has open: each keeps workers.
	mostHooks = 32
	// mostWorkers bounds those that one hook may ask for.
	mostWorkers = 64
	// idleHook is how long a hook is kept that nobody calls. Who has opened it may have
	// gone without a word.
	idleHook = 10 * time.Minute
)

// hooks are those that are open, by their ids. The zero value is empty.
type hooks struct {
	mu       sync.Mutex
	open     map[string]*opened
	held     map[string]int // by owner: those that are open, or about to be
	expiring sync.WaitGroup // those that are being closed because nobody called them
	failed   error          // why the first of those could not be
}

// opened is a hook, and whose it is. The rest of it is for who has the lock.
type opened struct {
	Hook
	id, owner, script string

	under  int           // calls under way
	quiet  chan struct{} // made when it is taken, closed when no call is under way
	called time.Time     // last
	idle   *time.Timer
}

// reserve counts a hook that is about to be opened.
func (h *hooks) reserve(owner string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n := h.held[owner]; n >= mostHooks {
		return run.Errorf(run.Busy, "%d hooks are open: close one first", n)
	}
	if h.held == nil {
		h.held = map[string]int{}
	}
	h.held[owner]++
	return nil
}

// release counts one out again.
func (h *hooks) release(owner string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.countOut(owner)
}

func (h *hooks) countOut(owner string) {
	if h.held[owner]--; h.held[owner] == 0 {
		delete(h.held, owner)
	}
}

// add makes a hook known for which there is a reservation.
func (h *hooks) add(one *opened) (id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open == nil {
		h.open = map[string]*opened{}
	}
	one.id, one.called = rand.Text(), time.Now()
	one.idle = time.AfterFunc(idleHook, func() { h.expire(one) })
	h.open[one.id] = one
	return one.id
}

// use gives a hook that will not be closed before done is called with it.
func (h *hooks) use(owner, id string) (*opened, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	one, err := h.find(owner, id)
	if err != nil {
		return nil, err
	}
	one.under++
	one.idle.Stop()
	return one, nil
}

func (h *hooks) done(one *opened) {
	h.mu.Lock()
	defer h.mu.Unlock()
	one.under--
	one.called = time.Now()
	switch {
	case one.under > 0:
	case one.quiet != nil:
		close(one.quiet)
	default:
		one.idle.Reset(idleHook)
	}
}

// take gives a hook that nobody else will be given any more. It may be closed when it is
// quiet.
func (h *hooks) take(owner, id string) (*opened, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	one, err := h.find(owner, id)
	if err == nil {
		h.remove(one)
	}
	return one, err
}

func (h *hooks) remove(one *opened) {
	delete(h.open, one.id)
	h.countOut(one.owner)
	one.idle.Stop()
	if one.quiet = make(chan struct{}); one.under == 0 {
		close(one.quiet)
	}
}

// find: somebody else's hook is as unknown as one that does not exist.
func (h *hooks) find(owner, id string) (*opened, error) {
	if one := h.open[id]; one != nil && one.owner == owner {
		return one, nil
	}
	return nil, run.Errorf(run.Unknown, "no hook has the id %q: it was never opened here, or is closed", id)
}

// expire closes a hook that nobody calls. Its timer may have gone off in the moment of a
// call, or of somebody else's closing it.
func (h *hooks) expire(one *opened) {
	h.mu.Lock()
	if h.open[one.id] != one || one.under > 0 || time.Since(one.called) < idleHook {
		h.mu.Unlock()
		return
	}
	h.remove(one)
	h.expiring.Add(1)
	h.mu.Unlock()

	defer h.expiring.Done()
	if err := one.Close(); err != nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.failed == nil {
			h.failed = err
		}
	}
}

// close lets go of all of them. Nothing is called or opened any more.
func (h *hooks) close() error {
	h.mu.Lock()
	var all []*opened
	for _, one := range h.open {
		all = append(all, one)
		h.remove(one)
	}
	h.mu.Unlock()
	h.expiring.Wait()
	errs := []error{h.failed}
	for _, one := range all {
		errs = append(errs, one.Close())
	}
	return errors.Join(errs...)
}
