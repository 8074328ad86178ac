package service

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cordon-sandbox/cordon/internal/admission"
	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/internal/openhooks"
	"github.com/cordon-sandbox/cordon/run"
)

type answer struct {
	run.Result
	error
}

// start runs a request in a goroutine, and returns the channel that receives its answer.
func start(ctx context.Context, s *Service) <-chan answer {
	answers := make(chan answer, 1)
	go func() {
		result, err := s.Run(ctx, alice, observe.HTTP, script)
		answers <- answer{result.Result, err}
	}()
	synctest.Wait()
	return answers
}

// Running and waiting requests finish, new ones are refused, and Drain returns when the last
// one has ended.
func TestDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w watcher
		goOn := make(chan struct{})
		runner := &fake{line: admission.NewLine(admission.Options{Concurrent: 1, Queue: 1}), guest: func(context.Context, run.Request) (run.Result, error) {
			<-goOn
			return run.Result{Outcome: run.Succeeded}, nil
		}}
		s := newService(t, Options{Runner: runner, Observers: []observe.Observer{&w}})
		running, waiting := start(t.Context(), s), start(t.Context(), s)
		if waiting, running := s.Queue(); waiting != 1 || running != 1 {
			t.Errorf("%d wait, and %d run", waiting, running)
		}

		drained := make(chan error, 1)
		go func() { drained <- s.Drain(t.Context()) }()
		synctest.Wait()
		if err := s.Ready(); !errors.Is(err, run.ErrClosed) {
			t.Errorf("ready: %v", err)
		}
		if _, err := s.Run(t.Context(), alice, observe.HTTP, script); !errors.Is(err, run.ErrClosed) {
			t.Errorf("run: %v", err)
		}
		if _, err := s.Check(t.Context(), alice, run.Check{Script: "1"}); !errors.Is(err, run.ErrClosed) {
			t.Errorf("check: %v", err)
		}
		if len(w.runs()) != 1 || !errors.Is(w.runs()[0].Err, run.ErrClosed) {
			t.Errorf("observed %+v", w.runs())
		}
		goOn <- struct{}{}
		synctest.Wait()
		if len(drained) != 0 {
			t.Error("Drain returned while a request that had waited runs")
		}
		goOn <- struct{}{}
		for _, answers := range []<-chan answer{running, waiting} {
			if got := <-answers; got.error != nil || got.Outcome != run.Succeeded {
				t.Errorf("%+v", got)
			}
		}
		if err := <-drained; err != nil {
			t.Error(err)
		}
		if _, err := s.Run(t.Context(), alice, observe.HTTP, script); !errors.Is(err, run.ErrClosed) {
			t.Errorf("after the end: %v", err)
		}
		if len(w.runs()) != 3 {
			t.Errorf("observed %d requests, with one after the end", len(w.runs()))
		}
	})
}

// When the context of Drain ends, guests are canceled, and waiting requests get an error
// with the reason.
func TestDrainWithoutEnd(t *testing.T) {
	for _, tt := range []struct {
		name string
		end  func(s *Service) error
		took time.Duration
	}{
		{"the grace is over", func(s *Service) error {
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			defer cancel()
			return s.Drain(ctx)
		}, 5 * time.Second},
		{"closed", (*Service).Close, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newService(t, Options{Runner: &fake{guest: untilCanceled, line: admission.NewLine(admission.Options{Concurrent: 1, Queue: 1})}})
				running, waiting := start(t.Context(), s), start(t.Context(), s)
				began := time.Now()
				if err := tt.end(s); err != nil {
					t.Error(err)
				}
				if took := time.Since(began); took != tt.took {
					t.Errorf("took %v", took)
				}
				// A run that the service ended is not a result of the guest, and can be retried.
				if got := <-running; !errors.Is(got.error, run.ErrClosed) || got.Outcome != "" || !strings.Contains(got.error.Error(), "try again") {
					t.Errorf("the running one: %+v", got)
				}
				if got := <-waiting; !errors.Is(got.error, run.ErrClosed) {
					t.Errorf("the waiting one: %+v", got)
				}
			})
		})
	}
}

// A caller that cancels its own request gets no error about the end of the service.
func TestCallerCancels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t, Options{Runner: &fake{guest: untilCanceled, line: admission.NewLine(admission.Options{Concurrent: 1, Queue: 1})}})
		ctx, cancel := context.WithCancel(t.Context())
		running, waiting := start(ctx, s), start(ctx, s)
		cancel()
		if got := <-running; got.error != nil || got.Outcome != run.Canceled {
			t.Errorf("the running one: %+v", got)
		}
		// It may get the other request's turn for a moment.
		if got := <-waiting; got.Outcome != run.Canceled && (!errors.Is(got.error, context.Canceled) || errors.Is(got.error, run.ErrClosed)) {
			t.Errorf("the waiting one: %+v", got)
		}
	})
}

// Refused requests cannot keep a draining service alive.
func TestDrainUnderFire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release, slow := make(chan struct{}), make(chan struct{})
		var told atomic.Int64
		observer := observerFunc(func(r observe.Run) {
			if r.Err != nil && told.Add(1) == 1 {
				<-slow
			}
		})
		runner := &fake{guest: func(context.Context, run.Request) (run.Result, error) {
			<-release
			return run.Result{Outcome: run.Succeeded}, nil
		}}
		s := newService(t, Options{Runner: runner, Observers: []observe.Observer{observer}})
		running := start(t.Context(), s)
		drained := make(chan error, 1)
		go func() { drained <- s.Drain(t.Context()) }()
		synctest.Wait()
		refused := start(t.Context(), s) // its observer has not returned
		release <- struct{}{}
		<-running
		if got := <-start(t.Context(), s); !errors.Is(got.error, run.ErrClosed) {
			t.Errorf("%+v", got)
		}
		if told.Load() != 1 {
			t.Error("observed a request that arrived after the last one ended")
		}
		if len(drained) != 0 {
			t.Error("Drain returned before an observer did")
		}
		slow <- struct{}{}
		<-refused
		if err := <-drained; err != nil {
			t.Error(err)
		}
	})
}

type observerFunc func(observe.Run)

func (f observerFunc) Ended(_ context.Context, r observe.Run) { f(r) }

// Many runs, calls and hooks arrive while several goroutines end the service: each gets one
// answer and is observed once, and nothing is left open.
func TestHammerEnd(t *testing.T) {
	for round := range 20 {
		var told, asked atomic.Int64
		var opened, closed atomic.Int64
		open := func(_ context.Context, h run.HookSpec) (openhooks.Hook, error) {
			opened.Add(1)
			return &countedHook{closed: &closed}, nil
		}
		s := New(Options{
			Runner: &fake{line: admission.NewLine(admission.Options{Concurrent: 2, Queue: 8})}, OpenHook: open,
			Observers: []observe.Observer{observerFunc(func(observe.Run) { told.Add(1) })},
		})
		var all sync.WaitGroup
		begin := make(chan struct{})
		var afterEnd atomic.Int64
		count := func(err error) {
			asked.Add(1)
			if errors.Is(err, run.ErrClosed) {
				afterEnd.Add(1)
			}
		}
		for range 8 {
			all.Go(func() {
				<-begin
				for range 20 {
					_, err := s.Run(t.Context(), alice, observe.HTTP, script)
					count(err)
					id, err := s.OpenHook(t.Context(), bob, run.HookSpec{Script: "1"})
					if err != nil {
						continue
					}
					_, err = s.CallHook(t.Context(), bob, observe.HTTP, id, openhooks.HookCall{})
					count(err)
					if err := s.CloseHook(bob, id); err != nil && run.ClassOf(err) != run.Closed && run.ClassOf(err) != run.Unknown {
						t.Error(err)
					}
				}
			})
		}
		for i := range 2 {
			all.Go(func() {
				<-begin
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(round)*100*time.Microsecond)
				defer cancel()
				if i == 0 {
					<-ctx.Done()
				}
				if err := s.Drain(ctx); err != nil {
					t.Error(err)
				}
			})
		}
		close(begin)
		all.Wait()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if opened.Load() != closed.Load() {
			t.Errorf("%d hooks were opened, and %d closed", opened.Load(), closed.Load())
		}
		if n := told.Load(); n > asked.Load() || n < asked.Load()-afterEnd.Load() {
			t.Errorf("observed %d of %d, with %d refused at the end", n, asked.Load(), afterEnd.Load())
		}
		if waiting, running := s.Queue(); waiting != 0 || running != 0 {
			t.Errorf("%d wait, and %d run", waiting, running)
		}
	}
}

type countedHook struct {
	fakeHook
	closed *atomic.Int64
}

func (h *countedHook) Close() error {
	h.closed.Add(1)
	return nil
}
