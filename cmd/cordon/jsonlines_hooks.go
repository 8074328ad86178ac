package main

import (
	"strconv"
	"sync"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/run"
)

// maxHooks bounds those that are open. One more closes the one that was called
// least recently: who calls it again is told that it is unknown, and opens it again.
const maxHooks = 64

// lineHooks are the hooks that lines have opened. The zero value has none.
type lineHooks struct {
	mu      sync.Mutex
	open    map[string]*lineHook
	made    uint64 // gives the ids
	clock   uint64 // counts calls
	closing sync.WaitGroup
}

type lineHook struct {
	*cordon.Hook
	called uint64
	under  sync.WaitGroup
}

func (l *lineHooks) add(h *cordon.Hook) (id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open == nil {
		l.open = map[string]*lineHook{}
	}
	if len(l.open) >= maxHooks {
		l.remove(l.oldest())
	}
	l.made++
	l.clock++
	id = strconv.FormatUint(l.made, 10)
	l.open[id] = &lineHook{Hook: h, called: l.clock}
	return id
}

// use gives a hook that is not closed before done is called with it.
func (l *lineHooks) use(id string) (*lineHook, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.open[id]
	if h == nil {
		return nil, unknownHook(id)
	}
	l.clock++
	h.called = l.clock
	h.under.Add(1)
	return h, nil
}

func (l *lineHooks) done(h *lineHook) { h.under.Done() }

// drop closes a hook after the calls under way.
func (l *lineHooks) drop(id string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[id] == nil {
		return unknownHook(id)
	}
	l.remove(id)
	return nil
}

func (l *lineHooks) oldest() (id string) {
	for candidate, h := range l.open {
		if id == "" || h.called < l.open[id].called {
			id = candidate
		}
	}
	return id
}

func (l *lineHooks) remove(id string) {
	h := l.open[id]
	delete(l.open, id)
	l.closing.Go(func() {
		h.under.Wait()
		_ = h.Close() // its workers are gone, whatever it says
	})
}

// close closes all. No call is under way any more.
func (l *lineHooks) close() {
	l.mu.Lock()
	for id := range l.open {
		l.remove(id)
	}
	l.mu.Unlock()
	l.closing.Wait()
}

func unknownHook(id string) error {
	return run.Errorf(run.Unknown, "hook %q is not open: it never was, it was closed, or %d others have been called since", id, maxHooks)
}
