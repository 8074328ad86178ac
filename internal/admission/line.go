// Package admission decides which requests run, wait or are refused, fairly between
// callers.
//
// A Runner has one Line, which every request enters once. Waiting callers get turns round
// robin, however many requests each has waiting; the requests of one caller keep their
// order. A caller that has reached a bound of its own does not delay the others. The
// package starts no goroutine: a request waits in its caller's, and a request that ends
// hands its turn on.
package admission

import (
	"container/list"
	"context"
	"sync"
	"time"

	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/run"
)

// Options bound all callers together.
type Options struct {
	Concurrent int // runs under way, at least one
	Queue      int // requests that wait; zero means that none may wait
}

// Stats count the requests of a line.
type Stats struct {
	Running int    // runs under way
	Waiting int    // requests that wait
	Refused uint64 // requests refused as Busy, since the start
}

// Line bounds the running and the waiting requests. It is safe for concurrent use.
type Line struct {
	options Options

	mu      sync.Mutex
	running int
	waiting int
	refused uint64
	callers callers
	ring    list.List     // of *caller: callers with waiting requests, the next turn first
	typical time.Duration // moving average of how long a turn takes; 0 if none has ended
	closed  error         // the error of requests after Close; nil before it
}

// NewLine returns an empty line.
func NewLine(o Options) *Line {
	o.Concurrent, o.Queue = max(o.Concurrent, 1), max(o.Queue, 0)
	return &Line{options: o, callers: callers{byName: map[string]*caller{}}}
}

// Bound limits the turns that requests for one resource have at the same time: calls of a
// hook have no more turns than it has workers. The others wait in the line, where they
// delay nobody. All requests with a Bound enter the same Line, which guards it.
type Bound struct{ most, running int }

// NewBound returns a Bound of most turns at the same time.
func NewBound(most int) *Bound { return &Bound{most: most} }

func (b *Bound) isFull() bool { return b != nil && b.running >= b.most }

func (b *Bound) add(turns int) {
	if b != nil {
		b.running += turns
	}
}

// Turn is the right to run, from Enter to Leave. One goroutine uses it; it is not copied.
type Turn struct {
	line  *Line
	of    *caller
	bound *Bound
	began time.Time // zero if it is not measured
}

// Leave ends the turn. Only the first call has an effect.
func (t *Turn) Leave() {
	if t.line == nil {
		return
	}
	t.line.leave(t.of, t.bound, t.began)
	t.line = nil
}

// waiter is a waiting request.
type waiter struct {
	of     *caller
	bound  *Bound
	place  *list.Element // in its caller's line; nil once it has its answer
	answer chan error    // receives one answer; nil means a turn
}

// Enter waits for a turn of the context's Caller; bound may be nil. A request that is
// refused gets an error of class run.Busy that wraps a *Busy; one whose context ends gets
// the error of ctx.
func (l *Line) Enter(ctx context.Context, bound *Bound) (Turn, error) {
	ctx, end := observe.Begin(ctx, observe.Queue)
	t, err := l.enter(ctx, bound)
	end(err)
	if err != nil {
		return Turn{}, err
	}
	if begins := callerOf(ctx).Begins; begins != nil {
		t.announce(begins)
	}
	return t, nil
}

func (l *Line) enter(ctx context.Context, bound *Bound) (Turn, error) {
	if err := ctx.Err(); err != nil {
		return Turn{}, err
	}
	who := callerOf(ctx)
	t := Turn{line: l, bound: bound}
	w, err := l.join(&t, who)
	if err != nil {
		return Turn{}, err
	}
	if w != nil {
		if who.Waits != nil {
			who.Waits()
		}
		if err := l.wait(ctx, w, who.Patience); err != nil {
			return Turn{}, err
		}
		t.began = time.Now()
	}
	return t, nil
}

// announce calls begins. If it panics, announce ends the turn, because nobody else could.
func (t *Turn) announce(begins func()) {
	returned := false
	defer func() {
		if !returned {
			t.Leave()
		}
	}()
	begins()
	returned = true
}

// join gives t a turn at once, or returns a waiter in the line.
func (l *Line) join(t *Turn, who *Caller) (*waiter, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed != nil {
		return nil, l.closed
	}
	c := l.callers.get(who.Name)
	defer l.callers.forget()
	t.of = c
	var now time.Time // only rates need it; other requests do not read the clock
	if who.Quota.Rate > 0 || c.quota.Rate > 0 {
		now = time.Now()
	}
	if c.apply(who.Quota, now) {
		l.handOn() // a larger quota may let a waiting request run
	}
	if wait := c.untilAllowed(now); wait > 0 {
		return nil, l.busy(wait, "%s may begin %.3g runs a second", who.Name, who.Quota.Rate)
	}
	// This overtakes nobody: requests that wait while there is room wait for a bound of
	// their caller or their resource, which this request has not reached.
	if l.running < l.options.Concurrent && c.mayRun() && !t.bound.isFull() {
		c.spend()
		l.begin(c, t.bound)
		if 2*l.running > l.options.Concurrent {
			t.began = time.Now() // estimates are for a line that may become full
		}
		return nil, nil
	}
	if l.waiting >= l.options.Queue && !l.makeRoom(c) {
		return nil, l.busy(l.estimate(c), "%d requests wait already", l.waiting)
	}
	c.spend()
	w := &waiter{of: c, bound: t.bound, answer: make(chan error, 1)}
	if w.place = c.waiting.PushBack(w); c.waiting.Len() == 1 {
		c.place = l.ring.PushBack(c)
	}
	l.waiting++
	return w, nil
}

// wait returns with an answer, when ctx ends, or when patience ends. No patience means
// that the request waits as long as ctx lasts.
func (l *Line) wait(ctx context.Context, w *waiter, patience time.Duration) error {
	var over <-chan time.Time
	if patience > 0 {
		timer := time.NewTimer(patience)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case err := <-w.answer:
		return err
	case <-ctx.Done():
		if !l.giveUp(w) {
			// The answer came at the same time. A turn goes to the next request.
			if err := <-w.answer; err != nil {
				return err
			}
			l.leave(w.of, w.bound, time.Time{})
		}
		return ctx.Err()
	case <-over:
		if !l.giveUp(w) {
			return <-w.answer
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.busy(l.estimate(w.of), "no turn came within %v", patience)
	}
}

// giveUp removes a waiter from the line, unless it has its answer.
func (l *Line) giveUp(w *waiter) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w.place == nil {
		return false
	}
	l.remove(w)
	l.callers.forget()
	return true
}

// leave ends a turn and hands it on. began is zero for a turn that was not used or not
// measured.
func (l *Line) leave(c *caller, b *Bound, began time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running--
	c.running--
	b.add(-1)
	if !began.IsZero() {
		l.measure(time.Since(began))
	}
	l.handOn()
	l.callers.forget()
}

func (l *Line) measure(took time.Duration) {
	if l.typical == 0 {
		l.typical = took
	}
	l.typical += (took - l.typical) / 8
}

// handOn gives free turns to waiting requests. It visits each waiting caller at most once
// per turn; there are no more of them than the queue is long.
func (l *Line) handOn() {
	for e := l.ring.Front(); e != nil && l.running < l.options.Concurrent; {
		c, next := e.Value.(*caller), e.Next()
		if w := c.next(); w != nil {
			l.remove(w)
			if c.place != nil {
				if next == nil {
					next = e // the only waiting caller: visit it again
				}
				l.ring.MoveToBack(e)
			}
			l.begin(c, w.bound)
			w.answer <- nil
		}
		e = next
	}
}

func (l *Line) begin(c *caller, b *Bound) {
	l.running++
	c.running++
	b.add(1)
}

// remove removes a waiter from its caller's line, and with the last one the caller from the
// ring.
func (l *Line) remove(w *waiter) {
	c := w.of
	c.waiting.Remove(w.place)
	w.place = nil
	l.waiting--
	if c.waiting.Len() == 0 {
		l.ring.Remove(c.place)
		c.place = nil
	}
}

// makeRoom evicts the newest request of the caller with the longest queue, so that no
// caller can fill the queue for all. It evicts nothing if the newcomer would then have the
// longest queue: the earlier request stays.
func (l *Line) makeRoom(newcomer *caller) bool {
	var most *caller
	for e := l.ring.Front(); e != nil; e = e.Next() {
		if c := e.Value.(*caller); most == nil || c.waiting.Len() > most.waiting.Len() {
			most = c
		}
	}
	if most == nil || newcomer.waiting.Len()+1 >= most.waiting.Len() {
		return false
	}
	w := most.waiting.Back().Value.(*waiter)
	l.remove(w)
	w.answer <- l.busy(l.estimate(most), "%d requests of %s wait already, and others came", most.waiting.Len(), most.name)
	return true
}

// Close refuses waiting and later requests with err. Turns go on until their Leave.
func (l *Line) Close(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = err
	for l.ring.Len() > 0 {
		w := l.ring.Front().Value.(*caller).waiting.Front().Value.(*waiter)
		l.remove(w)
		w.answer <- err
	}
}

// Stats returns the current numbers.
func (l *Line) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Stats{Running: l.running, Waiting: l.waiting, Refused: l.refused}
}

// busy counts a refused request and returns its error.
func (l *Line) busy(retryAfter time.Duration, format string, args ...any) error {
	l.refused++
	return run.Wrap(run.Busy, newBusy(retryAfter, format, args...))
}

// estimate returns how long the requests ahead of a caller's next one will take.
func (l *Line) estimate(c *caller) time.Duration {
	ahead := l.typical * time.Duration(l.waiting+1) / time.Duration(l.options.Concurrent)
	if c.quota.Concurrent > 0 {
		ahead = max(ahead, l.typical*time.Duration(c.waiting.Len()+1)/time.Duration(c.quota.Concurrent))
	}
	return ahead
}
