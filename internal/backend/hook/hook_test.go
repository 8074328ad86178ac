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

	"go.uber.org/goleak"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/run"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// shop makes workers and counts them.
type shop struct {
	made, open atomic.Int32
	work       func(ctx context.Context, n int) (reusable bool, err error)
	fail       func(n int) error // nil: every start works
}

type worker struct {
	shop   *shop
	number int
	busy   atomic.Bool
	closed atomic.Bool
}

func (s *shop) start(context.Context) (Worker, error) {
	n := int(s.made.Add(1))
	if s.fail != nil {
		if err := s.fail(n); err != nil {
			return nil, err
		}
	}
	s.open.Add(1)
	return &worker{shop: s, number: n}, nil
}

func (w *worker) Call(ctx context.Context, _ Call) (run.Result, bool, error) {
	if w.busy.Swap(true) || w.closed.Load() {
		return run.Result{}, false, errors.New("a worker has two calls, or is closed")
	}
	defer w.busy.Store(false)
	reusable, err := w.shop.work(ctx, w.number)
	return run.Result{ID: fmt.Sprint(w.number)}, reusable, err
}

func (w *worker) Close() {
	if !w.closed.Swap(true) {
		w.shop.open.Add(-1)
	}
}

func (s *shop) hook(t *testing.T, most int) *Hook {
	t.Helper()
	first, err := s.start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return New(first, Options{Start: s.start, MaxWorkers: most})
}

func works(context.Context, int) (bool, error) { return true, nil }

func TestOneWorkerServesOneCaller(t *testing.T) {
	s := &shop{work: works}
	h := s.hook(t, 4)
	for range 10 {
		if res, err := h.Call(t.Context(), Call{}); err != nil || res.ID != "1" {
			t.Fatalf("%s %v", res.ID, err)
		}
	}
	h.Close()
	if s.open.Load() != 0 {
		t.Errorf("%d workers are left", s.open.Load())
	}
	if _, err := h.Call(t.Context(), Call{}); !errors.Is(err, run.ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
	h.Close() // again
}

// Workers are started as calls need them, up to MaxWorkers, and all but one are closed
// when idle.
func TestGrowsAndShrinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shop{work: func(context.Context, int) (bool, error) {
			pass(time.Second)
			return true, nil
		}}
		h := s.hook(t, 3)
		var wg sync.WaitGroup
		start := time.Now()
		for range 6 {
			wg.Go(func() {
				if _, err := h.Call(t.Context(), Call{}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if took := time.Since(start); took != 2*time.Second || h.Workers() != 3 {
			t.Errorf("%d workers did it in %v", h.Workers(), took)
		}
		pass(3 * idleFor)
		if h.Workers() != 1 || s.open.Load() != 1 {
			t.Errorf("%d workers are kept", h.Workers())
		}
		if _, err := h.Call(t.Context(), Call{}); err != nil {
			t.Error(err)
		}
		h.Close()
	})
}

// A useless worker is replaced before the next call.
func TestReplacesLostWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shop{work: func(context.Context, int) (bool, error) { return false, nil }}
		h := s.hook(t, 2)
		for i := range 3 {
			res, err := h.Call(t.Context(), Call{})
			if err != nil || res.ID != fmt.Sprint(i+1) {
				t.Errorf("call %d: worker %s, %v", i, res.ID, err)
			}
			synctest.Wait()
			if s.open.Load() != 1 || h.Workers() != 1 {
				t.Errorf("%d are open, %d are counted", s.open.Load(), h.Workers())
			}
		}
		h.Close()
	})
}

// A call gets another worker if its worker died before the call started, but not if it
// died during the call.
func TestRetriesWhenWorkerDiedBeforeStart(t *testing.T) {
	s := &shop{work: func(_ context.Context, n int) (bool, error) {
		if n <= 3 {
			return false, fmt.Errorf("gone: %w", backend.ErrNotStarted)
		}
		return true, nil
	}}
	h := s.hook(t, 2)
	if res, err := h.Call(t.Context(), Call{}); err != nil || res.ID != "4" {
		t.Errorf("%s %v", res.ID, err)
	}
	h.Close()

	s = &shop{work: func(context.Context, int) (bool, error) { return false, backend.ErrNotStarted }}
	h = s.hook(t, 2)
	if _, err := h.Call(t.Context(), Call{}); !errors.Is(err, backend.ErrNotStarted) || s.made.Load() > maxAttempts+2 {
		t.Errorf("%v after %d workers", err, s.made.Load())
	}
	h.Close()

	broken := errors.New("broken")
	s = &shop{work: func(context.Context, int) (bool, error) { return false, broken }}
	h = s.hook(t, 1)
	if _, err := h.Call(t.Context(), Call{}); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	h.Close()
}

// All idle workers may have died with their fork server. That must not fail a call,
// however many there were.
func TestCallSurvivesDeadIdleWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = 4 * maxAttempts
		var dead atomic.Bool
		s := &shop{work: func(_ context.Context, n int) (bool, error) {
			if dead.Load() && n <= most {
				return false, fmt.Errorf("gone: %w", backend.ErrNotStarted)
			}
			pass(time.Second)
			return true, nil
		}}
		h := s.hook(t, most)
		var wg sync.WaitGroup
		for range most {
			wg.Go(func() {
				if _, err := h.Call(t.Context(), Call{}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if h.Idle() != most {
			t.Errorf("%d rest", h.Idle())
		}
		dead.Store(true)
		if _, err := h.Call(t.Context(), Call{}); err != nil {
			t.Error(err)
		}
		h.Close()
	})
}

// A call that waits for a worker which cannot be started gets the error, and the next
// call tries again.
func TestFailedStartIsReported(t *testing.T) {
	none := errors.New("no more workers")
	s := &shop{work: func(_ context.Context, n int) (bool, error) { return n != 1, nil }}
	s.fail = func(n int) error {
		if n == 2 {
			return none
		}
		return nil
	}
	synctest.Test(t, func(t *testing.T) {
		h := s.hook(t, 1)
		if _, err := h.Call(t.Context(), Call{}); err != nil {
			t.Error(err)
		}
		synctest.Wait() // its replacement has failed while no call waited
		if h.Workers() != 0 {
			t.Errorf("%d workers are counted", h.Workers())
		}
		if res, err := h.Call(t.Context(), Call{}); err != nil || res.ID != "3" {
			t.Errorf("%s %v", res.ID, err)
		}
		h.Close()
	})
}

// A canceled call does not take a worker.
func TestCanceledCallTakesNoWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shop{work: func(context.Context, int) (bool, error) {
			pass(time.Second)
			return true, nil
		}}
		h := s.hook(t, 1)
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*500*time.Millisecond)
				defer cancel()
				if _, err := h.Call(ctx, Call{}); err != nil && !errors.Is(err, context.DeadlineExceeded) {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if _, err := h.Call(t.Context(), Call{}); err != nil || h.Workers() != 1 {
			t.Errorf("%v, %d workers", err, h.Workers())
		}
		h.Close()
	})
}

// Close waits for the running calls, and rejects the waiting ones.
func TestCloseWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shop{work: func(context.Context, int) (bool, error) {
			pass(time.Second)
			return true, nil
		}}
		h := s.hook(t, 1)
		var done, turned atomic.Int32
		for range 5 {
			go func() {
				switch _, err := h.Call(t.Context(), Call{}); {
				case err == nil:
					done.Add(1)
				case errors.Is(err, run.ErrClosed):
					turned.Add(1)
				default:
					t.Error(err)
				}
			}()
		}
		synctest.Wait()
		h.Close()
		synctest.Wait()
		if done.Load() != 1 || turned.Load() != 4 || s.open.Load() != 0 {
			t.Errorf("%d done, %d turned away, %d workers open", done.Load(), turned.Load(), s.open.Load())
		}
	})
}

// TestHammer does everything at once.
func TestHammer(t *testing.T) {
	var calls atomic.Int32
	type attempts struct{}
	s := &shop{work: func(ctx context.Context, _ int) (bool, error) {
		tried := ctx.Value(attempts{}).(*int)
		*tried++
		switch n := calls.Add(1); {
		case n%7 == 0:
			return false, nil
		case n%11 == 0 && *tried < maxAttempts: // otherwise it may give up
			return false, backend.ErrNotStarted
		}
		return true, nil
	}}
	s.fail = func(n int) error {
		if n%5 == 0 {
			return errors.New("no worker")
		}
		return nil
	}
	h := s.hook(t, 4)
	var wg sync.WaitGroup
	for g := range 16 {
		wg.Go(func() {
			for i := range 500 {
				ctx, cancel := context.WithCancel(context.WithValue(t.Context(), attempts{}, new(int)))
				if (g+i)%13 == 0 {
					cancel()
				}
				_, err := h.Call(ctx, Call{})
				if err != nil && ctx.Err() == nil && err.Error() != "no worker" {
					t.Error(err)
				}
				cancel()
			}
		})
	}
	wg.Wait()
	h.Close()
	if s.open.Load() != 0 {
		t.Errorf("%d workers are left", s.open.Load())
	}
}

// pass lets time pass, in a bubble of synctest.
func pass(d time.Duration) { <-time.After(d) }
