// Package opened keeps what the callers of a frontend have opened, by ids: hooks and sessions.
package opened

import (
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/cordon-sandbox/cordon/run"
)

// Closer is what a table needs of what it holds.
type Closer interface{ Close() error }

// Options bound a table.
type Options struct {
	// Kind is what it holds, for messages: "hook".
	Kind string
	// PerOwner bounds what one owner has open: each keeps workers.
	PerOwner int
	// Evict closes the owner's least recently used one to make room for a new one.
	// Without it, a new one is refused as busy.
	Evict bool
	// Idle is how long one is kept that nobody uses: its owner may have gone without
	// closing it. Zero keeps it until it is closed.
	Idle time.Duration
	// Remember keeps the reasons why some ended by themselves, for later uses of their ids.
	// Without it, their ids are unknown: they can be opened again without loss.
	Remember bool
	// CloseBusy closes one at once that its owner closes. Without it, the calls under way end
	// first.
	CloseBusy bool
	// NewID makes the ids; nil means random ones, which other callers cannot guess.
	NewID func() string
}

// Table holds what is open. It is safe for concurrent use, and must be closed.
type Table[T Closer] struct {
	options Options

	mu      sync.Mutex
	open    map[string]*Open[T]
	held    map[string]int // by owner: what is open, or about to be
	gone    Graves
	uses    uint64         // counts uses, to find the least recent one
	closing sync.WaitGroup // of those that the table closes by itself
	failed  error          // why the first of those could not be closed
}

// Open is one in a table. Its unexported fields belong to the table's lock.
type Open[T Closer] struct {
	Held   T
	Script string // for observers

	id, owner string
	made      time.Time
	calls     int           // under way
	quiet     chan struct{} // made when it is removed, closed when no call is under way
	called    time.Time     // last
	use       uint64        // last, by the table's count
	idle      *time.Timer   // nil if none expires
}

// NewTable returns an empty table.
func NewTable[T Closer](o Options) *Table[T] {
	if o.NewID == nil {
		o.NewID = rand.Text
	}
	return &Table[T]{options: o, open: map[string]*Open[T]{}, held: map[string]int{}}
}

// Reserve counts one that is about to be opened. The caller adds it, or releases the
// reservation.
func (t *Table[T]) Reserve(owner string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := t.held[owner]; n >= t.options.PerOwner && !t.options.Evict {
		return run.Errorf(run.Busy, "%d %ss are open: close one first", n, t.options.Kind)
	}
	t.held[owner]++
	return nil
}

// Release gives a reservation back.
func (t *Table[T]) Release(owner string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.countOut(owner)
}

func (t *Table[T]) countOut(owner string) {
	if t.held[owner]--; t.held[owner] == 0 {
		delete(t.held, owner)
	}
}

// Add adds one for which there is a reservation, and returns its id.
func (t *Table[T]) Add(owner, script string, held T) (id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.options.Evict {
		t.makeRoom(owner)
	}
	now := time.Now()
	one := &Open[T]{Held: held, Script: script, id: t.options.NewID(), owner: owner, made: now, called: now}
	t.count(one)
	if t.options.Idle > 0 {
		one.idle = time.AfterFunc(t.options.Idle, func() { t.expire(one) })
	}
	t.open[one.id] = one
	return one.id
}

// makeRoom closes the owner's least recently used one if there are too many. It does not
// wait: that one closes in the background, after its running calls.
func (t *Table[T]) makeRoom(owner string) {
	var oldest *Open[T]
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

func (t *Table[T]) count(one *Open[T]) {
	t.uses++
	one.use = t.uses
}

// Use returns one that stays open until Done is called with it.
func (t *Table[T]) Use(owner, id string) (*Open[T], error) {
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
func (t *Table[T]) Done(one *Open[T]) {
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

// CloseOne closes one for its owner. No new call begins.
func (t *Table[T]) CloseOne(owner, id string) error {
	t.mu.Lock()
	one, err := t.find(owner, id)
	if err != nil {
		t.mu.Unlock()
		return err
	}
	t.remove(one)
	t.mu.Unlock()
	if !t.options.CloseBusy {
		<-one.quiet
	}
	return one.Held.Close()
}

func (t *Table[T]) remove(one *Open[T]) {
	delete(t.open, one.id)
	t.countOut(one.owner)
	if one.idle != nil {
		one.idle.Stop()
	}
	if one.quiet = make(chan struct{}); one.calls == 0 {
		close(one.quiet)
	}
}

// End removes and closes one that ended by itself, and remembers why, for later uses of its
// id. Its caller uses it.
func (t *Table[T]) End(one *Open[T], why string) {
	t.mu.Lock()
	if t.open[one.id] == one {
		t.remove(one)
		t.bury(one, why)
	}
	t.mu.Unlock()
	_ = one.Held.Close() // it has ended already
}

// EndIfGone ends one whose use failed because it is gone. Its caller uses it.
func (t *Table[T]) EndIfGone(one *Open[T], err error) {
	if run.ClassOf(err) == run.Gone {
		t.End(one, err.Error())
	}
}

func (t *Table[T]) bury(one *Open[T], why string) {
	if t.options.Remember {
		t.gone.Bury(one.owner, one.id, why)
	}
}

// find answers for what another owner has opened as for what does not exist.
func (t *Table[T]) find(owner, id string) (*Open[T], error) {
	if one := t.open[id]; one != nil && one.owner == owner {
		return one, nil
	}
	if err := t.gone.Find(t.options.Kind, owner, id); err != nil {
		return nil, err
	}
	if t.options.Evict {
		return nil, run.Errorf(run.Unknown, "no %s has the id %q: it was never opened here, is closed, or %d others have been called since", t.options.Kind, id, t.options.PerOwner)
	}
	return nil, run.Errorf(run.Unknown, "no %s has the id %q: it was never opened here, or is closed", t.options.Kind, id)
}

// Info describes one to its owner.
type Info struct {
	ID         string
	Made, Used time.Time
	Busy       bool
}

func (o *Open[T]) info() Info { return Info{o.id, o.made, o.called, o.calls > 0} }

// Info describes one of an owner's.
func (t *Table[T]) Info(owner, id string) (Info, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	one, err := t.find(owner, id)
	if err != nil {
		return Info{}, err
	}
	return one.info(), nil
}

// List describes what an owner has open, the oldest first.
func (t *Table[T]) List(owner string) (list []Info) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, one := range t.open {
		if one.owner == owner {
			list = append(list, one.info())
		}
	}
	slices.SortFunc(list, func(a, b Info) int { return a.Made.Compare(b.Made) })
	return list
}

// expire closes one that nobody uses. Its timer may have fired at the same time as a
// call began, or as another goroutine removed it.
func (t *Table[T]) expire(one *Open[T]) {
	t.mu.Lock()
	if t.open[one.id] != one || one.calls > 0 || time.Since(one.called) < t.options.Idle {
		t.mu.Unlock()
		return
	}
	t.remove(one)
	t.bury(one, fmt.Sprintf("nobody used it for %v", t.options.Idle))
	t.closing.Add(1)
	t.mu.Unlock()
	defer t.closing.Done()
	t.closeOne(one)
}

func (t *Table[T]) closeOne(one *Open[T]) {
	if err := one.Held.Close(); err != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.failed == nil {
			t.failed = err
		}
	}
}

// Len returns how many are open.
func (t *Table[T]) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.open)
}

// Close closes all of them. Nothing may be used or opened any more.
func (t *Table[T]) Close() error {
	t.mu.Lock()
	var all []*Open[T]
	for _, one := range t.open {
		all = append(all, one)
		t.remove(one)
	}
	t.mu.Unlock()
	t.closing.Wait()
	errs := []error{t.failed}
	for _, one := range all {
		errs = append(errs, one.Held.Close())
	}
	return errors.Join(errs...)
}
