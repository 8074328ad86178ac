package backend

import (
	"maps"
	"slices"
	"sync"
)

// Set is what a backend has open until it is closed: hooks, sessions. The zero value is empty.
type Set[T comparable] struct {
	mu     sync.Mutex
	open   map[T]struct{}
	closed bool
}

// Add adds one. It fails if the set is closed.
func (s *Set[T]) Add(one T) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	if s.open == nil {
		s.open = map[T]struct{}{}
	}
	s.open[one] = struct{}{}
	return true
}

// Remove removes one.
func (s *Set[T]) Remove(one T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, one)
}

// All returns all of them.
func (s *Set[T]) All() []T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.open))
}

// Close refuses new ones, and returns those that its caller has to close.
func (s *Set[T]) Close() []T {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	return s.All()
}
