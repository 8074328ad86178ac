// Package admission decides which requests run, wait or are refused, fairly between
// callers.
//
// Waiting callers get turns round robin, however many requests each has waiting; the
// requests of one caller keep their order. A caller that has reached a bound of its own
// does not delay the others. The package starts no goroutine: a request waits in its
// caller's, and a request that ends hands its turn on.
package admission

import (
	"container/list"
	"context"
	"sync"
	"time"

	"github.com/cordon-sandbox/cordon/run"
)

// Quota bounds one caller; zero fields mean no bound of its own.
type Quota struct {
	// Concurrent bounds the runs under way.
	Concurrent int
	// Rate is how many runs may begin in a second, and Burst how many at once; a zero
	// Burst means those of one second.
	Rate  float64
	Burst int
}

// Options bound all callers together.
type Options struct {
	Concurrent int // runs under way, at least one
	Queue      int // requests that wait; none of them does if it is zero
	// Patience is how long a request waits at most; zero means DefaultPatience.
	Patience time.Duration
}

// DefaultPatience is below what clients and proxies wait for an answer, as a rule.
const DefaultPatience = 30 * time.Second

// Stats are for metrics.
type Stats struct {
	Running int    // runs under way
	Waiting int    // requests that wait
	Refused uint64 // requests refused as Busy, since the start
}

// Line bounds what is under way and what waits. It is safe for concurrent use.
type Line struct {
	options Options

	mu      sync.Mutex
	running int
	waiting int
	refused uint64
	callers callers
	ring    list.List     // of *caller: callers with waiting requests, the next turn first
	typical time.Duration // moving average of how long a turn takes; 0 if none has ended
}

// NewLine returns an empty line.
func NewLine(o Options) *Line {
	o.Concurrent, o.Queue = max(o.Concurrent, 1), max(o.Queue, 0)
	if o.Patience <= 0 {
		o.Patience = DefaultPatience
	}
	return &Line{options: o, callers: callers{byName: map[string]*caller{}}}
}

// waiter is a waiting request.
type waiter struct {
	of     *caller
	place  *list.Element // in its caller's line; nil when it has its answer
	answer chan error    // holds one: nil is a turn
}

// Enter waits for a turn. The request calls leave when it ends, once or more often. A
// request that is refused gets an error of class run.Busy that wraps a *Busy; one whose
// context ends gets the error of ctx.
func (l *Line) Enter(ctx context.Context, name string, quota Quota) (leave func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c, w, err := l.join(name, quota)
	switch {
	case err != nil:
		return nil, err
	case w != nil:
		if err := l.wait(ctx, w); err != nil {
			return nil, err
		}
	}
	began := time.Now()
	return sync.OnceFunc(func() { l.leave(c, time.Since(began)) }), nil
}

// join gives a turn at once, or a waiter in the line.
func (l *Line) join(name string, quota Quota) (*caller, *waiter, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	c := l.callers.get(name)
	defer l.callers.forget(now)
	if c.apply(quota, now) {
		l.handOn() // a larger quota may let a waiting request run
	}
	if wait := c.untilAllowed(now); wait > 0 {
		return nil, nil, l.busy(wait, "%s may begin %.3g runs a second", name, quota.Rate)
	}
	// This overtakes nobody: requests that wait while there is room wait for a bound of
	// their own caller, which this caller has not reached.
	if l.running < l.options.Concurrent && c.mayRun() {
		c.spend(now)
		l.begin(c)
		return c, nil, nil
	}
	if l.waiting >= l.options.Queue && !l.makeRoom(c) {
		return nil, nil, l.busy(l.estimate(c), "%d requests wait already", l.waiting)
	}
	c.spend(now)
	w := &waiter{of: c, answer: make(chan error, 1)}
	if w.place = c.waiting.PushBack(w); c.waiting.Len() == 1 {
		c.place = l.ring.PushBack(c)
	}
	l.waiting++
	return c, w, nil
}

// wait returns with an answer, when ctx ends, or when patience ends.
func (l *Line) wait(ctx context.Context, w *waiter) error {
	patience := time.NewTimer(l.options.Patience)
	defer patience.Stop()
	select {
	case err := <-w.answer:
		return err
	case <-ctx.Done():
		if !l.giveUp(w) {
			// The answer came at the same time. A turn goes to the next request.
			if err := <-w.answer; err != nil {
				return err
			}
			l.leave(w.of, -1)
		}
		return ctx.Err()
	case <-patience.C:
		if !l.giveUp(w) {
			return <-w.answer
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.busy(l.estimate(w.of), "no turn came within %v", l.options.Patience)
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
	l.callers.forget(time.Now())
	return true
}

// leave ends a turn and hands it on. A negative time marks a turn that was not used.
func (l *Line) leave(c *caller, took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running--
	c.running--
	switch {
	case took < 0:
	case l.typical == 0:
		l.typical = took
	default:
		l.typical += (took - l.typical) / 8
	}
	l.handOn()
	l.callers.forget(time.Now())
}

// handOn gives free turns to waiting requests. It visits each waiting caller at most once
// per turn; there are no more of them than the queue is long.
func (l *Line) handOn() {
	for e := l.ring.Front(); e != nil && l.running < l.options.Concurrent; {
		c, next := e.Value.(*caller), e.Next()
		if c.mayRun() {
			w := c.waiting.Front().Value.(*waiter)
			l.remove(w)
			if c.place != nil {
				if next == nil {
					next = e // the only waiting caller: visit it again
				}
				l.ring.MoveToBack(e)
			}
			l.begin(c)
			w.answer <- nil
		}
		e = next
	}
}

func (l *Line) begin(c *caller) {
	l.running++
	c.running++
}

// remove takes a waiter out of its caller's line, and the caller out of the ring with its
// last waiter.
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

// Stats returns the current numbers.
func (l *Line) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Stats{Running: l.running, Waiting: l.waiting, Refused: l.refused}
}

// Busy is the error for a request that had a turn and met another bound: it adds when to
// try again.
func (l *Line) Busy(reason string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.busy(l.estimate(&caller{}), "%s", reason)
}

// busy counts a refused request and words its error.
func (l *Line) busy(retryAfter time.Duration, format string, args ...any) error {
	l.refused++
	return run.Wrap(run.Busy, newBusy(retryAfter, format, args...))
}

// estimate is how long the requests ahead of a caller's next one will take.
func (l *Line) estimate(c *caller) time.Duration {
	ahead := l.typical * time.Duration(l.waiting+1) / time.Duration(l.options.Concurrent)
	if c.quota.Concurrent > 0 {
		ahead = max(ahead, l.typical*time.Duration(c.waiting.Len()+1)/time.Duration(c.quota.Concurrent))
	}
	return ahead
}
