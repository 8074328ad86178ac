// Package ahead makes things before they are requested: a caller that used one usually wants
// another one of its kind soon. What nobody takes in time is discarded.
package ahead

import (
	"sync"
	"time"
)

// Options configure a pool.
type Options[K comparable, V any] struct {
	// Make makes a thing of a kind. If it fails, nothing waits: the next caller makes its own,
	// and reports the error.
	Make func(K) (V, error)
	// Discard frees a thing that nobody took.
	Discard func(V)
	// Busy reports whether making things ahead would only delay others.
	Busy func() bool
	// Max bounds the things of all kinds together, MaxEach those of one kind. They include
	// those being made.
	Max, MaxEach int
	// Lifetime is how long a thing waits.
	Lifetime time.Duration
}

// Pool has things that wait, by kind. It is safe for concurrent use.
type Pool[K comparable, V any] struct {
	options Options[K, V]

	mu     sync.Mutex
	idle   map[K][]*item[V]
	count  int // waiting, and being made
	each   map[K]int
	closed bool
	making sync.WaitGroup // and discarding
}

// item is a thing that waits.
type item[V any] struct {
	value  V
	expiry *time.Timer
}

// New returns an empty pool.
func New[K comparable, V any](options Options[K, V]) *Pool[K, V] {
	return &Pool[K, V]{options: options, idle: map[K][]*item[V]{}, each: map[K]int{}}
}

// Take returns the newest thing of a kind, and whether there was one.
func (p *Pool[K, V]) Take(kind K) (value V, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := p.idle[kind]
	if len(list) == 0 {
		return value, false
	}
	// Removing an item from the list takes ownership. If it expires at this moment, expire
	// does not find it any more.
	newest := list[len(list)-1]
	p.removeLocked(kind, newest)
	newest.expiry.Stop()
	return newest.value, true
}

// removeLocked takes an item off its list and reports whether it was there.
func (p *Pool[K, V]) removeLocked(kind K, wanted *item[V]) bool {
	list := p.idle[kind]
	for i := range list {
		if list[i] != wanted {
			continue
		}
		p.uncountLocked(kind)
		if list = append(list[:i:i], list[i+1:]...); len(list) == 0 {
			delete(p.idle, kind)
		} else {
			p.idle[kind] = list
		}
		return true
	}
	return false
}

// uncountLocked corrects the counts after a thing was taken or discarded, or was not made.
func (p *Pool[K, V]) uncountLocked(kind K) {
	p.count--
	if p.each[kind]--; p.each[kind] == 0 {
		delete(p.each, kind)
	}
}

// Use is called when a caller has a thing of a kind, from this pool or not: another one is made
// when the caller calls done, or has used its own for a while. A short use does not share the
// CPUs with it.
func (p *Pool[K, V]) Use(kind K) (done func()) {
	refill := sync.OnceFunc(func() { p.refill(kind) })
	long := time.AfterFunc(shortUse, refill)
	return func() {
		long.Stop()
		refill()
	}
}

// shortUse is how long something is used before the next is made beside it.
const shortUse = 5 * time.Millisecond

// refill makes another thing of a kind in the background, if there is room.
func (p *Pool[K, V]) refill(kind K) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.count >= p.options.Max || p.each[kind] >= p.options.MaxEach || p.options.Busy() {
		return
	}
	p.count++
	p.each[kind]++
	p.making.Go(func() { p.make(kind) })
}

func (p *Pool[K, V]) make(kind K) {
	value, err := p.options.Make(kind)
	p.mu.Lock()
	if err != nil || p.closed {
		p.uncountLocked(kind)
		p.mu.Unlock()
		if err == nil {
			p.options.Discard(value)
		}
		return
	}
	made := &item[V]{value: value}
	made.expiry = time.AfterFunc(p.options.Lifetime, func() { p.expire(kind, made) })
	p.idle[kind] = append(p.idle[kind], made)
	p.mu.Unlock()
}

func (p *Pool[K, V]) expire(kind K, old *item[V]) {
	p.mu.Lock()
	mine := !p.closed && p.removeLocked(kind, old)
	if mine {
		p.making.Add(1) // Close waits for us
	}
	p.mu.Unlock()
	if mine {
		p.options.Discard(old.value)
		p.making.Done()
	}
}

// Idle returns how many things wait.
func (p *Pool[K, V]) Idle() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, list := range p.idle {
		n += len(list)
	}
	return n
}

// Close discards everything that waits. It returns when nothing is being made any more. After
// it, nothing waits again.
func (p *Pool[K, V]) Close() {
	p.mu.Lock()
	p.closed = true
	var left []*item[V]
	for kind, list := range p.idle {
		left = append(left, list...)
		for range list {
			p.uncountLocked(kind)
		}
	}
	p.idle = nil
	p.mu.Unlock()
	for _, old := range left {
		old.expiry.Stop()
		p.options.Discard(old.value)
	}
	p.making.Wait()
}
