package admission

import (
	"container/list"
	"math"
	"time"

	"golang.org/x/time/rate"
)

// callers are the callers that run, wait, or have used some of their rate.
type callers struct {
	byName map[string]*caller
	turns  list.List // of *caller: the order in which forget checks them
}

// get returns the caller of that name, a new one if it is not known.
func (cs *callers) get(name string) *caller {
	c := cs.byName[name]
	if c == nil {
		c = &caller{name: name}
		cs.byName[name] = c
		cs.turns.PushFront(c)
	}
	return c
}

// forget drops callers without state. A caller with a rate is kept until its bucket is
// full again: otherwise each request would start with a full one. forget runs at least
// once for each new caller and checks two, so the map stays small.
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

// caller is the state of one caller.
type caller struct {
	name    string
	quota   Quota
	running int
	waiting list.List     // of *waiter, the oldest first
	place   *list.Element // in the ring, while anything waits
	limiter *rate.Limiter // nil without a rate
}

// apply takes over a quota and reports whether it has changed since the last request.
// Tokens of the rate that were spent stay spent.
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

// untilAllowed is how long the rate delays the next run.
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

// spend counts one run against the rate, also for a request that waits: the rate bounds
// requests.
func (c *caller) spend(now time.Time) {
	if c.limiter != nil {
		c.limiter.AllowN(now, 1)
	}
}

// mayRun reports whether the caller is below its own bound.
func (c *caller) mayRun() bool { return c.quota.Concurrent <= 0 || c.running < c.quota.Concurrent }

// isIdle reports whether a new caller of this name would be treated the same.
func (c *caller) isIdle(now time.Time) bool {
	return c.running == 0 && c.waiting.Len() == 0 &&
		(c.limiter == nil || c.limiter.TokensAt(now) >= float64(c.limiter.Burst()))
}
