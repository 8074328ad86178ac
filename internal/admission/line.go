// Package admission says whose turn it is: how many run at once, who waits, and who is
// sent away, fairly between callers.
//
// Callers that wait have their turns one after the other, however many requests each has
// waiting; the requests of one caller keep their order. Who is over a bound of his own
// stands in nobody's way. Nothing here has a goroutine: whoever waits does so in his own,
// and whoever leaves hands the turn on.
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

// Stats are figures for those who watch.
type Stats struct {
	Running int    // runs under way
	Waiting int    // requests that wait
	Refused uint64 // those that were sent away as Busy, since the beginning
}

// Line bounds what is under way and what waits. It is safe for concurrent use.
type Line struct {
	options Options

	mu      sync.Mutex
	running int
	waiting int
	refused uint64
	callers callers
	ring    list.List     // of *caller: those who wait, whose turn is next first
	typical time.Duration // how long a turn takes, a moving average; 0 if none has ended
}

// NewLine gives an empty one.
func NewLine(o Options) *Line {
	o.Concurrent, o.Queue = max(o.Concurrent, 1), max(o.Queue, 0)
	if o.Patience <= 0 {
		o.Patience = DefaultPatience
	}
	return &Line{options: o, callers: callers{byName: map[string]*caller{}}}
}

// waiter is a request that waits.
type waiter struct {
	of     *caller
	place  *list.Element // in its caller's line; nil when it has its answer
	answer chan error    // holds one: nil is a turn
}

// Enter waits for a turn. Whoever has one calls leave, once or more often. Who is sent
// away gets an error of class run.Busy with a *Busy in it; who does not wait any longer,
// that of ctx.
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

// join gives a turn at once, or a place in the line.
func (l *Line) join(name string, quota Quota) (*caller, *waiter, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	c := l.callers.get(name)
	defer l.callers.forget(now)
	if c.apply(quota, now) {
		l.handOn() // a quota that has grown may let somebody go who waits
	}
	if wait := c.untilAllowed(now); wait > 0 {
		return nil, nil, l.busy(wait, "%s may begin %.3g runs a second", name, quota.Rate)
	}
	// Nobody is overtaken: those who wait while there is room are held up by their own
	// bounds, and this caller is not.
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

// wait is over with an answer, with the caller's context, or when patience ends.
func (l *Line) wait(ctx context.Context, w *waiter) error {
	patience := time.NewTimer(l.options.Patience)
	defer patience.Stop()
	select {
	case err := <-w.answer:
		return err
	case <-ctx.Done():
		if !l.giveUp(w) {
			// The answer came in the same moment. A turn goes to the next.
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

// giveUp takes a waiter out of the line, unless it has its answer.
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

// leave ends a turn, and hands it on. A negative time is that of a turn which nobody used.
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

// handOn gives turns to those who wait, while there are any to give. It looks at each
// caller who waits, of which there are no more than the queue has places.
func (l *Line) handOn() {
	for e := l.ring.Front(); e != nil && l.running < l.options.Concurrent; {
		c, next := e.Value.(*caller), e.Next()
		if c.mayRun() {
			w := c.waiting.Front().Value.(*waiter)
			l.remove(w)
			if c.place != nil {
				if next == nil {
					next = e // it is its turn again: nobody else waits behind it
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

// remove takes a waiter from its caller's line, and the caller from the ring with the
// last of them.
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

// makeRoom sends the newest request away of who has most of them waiting, so that nobody
// can fill the queue for all. It does not where that would only turn the two round: who
// came first stays.
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

// Stats tells how it stands.
func (l *Line) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Stats{Running: l.running, Waiting: l.waiting, Refused: l.refused}
}

// Busy sends somebody away who had a turn, because of a bound that is not the line's: it
// says when it is worth to come again.
func (l *Line) Busy(reason string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.busy(l.estimate(&caller{}), "%s", reason)
}

// busy counts who is sent away, and says why.
func (l *Line) busy(retryAfter time.Duration, format string, args ...any) error {
	l.refused++
	return run.Wrap(run.Busy, newBusy(retryAfter, format, args...))
}

// estimate is how long it will take until what is ahead of a caller's next request has
// had its turn.
func (l *Line) estimate(c *caller) time.Duration {
	ahead := l.typical * time.Duration(l.waiting+1) / time.Duration(l.options.Concurrent)
	if c.quota.Concurrent > 0 {
		ahead = max(ahead, l.typical*time.Duration(c.waiting.Len()+1)/time.Duration(c.quota.Concurrent))
	}
	return ahead
}
