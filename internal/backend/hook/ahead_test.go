package hook

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cordon-sandbox/cordon/run"
)

func once(context.Context, int) (bool, error) { return false, nil }

func (s *shop) onceHook(t *testing.T, most int, ahead *Ahead) *Hook {
	t.Helper()
	first, err := s.start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return New(first, Options{Start: s.start, MaxWorkers: most, Ahead: ahead})
}

func (a *Ahead) free() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.left
}

// Each call gets its own worker, which was opened before the call.
func TestOpensAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shop{work: once}
		ahead := NewAhead(2, 10)
		h := s.onceHook(t, 4, ahead)
		seen := map[string]bool{}
		for i := range 10 {
			if h.Idle() == 0 {
				t.Errorf("no worker waits for call %d", i)
			}
			res, err := h.Call(t.Context(), Call{})
			if err != nil || seen[res.ID] {
				t.Errorf("call %d: worker %s, %v", i, res.ID, err)
			}
			seen[res.ID] = true
			synctest.Wait()
			if h.Idle() != 2 || h.Workers() != 2 || s.open.Load() != 2 || ahead.free() != 8 {
				t.Errorf("%d wait of %d, %d are open, %d places are left", h.Idle(), h.Workers(), s.open.Load(), ahead.free())
			}
		}
		h.Close()
		if s.open.Load() != 0 || ahead.free() != 10 {
			t.Errorf("%d are open, %d places are left", s.open.Load(), ahead.free())
		}
	})
}

// A successor is not opened while the call still runs: both would compete for a CPU.
func TestSuccessorStartsAfterCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shop{work: func(context.Context, int) (bool, error) {
			pass(time.Second)
			return false, nil
		}}
		h := s.onceHook(t, 4, NewAhead(1, 1))
		go func() {
			if _, err := h.Call(t.Context(), Call{}); err != nil {
				t.Error(err)
			}
		}()
		synctest.Wait()
		if s.made.Load() != 1 {
			t.Errorf("%d were opened while the first one works", s.made.Load())
		}
		pass(2 * time.Second)
		if s.made.Load() != 2 {
			t.Errorf("%d were opened when it was done", s.made.Load())
		}
		h.Close()
	})
}

// All hooks share a number of slots, and hooks without a slot also work.
func TestAheadIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shop{work: once}
		ahead := NewAhead(2, 5)
		var hooks []*Hook
		for range 4 {
			hooks = append(hooks, s.onceHook(t, 4, ahead))
		}
		for range 3 {
			for i, h := range hooks {
				if _, err := h.Call(t.Context(), Call{}); err != nil {
					t.Errorf("hook %d: %v", i, err)
				}
				synctest.Wait()
				if h.Idle() > 2 || s.open.Load() > 5 || int(s.open.Load()) != 5-ahead.free() {
					t.Errorf("%d wait for hook %d, %d in all, %d places are left", h.Idle(), i, s.open.Load(), ahead.free())
				}
			}
		}
		for _, h := range hooks {
			h.Close()
		}
		if s.open.Load() != 0 || ahead.free() != 5 {
			t.Errorf("%d are open, %d places are left", s.open.Load(), ahead.free())
		}
	})
}

// An idle hook returns all its slots, and takes them again with the next call.
func TestIdleHookReturnsSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shop{work: once}
		ahead := NewAhead(2, 2)
		h := s.onceHook(t, 4, ahead)
		for range 2 {
			if _, err := h.Call(t.Context(), Call{}); err != nil {
				t.Error(err)
			}
			synctest.Wait()
			if h.Idle() != 2 {
				t.Errorf("%d wait", h.Idle())
			}
			pass(3 * idleFor)
			if h.Workers() != 0 || s.open.Load() != 0 || ahead.free() != 2 {
				t.Errorf("%d workers are kept, %d open, %d places are left", h.Workers(), s.open.Load(), ahead.free())
			}
		}
		h.Close()
	})
}

// Without any slot, the worker that opened the hook is closed, and each call opens one.
func TestCallsWorkWithoutSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shop{work: once}
		h := s.onceHook(t, 1, NewAhead(2, 0))
		for i := range 3 {
			if h.Workers() != 0 || s.open.Load() != 0 {
				t.Errorf("%d workers, %d open", h.Workers(), s.open.Load())
			}
			if res, err := h.Call(t.Context(), Call{}); err != nil || res.ID != fmt.Sprint(i+2) {
				t.Errorf("worker %s, %v", res.ID, err)
			}
			synctest.Wait()
		}
		h.Close()
	})
}

// A successor that cannot be opened does not fail the next call: a worker is opened for
// the call, and only its failure is reported.
func TestFailedSuccessorDoesNotFailCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		none := errors.New("no more workers")
		s := &shop{work: once}
		s.fail = func(n int) error {
			if n == 2 {
				pass(time.Second) // until a caller waits for it
			}
			if n == 2 || n == 4 || n == 5 {
				return none
			}
			return nil
		}
		ahead := NewAhead(1, 1)
		h := s.onceHook(t, 1, ahead)
		for i, want := range []string{"1", "3"} {
			if res, err := h.Call(t.Context(), Call{}); err != nil || res.ID != want {
				t.Errorf("call %d: worker %s, %v", i, res.ID, err)
			}
		}
		synctest.Wait()
		if _, err := h.Call(t.Context(), Call{}); !errors.Is(err, none) {
			t.Errorf("%v", err)
		}
		if res, err := h.Call(t.Context(), Call{}); err != nil || res.ID != "6" {
			t.Errorf("worker %s, %v", res.ID, err)
		}
		h.Close()
		if ahead.free() != 1 || s.open.Load() != 0 {
			t.Errorf("%d places are left, %d open", ahead.free(), s.open.Load())
		}
	})
}

// TestHammerAhead does everything at once, with hooks that share slots.
func TestHammerAhead(t *testing.T) {
	var calls atomic.Int32
	s := &shop{work: func(context.Context, int) (bool, error) {
		calls.Add(1)
		return false, nil
	}}
	s.fail = func(n int) error {
		if n%7 == 0 {
			return errors.New("no worker")
		}
		return nil
	}
	ahead := NewAhead(2, 5)
	var hooks [4]*Hook
	for i := range hooks { // before any start may fail
		hooks[i] = s.onceHook(t, 3, ahead)
	}
	var wg sync.WaitGroup
	for _, h := range hooks {
		var callers sync.WaitGroup
		for g := range 8 {
			callers.Go(func() {
				for i := range 200 {
					ctx, cancel := context.WithCancel(t.Context())
					if (g+i)%13 == 0 {
						go cancel()
					}
					if _, err := h.Call(ctx, Call{}); err != nil && ctx.Err() == nil && err.Error() != "no worker" && !errors.Is(err, run.ErrClosed) {
						t.Error(err)
					}
					cancel()
				}
			})
		}
		wg.Go(func() {
			callers.Wait()
			h.Close()
		})
	}
	wg.Wait()
	if s.open.Load() != 0 || ahead.free() != 5 {
		t.Errorf("%d workers are left, %d places of 5", s.open.Load(), ahead.free())
	}
}
