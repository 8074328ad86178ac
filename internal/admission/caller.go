package admission

import (
	"container/list"
	"context"
	"math"
	"time"
)

// Caller is the sender of a request, as the line knows it. The zero value is the anonymous
// caller of a program that embeds cordon.
type Caller struct {
	// Name is the same in all requests of one caller.
	Name  string
	Quota Quota
	// Patience is how long a request waits at most; zero means as long as its context
	// lasts.
	Patience time.Duration
	// Waits is called when a request is accepted and has to wait, and Begins when it gets its
	// turn, in the goroutine of the request. They may be nil.
	Waits, Begins func()
}

// DefaultPatience is shorter than the usual timeouts of clients and proxies.
const DefaultPatience = 30 * time.Second

// Quota bounds one caller; zero fields mean no bound of its own.
type Quota struct {
	// Concurrent bounds the runs under way.
	Concurrent int
	// Rate is how many runs may begin in a second, and Burst how many at once; a zero
	// Burst means those of one second.
	Rate  float64
	Burst int
}

type callerKey struct{}

// WithCaller returns a context whose requests are those of c.
func WithCaller(ctx context.Context, c *Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

var anonymous = &Caller{}

func callerOf(ctx context.Context) *Caller {
	if c, ok := ctx.Value(callerKey{}).(*Caller); ok {
		return c
	}
	return anonymous
}

// callers are the callers that run, wait, or have used some of their rate.
type callers struct {
	anonymous caller // always there, so that its requests allocate nothing
	byName    map[string]*caller
	turns     list.List // of *caller: the order in which forget checks them
}

// get returns the caller of that name, and creates it if needed.
func (cs *callers) get(name string) *caller {
	if name == "" {
		return &cs.anonymous
	}
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
func (cs *callers) forget() {
	if cs.turns.Len() == 0 {
		return
	}
	now := time.Now()
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
	bucket  bucket
}

// apply takes over a quota and reports whether it has changed since the last request.
// Tokens of the rate that were spent stay spent.
func (c *caller) apply(q Quota, now time.Time) (changed bool) {
	if q == c.quota {
		return false
	}
	c.bucket.resize(q.Rate, float64(q.burst()), now)
	c.quota = q
	return true
}

func (q Quota) burst() int {
	if q.Burst > 0 {
		return q.Burst
	}
	return max(1, int(math.Ceil(q.Rate)))
}

// untilAllowed returns how long the rate delays the next run.
func (c *caller) untilAllowed(now time.Time) time.Duration {
	if c.quota.Rate <= 0 {
		return 0
	}
	missing := 1 - c.bucket.at(now)
	if missing <= 0 {
		return 0
	}
	return max(1, time.Duration(min(missing/c.quota.Rate, longestRetry.Seconds())*float64(time.Second)))
}

// spend counts one run against the rate, also for a request that waits: the rate bounds
// requests. untilAllowed was zero.
func (c *caller) spend() { c.bucket.tokens-- }

// mayRun reports whether the caller is below its own bound.
func (c *caller) mayRun() bool { return c.quota.Concurrent <= 0 || c.running < c.quota.Concurrent }

// next returns the oldest waiting request that may have a turn now: one for a resource that
// is not full.
func (c *caller) next() *waiter {
	if !c.mayRun() {
		return nil
	}
	for e := c.waiting.Front(); e != nil; e = e.Next() {
		if w := e.Value.(*waiter); !w.bound.isFull() {
			return w
		}
	}
	return nil
}

// isIdle reports whether a new caller of this name would be treated the same.
func (c *caller) isIdle(now time.Time) bool {
	return c.running == 0 && c.waiting.Len() == 0 && (c.quota.Rate <= 0 || c.bucket.at(now) >= c.bucket.size)
}

// bucket holds the tokens of a rate. The line's lock guards it. It is written here because
// a library, for twenty lines of code, would be linked into every program that embeds
// cordon.
type bucket struct {
	rate, size float64 // tokens a second, and the most that it holds
	tokens     float64 // at the time then
	then       time.Time
}

// at returns the number of tokens at a time.
func (b *bucket) at(now time.Time) float64 {
	b.tokens = min(b.size, b.tokens+now.Sub(b.then).Seconds()*b.rate)
	b.then = now
	return b.tokens
}

// resize changes the rate. A bucket that had no rate before starts full.
func (b *bucket) resize(rate, size float64, now time.Time) {
	if b.rate > 0 {
		b.at(now)
	} else {
		b.tokens, b.then = size, now
	}
	b.rate, b.size = max(rate, 0), size
}
