package zygote

import (
	"slices"
	"sync"
)

// CPUs chooses the CPUs of guests that may not use all of them. The zero value has given
// none away.
type CPUs struct {
	mu    sync.Mutex
	given map[int]int // how many guests have each CPU
	next  int         // where the search for the next guest begins
}

// take returns n of the usable CPUs, those that the fewest guests have.
func (c *CPUs) take(usable []int, n int) []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.given == nil {
		c.given = map[int]int{}
	}
	chosen := leastGiven(usable, c.given, c.next, n)
	for _, cpu := range chosen {
		c.given[cpu]++
	}
	c.next++
	return chosen
}

func (c *CPUs) giveBack(cpus []int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, cpu := range cpus {
		c.given[cpu]--
	}
}

// leastGiven returns the n CPUs with the fewest guests. Of several with as few, it prefers
// those at and after an offset, so that short runs one after another do not all use the
// first CPU.
func leastGiven(usable []int, given map[int]int, offset, n int) []int {
	first := offset % len(usable)
	order := slices.Concat(usable[first:], usable[:first])
	slices.SortStableFunc(order, func(a, b int) int { return given[a] - given[b] })
	return order[:min(n, len(order))]
}

// holding is the CPUs that one guest is held to.
type holding struct {
	mu   sync.Mutex
	done bool // it is held, or need not be, or has ended
	cpus []int
}

// release gives the CPUs back, when the guest has ended.
func (h *holding) release(to *CPUs) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.done = true
	if len(h.cpus) > 0 {
		to.giveBack(h.cpus)
		h.cpus = nil
	}
}
