package ahead

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// shop counts what it made and discarded.
type shop struct {
	made, discarded atomic.Int64
	fails, busy     bool
	wait            chan struct{} // if not nil, nothing is made before it is closed
}

func (s *shop) pool(limit, each int) *Pool[string, int64] {
	return New(Options[string, int64]{
		Make: func(string) (int64, error) {
			if s.wait != nil {
				<-s.wait
			}
			if s.fails {
				return 0, errors.New("none today")
			}
			return s.made.Add(1), nil
		},
		Discard: func(int64) { s.discarded.Add(1) },
		Busy:    func() bool { return s.busy },
		Max:     limit, MaxEach: each, Lifetime: time.Minute,
	})
}

// mustWait fails the test unless this number of things waits, and counts.
func mustWait(t *testing.T, p *Pool[string, int64], want int) {
	t.Helper()
	synctest.Wait()
	p.mu.Lock()
	count := p.count
	p.mu.Unlock()
	if n := p.Idle(); n != want || count != want {
		t.Errorf("%d wait, and %d are counted, want %d", n, count, want)
	}
}

func TestPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shop{}
		p := s.pool(3, 2)
		if _, ok := p.Take("a"); ok {
			t.Error("an empty pool has something")
		}
		p.Use("a")()
		mustWait(t, p, 1)
		if _, ok := p.Take("b"); ok {
			t.Error("it has another kind")
		}
		if value, ok := p.Take("a"); !ok || value != 1 {
			t.Errorf("%d, %v", value, ok)
		}
		mustWait(t, p, 0)
		for range 5 {
			p.Use("a")()
		}
		mustWait(t, p, 2)
		p.Use("b")()
		p.Use("b")()
		mustWait(t, p, 3)
		p.Close()
		mustWait(t, p, 0)
		if made, discarded := s.made.Load(), s.discarded.Load(); made != 4 || discarded != 3 {
			t.Errorf("%d made, %d discarded", made, discarded)
		}
		p.Use("a")()
		mustWait(t, p, 0)
		if _, ok := p.Take("a"); ok {
			t.Error("a closed pool has something")
		}
	})
}

// The next thing is made beside a long use, and after a short one.
func TestUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shop{}
		p := s.pool(3, 3)
		done := p.Use("a")
		mustWait(t, p, 0)
		<-time.After(shortUse)
		mustWait(t, p, 1)
		done()
		mustWait(t, p, 1)
		done = p.Use("a")
		done()
		mustWait(t, p, 2)
		<-time.After(2 * shortUse)
		mustWait(t, p, 2)
		p.Close()
	})
}

func TestThingsExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shop{}
		p := s.pool(3, 3)
		p.Use("a")()
		<-time.After(30 * time.Second)
		p.Use("a")()
		mustWait(t, p, 2)
		<-time.After(30 * time.Second)
		mustWait(t, p, 1)
		<-time.After(30 * time.Second)
		mustWait(t, p, 0)
		if n := s.discarded.Load(); n != 2 {
			t.Errorf("%d were discarded", n)
		}
		p.Close()
	})
}

// What is taken while its time is up belongs to its taker.
func TestExpiryAfterTake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shop{}
		p := s.pool(1, 1)
		p.Use("a")()
		synctest.Wait()
		old := p.idle["a"][0]
		p.Take("a")
		p.expire("a", old) // as if its timer had fired and waited for the lock
		mustWait(t, p, 0)
		if n := s.discarded.Load(); n != 0 {
			t.Error("it was discarded")
		}
		p.Close()
	})
}

func TestNothingIsMade(t *testing.T) {
	for name, s := range map[string]*shop{"busy": {busy: true}, "failing": {fails: true}} {
		synctest.Test(t, func(t *testing.T) {
			p := s.pool(1, 1)
			for range 3 {
				p.Use("a")()
				mustWait(t, p, 0)
			}
			p.Close()
			if s.made.Load() != 0 {
				t.Errorf("%s: something was made", name)
			}
		})
	}
}

// Close waits for what is being made, and discards it.
func TestCloseWhileMaking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shop{wait: make(chan struct{})}
		p := s.pool(1, 1)
		p.Use("a")()
		closed := make(chan struct{})
		go func() {
			p.Close()
			close(closed)
		}()
		synctest.Wait()
		select {
		case <-closed:
			t.Error("Close did not wait")
		default:
		}
		close(s.wait)
		<-closed
		if made, discarded := s.made.Load(), s.discarded.Load(); made != 1 || discarded != 1 {
			t.Errorf("%d made, %d discarded", made, discarded)
		}
	})
}
