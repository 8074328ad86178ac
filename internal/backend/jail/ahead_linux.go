package jail

import (
	"runtime"
	"sync"
	"time"
)

// ahead are places that were built before anybody asked for them. Who runs one
// command in a workspace soon runs another one there; most of what a command costs
// is its place.
type ahead struct {
	backend *Backend
	most    int

	mu       sync.Mutex
	waiting  map[recipe][]*waitingPlace
	count    int // those that wait, and those being built
	of       map[recipe]int
	closed   bool
	building sync.WaitGroup
}

// waitingPlace is ended when nobody takes it.
type waitingPlace struct {
	*place
	expiry *time.Timer
}

const (
	// keptFor is how long a place waits. It keeps two small processes, and the
	// workspace's file system busy.
	keptFor = 10 * time.Second
	// mostAhead bounds the places of all recipes together; mostOfOne those of one.
	mostAhead = 8
	mostOfOne = 2
)

func newAhead(b *Backend) *ahead {
	a := &ahead{backend: b, most: mostAhead, waiting: map[recipe][]*waitingPlace{}, of: map[recipe]int{}}
	if b.options.OneShot {
		a.most = 0
	}
	return a
}

// take gives a place, or nil if there is none.
func (a *ahead) take(r recipe) *place {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := a.waiting[r]
	if len(list) == 0 {
		return nil
	}
	// Whoever removes it from the list has it. Its time may be up at this moment:
	// then expire finds nothing.
	w := list[len(list)-1]
	a.remove(r, w)
	w.expiry.Stop()
	return w.place
}

// remove takes a place from the list, if it is there.
func (a *ahead) remove(r recipe, w *waitingPlace) bool {
	list := a.waiting[r]
	for i := range list {
		if list[i] != w {
			continue
		}
		a.uncount(r)
		if list = append(list[:i:i], list[i+1:]...); len(list) == 0 {
			delete(a.waiting, r)
		} else {
			a.waiting[r] = list
		}
		return true
	}
	return false
}

// uncount is for a place that is taken, ended, or was never built.
func (a *ahead) uncount(r recipe) {
	a.count--
	if a.of[r]--; a.of[r] == 0 {
		delete(a.of, r)
	}
}

// refill builds another place, for the next command like this one. It is called
// when a command has ended, or takes long: a short one is not to share the
// processors with it.
func (a *ahead) refill(r recipe) {
	a.mu.Lock()
	defer a.mu.Unlock()
	busy := a.backend.gate.Running() > runtime.NumCPU() // nothing is gained by building earlier
	if a.closed || busy || a.count >= a.most || a.of[r] >= mostOfOne {
		return
	}
	a.count++
	a.of[r]++
	a.building.Go(func() { a.build(r) })
}

func (a *ahead) build(r recipe) {
	var p *place
	s, err := openPipes(true)
	if err == nil {
		p, err = a.backend.build(r, s)
	}
	a.mu.Lock()
	if err != nil || a.closed {
		a.uncount(r)
		a.mu.Unlock()
		if p != nil {
			p.tearDown()
		}
		return // a command that needs it will say what is wrong
	}
	p.waited = true
	w := &waitingPlace{place: p}
	w.expiry = time.AfterFunc(keptFor, func() { a.expire(r, w) })
	a.waiting[r] = append(a.waiting[r], w)
	a.mu.Unlock()
}

func (a *ahead) expire(r recipe, w *waitingPlace) {
	a.mu.Lock()
	mine := !a.closed && a.remove(r, w)
	if mine {
		a.building.Add(1) // close waits for us
	}
	a.mu.Unlock()
	if mine {
		w.tearDown()
		a.building.Done()
	}
}

// ready is how many wait.
func (a *ahead) ready() (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, list := range a.waiting {
		n += len(list)
	}
	return n
}

// close ends all that wait.
func (a *ahead) close() {
	a.mu.Lock()
	a.closed = true
	var left []*waitingPlace
	for r, list := range a.waiting {
		left = append(left, list...)
		for range list {
			a.uncount(r)
		}
	}
	a.waiting = nil
	a.mu.Unlock()
	for _, w := range left {
		w.expiry.Stop()
		w.tearDown()
	}
	a.building.Wait()
}
