package kept

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tested is a store with a record of what it lost.
type tested struct {
	*Store[int]
	t    *testing.T
	lost map[string]string
}

func newTested(t *testing.T, perOwner, total Bound) *tested {
	s := &tested{t: t, lost: map[string]string{}}
	s.Store = NewStore(Options[int]{For: time.Minute, PerOwner: perOwner, Total: total, Lost: func(one *Item[int], why string) {
		s.lost[one.Owner+one.Key] = why
	}})
	return s
}

// put adds an item that has ended.
func (s *tested) put(owner, key string, size int64) *Item[int] {
	s.t.Helper()
	one, first := s.Begin(owner, key, 0)
	if !first {
		s.t.Fatalf("%s of %s is there", key, owner)
	}
	s.Keep(one, size)
	return one
}

// has checks which items there are: owner and key.
func (s *tested) has(want ...string) {
	s.t.Helper()
	var got []string
	var used Bound
	for _, o := range s.owners {
		for _, one := range s.List(o.name) {
			if s.Find(one.Owner, one.Key) != one {
				s.t.Errorf("%s%s is not found", one.Owner, one.Key)
			}
			got = append(got, one.Owner+one.Key)
			if one.place != nil {
				used.add(1, one.size)
			}
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) || used != s.Used() {
		s.t.Errorf("%v, want %v; %+v are used, want %+v", got, want, s.Used(), used)
	}
}

func TestItemsAreKeptForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTested(t, Bound{10, 1000}, Bound{10, 1000})
		one, first := s.Begin("a", "1", 7)
		if again, second := s.Begin("a", "1", 8); !first || second || again != one || one.Value != 7 {
			t.Errorf("%+v, %v; %+v, %v", one, first, again, second)
		}
		if _, first := s.Begin("b", "1", 0); !first {
			t.Error("the key of another owner is taken")
		}
		<-time.After(time.Hour) // a request under way does not expire
		s.Keep(one, 100)
		<-time.After(time.Minute - 1)
		s.has("a1", "b1")
		<-time.After(1)
		synctest.Wait()
		s.has("b1")
		if why := s.lost["a1"]; why != "it was kept for 1m0s" {
			t.Error(why)
		}
		s.Keep(one, 100) // it is forgotten
		if _, first := s.Begin("a", "1", 0); !first {
			t.Error("a key is taken by what is forgotten")
		}
		s.Keep(one, 100) // another item has its key
		s.has("a1", "b1")
		s.Drop(one)
		s.has("a1", "b1")
	})
}

func TestDroppedItems(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTested(t, Bound{10, 1000}, Bound{10, 1000})
		ended, under := s.put("a", "1", 100), s.put("a", "2", 100)
		s.Drop(ended)
		s.Drop(ended)
		s.Drop(under)
		s.has()
		<-time.After(2 * time.Minute)
		synctest.Wait()
		if len(s.lost)+len(s.owners) != 0 || s.Used() != (Bound{}) {
			t.Errorf("lost %v, left %v, used %+v", s.lost, s.owners, s.Used())
		}
	})
}

func TestListIsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTested(t, Bound{100, 1000}, Bound{100, 1000})
		var want, got []string
		for i := range 30 {
			key := fmt.Sprint(i * 7 % 30)
			want = append(want, key)
			one, _ := s.Begin("a", key, 0)
			if i%3 == 0 {
				s.Keep(one, 1)
			}
		}
		for _, one := range s.List("a") {
			got = append(got, one.Key)
		}
		if !slices.Equal(got, want) || s.List("b") != nil || s.Find("b", "1") != nil {
			t.Errorf("%v, want %v", got, want)
		}
	})
}

// An owner loses its own oldest items, and a flood of one owner does not evict the others'.
func TestBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTested(t, Bound{3, 500}, Bound{5, 1000})
		under, _ := s.Begin("a", "0", 0)
		for i := 1; i <= 4; i++ {
			s.put("a", fmt.Sprint(i), 10)
		}
		s.has("a0", "a2", "a3", "a4") // by their count
		s.put("a", "5", 485)
		s.has("a0", "a4", "a5") // by their bytes
		s.put("a", "6", 600)
		s.has("a0", "a6") // the newest one stays, although it is too large
		s.put("b", "1", 10)
		s.put("b", "2", 10)
		s.put("c", "1", 10)
		s.has("a0", "a6", "b1", "b2", "c1")
		s.put("d", "1", 371) // 1,001 bytes in total
		s.has("a0", "b1", "b2", "c1", "d1")
		s.put("c", "2", 10)
		s.put("c", "3", 10) // six in total: d has the most bytes
		s.has("a0", "b1", "b2", "c1", "c2", "c3")
		s.put("d", "2", 1001)
		s.has("a0", "b1", "b2", "c1", "c2", "c3")
		s.Drop(under)
		lost := slices.Sorted(maps.Keys(s.lost))
		if !slices.Equal(lost, []string{"a1", "a2", "a3", "a4", "a5", "a6", "d1", "d2"}) {
			t.Errorf("lost %v", lost)
		}
		if why := s.lost["d2"]; why != "it is too large to be kept" {
			t.Error(why)
		}
		if why := s.lost["a1"]; !strings.Contains(why, "newer") {
			t.Error(why)
		}
	})
}

// hammer: many goroutines begin, keep, drop and find items of the same owners and keys.
func TestHammer(t *testing.T) {
	var mu sync.Mutex
	lost := map[*Item[int]]int{}
	s := NewStore(Options[int]{For: time.Millisecond, PerOwner: Bound{20, 10_000}, Total: Bound{50, 20_000}, Lost: func(one *Item[int], _ string) {
		mu.Lock()
		defer mu.Unlock()
		lost[one]++
	}})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			owner := fmt.Sprint(i % 4)
			for n := range 1000 {
				one, first := s.Begin(owner, fmt.Sprint(n%30), n)
				switch {
				case n%7 == 0:
					s.Drop(one)
				case first || n%5 == 0:
					s.Keep(one, int64(n))
				}
				if used := s.Used(); used.exceeds(s.options.Total) {
					t.Errorf("%+v are used", used)
				}
				s.Find(owner, "1")
				s.List(owner)
			}
		})
	}
	all.Wait()
	for i := range 4 {
		for _, one := range s.List(fmt.Sprint(i)) {
			s.Drop(one)
		}
	}
	if s.Used() != (Bound{}) || len(s.owners) != 0 {
		t.Errorf("%+v are used, by %d owners", s.Used(), len(s.owners))
	}
	mu.Lock()
	defer mu.Unlock()
	for _, times := range lost {
		if times != 1 {
			t.Errorf("an item was lost %d times", times)
		}
	}
}
