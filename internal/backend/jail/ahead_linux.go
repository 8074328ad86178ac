package jail

import (
	"runtime"
	"sync"
	"time"
)

// ahead builds sandboxes before they are requested. A caller that runs one command in a
// workspace usually runs another one there soon, and building the sandbox is most of
// what a command costs.
type ahead struct {
	backend *Backend
	limit   int

	mu        sync.Mutex
	idle      map[recipe][]*idleSandbox
	count     int // idle ones, and those being built
	perRecipe map[recipe]int
	closed    bool
	building  sync.WaitGroup
}

// idleSandbox waits for a command. It is torn down when it expires.
type idleSandbox struct {
	*sandbox
	expiry *time.Timer
}

const (
	// idleLifetime is how long a sandbox waits for a command. Meanwhile it keeps its
	// init and a child that waits, and the workspace's file system cannot be unmounted.
	idleLifetime = 10 * time.Second
	// maxAhead bounds the sandboxes of all recipes together.
	maxAhead          = 8
	maxAheadPerRecipe = 2
)

func newAhead(b *Backend) *ahead {
	a := &ahead{backend: b, limit: maxAhead, idle: map[recipe][]*idleSandbox{}, perRecipe: map[recipe]int{}}
	if b.options.OneShot {
		a.limit = 0
	}
	return a
}

// take returns an idle sandbox, or nil if there is none.
func (a *ahead) take(r recipe) *sandbox {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := a.idle[r]
	if len(list) == 0 {
		return nil
	}
	// Removing a sandbox from the list takes ownership. If it expires at this moment,
	// expire does not find it any more.
	w := list[len(list)-1]
	a.remove(r, w)
	w.expiry.Stop()
	return w.sandbox
}

// remove takes a sandbox off the list and reports whether it was there.
func (a *ahead) remove(r recipe, w *idleSandbox) bool {
	list := a.idle[r]
	for i := range list {
		if list[i] != w {
			continue
		}
		a.uncount(r)
		if list = append(list[:i:i], list[i+1:]...); len(list) == 0 {
			delete(a.idle, r)
		} else {
			a.idle[r] = list
		}
		return true
	}
	return false
}

// uncount corrects the counts after a sandbox was taken, torn down, or failed to build.
func (a *ahead) uncount(r recipe) {
	a.count--
	if a.perRecipe[r]--; a.perRecipe[r] == 0 {
		delete(a.perRecipe, r)
	}
}

// refill builds another sandbox for the next command with this recipe. It is called
// when a command has ended or has run for refillAfter, so that a short command does not
// share the CPUs with it.
func (a *ahead) refill(r recipe) {
	a.mu.Lock()
	defer a.mu.Unlock()
	busy := a.backend.gate.Running() > runtime.NumCPU() // building ahead gains nothing
	if a.closed || busy || a.count >= a.limit || a.perRecipe[r] >= maxAheadPerRecipe {
		return
	}
	a.count++
	a.perRecipe[r]++
	a.building.Go(func() { a.build(r) })
}

func (a *ahead) build(r recipe) {
	var p *sandbox
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
		return // the next command builds its own, and reports the error
	}
	p.waited = true
	w := &idleSandbox{sandbox: p}
	w.expiry = time.AfterFunc(idleLifetime, func() { a.expire(r, w) })
	a.idle[r] = append(a.idle[r], w)
	a.mu.Unlock()
}

func (a *ahead) expire(r recipe, w *idleSandbox) {
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

// idleCount returns the number of idle sandboxes.
func (a *ahead) idleCount() (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, list := range a.idle {
		n += len(list)
	}
	return n
}

// close tears down all idle sandboxes and waits for those being built.
func (a *ahead) close() {
	a.mu.Lock()
	a.closed = true
	var left []*idleSandbox
	for r, list := range a.idle {
		left = append(left, list...)
		for range list {
			a.uncount(r)
		}
	}
	a.idle = nil
	a.mu.Unlock()
	for _, w := range left {
		w.expiry.Stop()
		w.tearDown()
	}
	a.building.Wait()
}
