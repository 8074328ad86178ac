// Package kept keeps how requests ended, for a while and within bounds: answers by their
// idempotency keys, and Results of runs that no client waits for by their ids.
package kept

import (
	"cmp"
	"container/list"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Bound is how much a store keeps.
type Bound struct {
	Count int
	Bytes int64
}

func (b Bound) exceeds(most Bound) bool { return b.Count > most.Count || b.Bytes > most.Bytes }

// Options bound what a store keeps. Requests under way are not counted.
type Options[T any] struct {
	// For is how long it keeps how a request ended.
	For time.Duration
	// PerOwner bounds what one owner has: beyond it, the owner loses its oldest items. The
	// newest one stays, even if it is larger than that.
	PerOwner Bound
	// Total bounds what all owners have: beyond it, the owner with the most bytes loses its
	// oldest item, so that a flood of one owner does not evict the others' items.
	Total Bound
	// Lost is called for each item that the store gives up by itself, with the lock of the
	// store held. It may be nil.
	Lost func(one *Item[T], why string)
}

// Store keeps items by owner and key. It is safe for concurrent use.
type Store[T any] struct {
	options Options[T]

	mu     sync.Mutex
	owners map[string]*owner[T]
	used   Bound
	begun  uint64 // counts items
}

// owner has the items of one owner.
type owner[T any] struct {
	name  string
	byKey map[string]*Item[T]
	old   list.List // of *Item that have ended, the oldest first
	used  Bound
}

// Item is one request of an owner. Its unexported fields belong to the store's lock.
type Item[T any] struct {
	Owner, Key string
	Value      T // safe for concurrent use, or never changed

	number uint64
	size   int64
	place  *list.Element // in old; nil while the request is under way
	expiry *time.Timer
}

// NewStore returns an empty store.
func NewStore[T any](o Options[T]) *Store[T] {
	return &Store[T]{options: o, owners: map[string]*owner[T]{}}
}

// Begin returns the item with a key. If first is true, it is new and has the value. The caller
// then calls Keep or Drop with it when the request has ended.
func (s *Store[T]) Begin(name, key string, value T) (one *Item[T], first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.owners[name]
	if o == nil {
		o = &owner[T]{name: name, byKey: map[string]*Item[T]{}}
		s.owners[name] = o
	}
	if one := o.byKey[key]; one != nil {
		return one, false
	}
	s.begun++
	one = &Item[T]{Owner: name, Key: key, Value: value, number: s.begun}
	o.byKey[key] = one
	return one, true
}

// Keep keeps the item of a request that has ended. An item that was dropped stays so.
func (s *Store[T]) Keep(one *Item[T], size int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.holder(one)
	switch {
	case o == nil || one.place != nil:
		return
	case size > s.options.Total.Bytes:
		s.lose(o, one, "it is too large to be kept")
		return
	}
	one.size, one.place = size, o.old.PushBack(one)
	one.expiry = time.AfterFunc(s.options.For, func() { s.expire(one) })
	o.used.add(1, size)
	s.used.add(1, size)
	for o.used.exceeds(s.options.PerOwner) && o.old.Len() > 1 {
		s.loseOldest(o)
	}
	for s.used.exceeds(s.options.Total) {
		s.loseOldest(s.heaviest())
	}
}

// Drop forgets an item, and does nothing if that has happened before.
func (s *Store[T]) Drop(one *Item[T]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.holder(one); o != nil {
		s.forget(o, one)
	}
}

// Find returns the item with a key, or nil.
func (s *Store[T]) Find(name, key string) *Item[T] {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.owners[name]; o != nil {
		return o.byKey[key]
	}
	return nil
}

// List returns the items of an owner in the order in which they began.
func (s *Store[T]) List(name string) (all []*Item[T]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.owners[name]; o != nil {
		for _, one := range o.byKey {
			all = append(all, one)
		}
	}
	slices.SortFunc(all, func(a, b *Item[T]) int { return cmp.Compare(a.number, b.number) })
	return all
}

// Used returns how much is kept.
func (s *Store[T]) Used() Bound {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}

// holder returns the owner that has the item, or nil if it is forgotten.
func (s *Store[T]) holder(one *Item[T]) *owner[T] {
	if o := s.owners[one.Owner]; o != nil && o.byKey[one.Key] == one {
		return o
	}
	return nil
}

func (s *Store[T]) expire(one *Item[T]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.holder(one); o != nil {
		s.lose(o, one, fmt.Sprintf("it was kept for %v", s.options.For))
	}
}

func (s *Store[T]) loseOldest(o *owner[T]) {
	s.lose(o, o.old.Front().Value.(*Item[T]), "newer ones took its memory")
}

func (s *Store[T]) lose(o *owner[T], one *Item[T], why string) {
	s.forget(o, one)
	if s.options.Lost != nil {
		s.options.Lost(one, why)
	}
}

func (s *Store[T]) forget(o *owner[T], one *Item[T]) {
	if one.place != nil {
		one.expiry.Stop()
		o.old.Remove(one.place)
		o.used.add(-1, -one.size)
		s.used.add(-1, -one.size)
	}
	if delete(o.byKey, one.Key); len(o.byKey) == 0 {
		delete(s.owners, o.name)
	}
}

func (b *Bound) add(count int, bytes int64) { b.Count += count; b.Bytes += bytes }

// heaviest is the owner with the most bytes.
func (s *Store[T]) heaviest() (most *owner[T]) {
	for _, o := range s.owners {
		if o.old.Len() > 0 && (most == nil || o.used.Bytes > most.used.Bytes) {
			most = o
		}
	}
	return most
}
