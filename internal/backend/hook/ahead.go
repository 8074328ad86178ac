package hook

import "sync"

// Ahead bounds the workers that are opened ahead of calls and serve one call each: for
// every hook, and for all hooks that share it. A hook that gets no slot opens a worker
// when a call comes, and is slower. A nil Ahead has no limit.
type Ahead struct {
	each int

	mu   sync.Mutex
	left int
}

// NewAhead allows each workers for each hook, and total workers for all hooks.
func NewAhead(each, total int) *Ahead { return &Ahead{each: each, left: total} }

func (a *Ahead) perHook() int {
	if a == nil {
		return 0
	}
	return a.each
}

// reserve takes a slot, if one is free.
func (a *Ahead) reserve() bool {
	if a == nil {
		return true
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.left == 0 {
		return false
	}
	a.left--
	return true
}

// release returns slots.
func (a *Ahead) release(n int) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.left += n
}
