package admission

import (
	"container/list"
	"math"
	"time"

	"golang.org/x/time/rate"
)

// callers are those who run, wait, or have used up some of their rate.
type callers struct {
	byName map[string]*caller
	turns  list.List // of *caller: in which order they are looked at, to be forgotten
}

// get finds a caller, or makes one.
func (cs *callers) get(name string) *caller {
	c := cs.byName[name]
	if c == nil {
		c = &caller{name: name}
		cs.byName[name] = c
		cs.turns.PushFront(c)
	}
	return c
}

// forget drops callers of whom nothing has to be known any more. One with a rate is
// remembered until all of it is there again: else each request would find a new one. It
// is called as often as callers are made, or more, and looks at two: so there are never
// many more than have to be.
func (cs *callers) forget(now time.Time) {
	for range min(2, cs.turns.Len()) {
		e := cs.turns.Front()
		if c := e.Value.(*caller); c.isIdle(now) {
			cs.turns.Remove(e)
			delete(cs.byName, c.name)
		} else {
			cs.turns.MoveToBack(e)
		}
	}
}

// caller is what is known of one while there is something to know.
type caller struct {
	name    string
	quota   Quota
	running int
	waiting list.List     // of *waiter, the oldest first
	place   *list.Element // in the ring, while anything waits
	limiter *rate.Limiter // nil without a rate
}

// apply takes over a quota, which may have changed since the last request, and says
// whether it has. What was used of a rate stays used.
func (c *caller) apply(q Quota, now time.Time) (changed bool) {
	if q == c.quota {
		return false
	}
	c.quota = q
	switch {
	case q.Rate <= 0:
		c.limiter = nil
	case c.limiter == nil:
		c.limiter = rate.NewLimiter(rate.Limit(q.Rate), q.burst())
	default:
		c.limiter.SetLimitAt(now, rate.Limit(q.Rate))
		c.limiter.SetBurstAt(now, q.burst())
	}
	return true
}

func (q Quota) burst() int {
	if q.Burst > 0 {
		return q.Burst
	}
	return max(1, int(math.Ceil(q.Rate)))
}

// untilAllowed is how long the rate keeps the next run waiting.
func (c *caller) untilAllowed(now time.Time) time.Duration {
	if c.limiter == nil {
		return 0
	}
	missing := 1 - c.limiter.TokensAt(now)
	if missing <= 0 {
		return 0
	}
	return max(1, time.Duration(min(missing/c.quota.Rate, longestRetry.Seconds())*float64(time.Second)))
}

// spend counts one run against the rate. It is counted for who waits, too: to ask is
// what the rate bounds.
func (c *caller) spend(now time.Time) {
	if c.limiter != nil {
		c.limiter.AllowN(now, 1)
	}
}

// mayRun says whether its own bound lets the caller have another turn.
func (c *caller) mayRun() bool { return c.quota.Concurrent <= 0 || c.running < c.quota.Concurrent }

// isIdle says whether a caller of whom nothing was known would be treated the same.
func (c *caller) isIdle(now time.Time) bool {
	return c.running == 0 && c.waiting.Len() == 0 &&
		(c.limiter == nil || c.limiter.TokensAt(now) >= float64(c.limiter.Burst()))
}
