// Package openhooks keeps the hooks that callers of a frontend have opened, by their ids,
// and defines the calls of a hook. HTTP and JSON lines share it.
package openhooks

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"github.com/cordon-sandbox/cordon/run"
)

// Hook is what a table needs of a *cordon.Hook.
type Hook interface {
	Call(ctx context.Context, state, config any) (run.Result, error)
	CallFunction(ctx context.Context, name string, args ...any) (run.Result, error)
	Close() error
}

// Options bound a table.
type Options struct {
	// PerOwner bounds the hooks that one owner has open: each keeps workers.
	PerOwner int
	// Evict closes the owner's least recently called hook to make room for a new one.
	// Without it, a new one is refused as busy.
	Evict bool
	// Idle is how long a hook is kept that nobody calls: its owner may have gone without
	// closing it. Zero keeps hooks until they are closed.
	Idle time.Duration
	// NewID makes the ids; nil means random ones, which other callers cannot guess.
	NewID func() string
}

// Table holds open hooks. It is safe for concurrent use, and must be closed.
type Table struct {
	options Options

	mu      sync.Mutex
	open    map[string]*Open
	held    map[string]int // by owner: hooks that are open, or about to be
	uses    uint64         // counts uses, to find the least recent one
	closing sync.WaitGroup // hooks that the table closes by itself
	failed  error          // why the first of those could not be closed
}

// Open is a hook in a table. Its unexported fields belong to the table's lock.
type Open struct {
	Hook
	Script string // for observers

	id, owner string
	calls     int           // under way
	quiet     chan struct{} // made when it is removed, closed when no call is under way
	called    time.Time     // last
	use       uint64        // last, by the table's count
	idle      *time.Timer   // nil if hooks do not expire
}

// NewTable returns an empty table.
func NewTable(o Options) *Table {
	if o.NewID == nil {
		o.NewID = rand.Text
	}
	return &Table{options: o, open: map[string]*Open{}, held: map[string]int{}}
}

// Reserve counts a hook that is about to be opened. The caller adds it, or releases the
// reservation.
func (t *Table) Reserve(owner string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := t.held[owner]; n >= t.options.PerOwner && !t.options.Evict {
		return run.Errorf(run.Busy, "%d hooks are open: close one first", n)
	}
	t.held[owner]++
	return nil
}

// Release gives a reservation back.
func (t *Table) Release(owner string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.countOut(owner)
}

func (t *Table) countOut(owner string) {
	if t.held[owner]--; t.held[owner] == 0 {
		delete(t.held, owner)
	}
}

// Add adds a hook for which there is a reservation, and returns its id.
func (t *Table) Add(owner, script string, h Hook) (id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.options.Evict {
		t.makeRoom(owner)
	}
	one := &Open{Hook: h, Script: script, id: t.options.NewID(), owner: owner, called: time.Now()}
	t.count(one)
	if t.options.Idle > 0 {
		one.idle = time.AfterFunc(t.options.Idle, func() { t.expire(one) })
	}
	t.open[one.id] = one
	return one.id
}

// makeRoom closes the owner's least recently called hook if there are too many. It
// does not wait: the hook closes in the background, after its running calls.
func (t *Table) makeRoom(owner string) {
	var oldest *Open
	n := 0
	for _, one := range t.open {
		if one.owner != owner {
			continue
		}
		if n++; oldest == nil || one.use < oldest.use {
			oldest = one
		}
	}
	if n < t.options.PerOwner {
		return
	}
	t.remove(oldest)
	t.closing.Go(func() {
		<-oldest.quiet
		t.closeOne(oldest)
	})
}

func (t *Table) count(one *Open) {
	t.uses++
	one.use = t.uses
}

// Use returns a hook that stays open until Done is called with it.
func (t *Table) Use(owner, id string) (*Open, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	one, err := t.find(owner, id)
	if err != nil {
		return nil, err
	}
	t.count(one)
	one.calls++
	if one.idle != nil {
		one.idle.Stop()
	}
	return one, nil
}

// Done ends a Use.
func (t *Table) Done(one *Open) {
	t.mu.Lock()
	defer t.mu.Unlock()
	one.calls--
	one.called = time.Now()
	switch {
	case one.calls > 0:
	case one.quiet != nil:
		close(one.quiet)
	case one.idle != nil:
		one.idle.Reset(t.options.Idle)
	}
}

// CloseHook closes a hook after the calls under way. No new call begins.
func (t *Table) CloseHook(owner, id string) error {
	t.mu.Lock()
	one, err := t.find(owner, id)
	if err != nil {
		t.mu.Unlock()
		return err
	}
	t.remove(one)
	t.mu.Unlock()
	<-one.quiet
	return one.Close()
}

func (t *Table) remove(one *Open) {
	delete(t.open, one.id)
	t.countOut(one.owner)
	if one.idle != nil {
		one.idle.Stop()
	}
	if one.quiet = make(chan struct{}); one.calls == 0 {
		close(one.quiet)
	}
}

// find answers for another owner's hook as for one that does not exist.
func (t *Table) find(owner, id string) (*Open, error) {
	one := t.open[id]
	switch {
	case one != nil && one.owner == owner:
		return one, nil
	case t.options.Evict:
		return nil, run.Errorf(run.Unknown, "no hook has the id %q: it was never opened here, is closed, or %d others have been called since", id, t.options.PerOwner)
	}
	return nil, run.Errorf(run.Unknown, "no hook has the id %q: it was never opened here, or is closed", id)
}

// expire closes a hook that nobody calls. Its timer may have fired at the same time as a
// call began, or as another goroutine removed it.
func (t *Table) expire(one *Open) {
	t.mu.Lock()
	if t.open[one.id] != one || one.calls > 0 || time.Since(one.called) < t.options.Idle {
		t.mu.Unlock()
		return
	}
	t.remove(one)
	t.closing.Add(1)
	t.mu.Unlock()
	defer t.closing.Done()
	t.closeOne(one)
}

func (t *Table) closeOne(one *Open) {
	if err := one.Close(); err != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.failed == nil {
			t.failed = err
		}
	}
}

// Len returns the number of open hooks.
func (t *Table) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.open)
}

// Close closes all hooks. Nothing may be called or opened any more.
func (t *Table) Close() error {
	t.mu.Lock()
	var all []*Open
	for _, one := range t.open {
		all = append(all, one)
		t.remove(one)
	}
	t.mu.Unlock()
	t.closing.Wait()
	errs := []error{t.failed}
	for _, one := range all {
		errs = append(errs, one.Close())
	}
	return errors.Join(errs...)
}
