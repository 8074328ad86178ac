package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cordon-sandbox/cordon/internal/admission"
	"github.com/cordon-sandbox/cordon/internal/kept"
	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/internal/token"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// gate is a guest that runs until the test lets it go on, or it is canceled.
type gate chan struct{}

func (g gate) guest(ctx context.Context, _ run.Request) (run.Result, error) {
	select {
	case <-g:
		return run.Result{Outcome: run.Succeeded, Value: json.RawMessage("1")}, nil
	case <-ctx.Done():
		return run.Result{Outcome: run.Canceled}, nil
	}
}

func lineOf(concurrent, queue int) *admission.Line {
	return admission.NewLine(admission.Options{Concurrent: concurrent, Queue: queue})
}

// mustStart starts a pending run.
func mustStart(t *testing.T, s *Service, who token.Caller) (id string) {
	t.Helper()
	info, err := s.Start(t.Context(), who, observe.HTTP, script, 10, func(error) {})
	if err != nil {
		t.Fatal(err)
	}
	return info.ID
}

// mustFind returns the state of a run, which is that of the list, too.
func mustFind(t *testing.T, s *Service, who token.Caller, id string) RunInfo {
	t.Helper()
	info, err := s.PendingRun(who, id)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range s.PendingRuns(who) {
		if one.ID == id && one == info {
			return info
		}
	}
	t.Errorf("%+v is not in %+v", info, s.PendingRuns(who))
	return info
}

// await waits for a run.
func await(t *testing.T, s *Service, who token.Caller, id string) (RunInfo, run.Result) {
	t.Helper()
	info, answer, err := s.AwaitRun(t.Context(), who, id)
	if err != nil {
		t.Fatal(err)
	}
	answer.Sent()
	return info, answer.Result
}

func TestPendingRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w watcher
		goOn := make(gate)
		s := newService(t, Options{Runner: &fake{line: lineOf(1, 1), guest: goOn.guest}, Observers: []observe.Observer{&w}})
		began := time.Now()
		first, second := mustStart(t, s, alice), mustStart(t, s, alice)
		if waiting, running := s.Queue(); waiting != 1 || running != 1 {
			t.Errorf("%d wait, and %d run", waiting, running)
		}
		if got := mustFind(t, s, alice, first); got != (RunInfo{ID: first, Request: "r1", State: RunRunning, Accepted: began, Began: began}) {
			t.Errorf("%+v", got)
		}
		if got := mustFind(t, s, alice, second); got != (RunInfo{ID: second, Request: "r1", State: RunQueued, Accepted: began}) {
			t.Errorf("%+v", got)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if info, answer, err := s.AwaitRun(ctx, alice, second); err != nil || info.State != RunQueued || answer.Outcome != "" || time.Since(began) != time.Minute {
			t.Errorf("%+v, %+v, %v after %v", info, answer, err, time.Since(began))
		}
		// Longer than a request waits whose client waits with it.
		<-time.After(time.Hour)
		goOn <- struct{}{}
		if info, result := await(t, s, alice, first); info.State != RunDone || info.Outcome != run.Succeeded || !info.Ended.Equal(time.Now()) || string(result.Value) != "1" || result.ID != "r1" {
			t.Errorf("%+v, %+v", info, result)
		}
		synctest.Wait()
		if got := mustFind(t, s, alice, second); got.State != RunRunning || !got.Began.Equal(time.Now()) {
			t.Errorf("%+v", got)
		}
		<-time.After(time.Second)
		goOn <- struct{}{}
		if info, _ := await(t, s, alice, second); info.Ended.Sub(info.Began) != time.Second {
			t.Errorf("%+v", info)
		}
		if list := s.PendingRuns(alice); len(list) != 2 || list[0].ID != first || list[1].ID != second {
			t.Errorf("%+v", list)
		}
		for i, r := range w.runs() {
			if id := []string{first, second}[i]; r.ID != id || r.Caller != "alice" || r.Frontend != observe.HTTP || r.Kind != observe.Script || r.Code != script.Script.Source || r.Started.IsZero() || r.Err != nil || r.Result.Outcome != run.Succeeded {
				t.Errorf("observed %+v", r)
			}
		}
		if waiting, running := s.Queue(); waiting+running != 0 || s.Answers.Unsent() != 0 || len(w.runs()) != 2 {
			t.Errorf("%d wait, %d run, %d bytes are unsent, %d were observed", waiting, running, s.Answers.Unsent(), len(w.runs()))
		}
	})
}

// What is wrong with a request, or with the moment, is an answer to the request. It leaves no
// run.
func TestRefusedPendingRuns(t *testing.T) {
	broken := errors.New("broken")
	for _, tt := range []struct {
		name string
		o    Options
		req  run.Request
		err  error
	}{
		{"wrong", Options{}, run.Request{Script: run.Script{Source: " "}}, run.ErrInvalid},
		{"not allowed", Options{}, run.Request{Command: run.Command{Args: []string{"ls"}}}, &run.Error{Class: run.Forbidden}},
		{"a full queue", Options{Runner: &fake{line: fullLine(t)}}, script, run.ErrBusy},
		{"nothing may run now", Options{Refuse: func() error { return broken }}, script, broken},
		{"a long id", Options{}, run.Request{ID: strings.Repeat("x", maxRequestID+1), Script: script.Script}, run.ErrInvalid},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var w watcher
			tt.o.Observers = []observe.Observer{&w}
			s := newService(t, tt.o)
			info, err := s.Start(t.Context(), alice, observe.HTTP, tt.req, 10, func(error) { t.Error("it has ended") })
			if !errors.Is(err, tt.err) {
				t.Errorf("error %v", err)
			}
			if _, err := s.PendingRun(alice, info.ID); run.ClassOf(err) != run.Unknown || len(s.PendingRuns(alice)) != 0 || len(s.pending.under) != 0 {
				t.Errorf("%v, %+v, %v", err, s.PendingRuns(alice), s.pending.under)
			}
			if got := w.runs(); len(got) != 1 || !errors.Is(got[0].Err, tt.err) {
				t.Errorf("observed %+v", got)
			}
		})
	}
}

// withoutTurns is a Runner that answers at once.
type withoutTurns struct{ *fake }

func (withoutTurns) Run(context.Context, run.Request) (run.Result, error) {
	return run.Result{Outcome: run.Succeeded}, nil
}

func TestPendingRunWithoutTurn(t *testing.T) {
	s := newService(t, Options{Runner: withoutTurns{&fake{}}})
	if info, result := await(t, s, alice, mustStart(t, s, alice)); info.Outcome != run.Succeeded || result.Outcome != run.Succeeded {
		t.Errorf("%+v, %+v", info, result)
	}
}

// A run that is accepted and gets no Result has the reason.
func TestPendingRunsThatFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t, Options{Runner: &fake{guest: func(_ context.Context, req run.Request) (run.Result, error) {
			if req.ID == "panic" {
				panic("guest")
			}
			return run.Result{}, errors.New("broken")
		}}})
		for id, words := range map[string]string{"panic": "panic: guest", "error": "broken"} {
			ended := make(chan error, 1)
			started, err := s.Start(t.Context(), alice, observe.HTTP, run.Request{ID: id, Script: script.Script}, 10, func(err error) { ended <- err })
			if err != nil {
				t.Fatal(err)
			}
			if info, result := await(t, s, alice, started.ID); info.State != RunDone || run.ClassOf(info.Err) != run.Internal || !strings.Contains(info.Err.Error(), words) || info.Outcome != "" || result.Outcome != "" {
				t.Errorf("%+v, %+v", info, result)
			}
			if err := <-ended; err == nil || !strings.Contains(err.Error(), words) {
				t.Errorf("ended with %v", err)
			}
		}
		if waiting, running := s.Queue(); waiting+running != 0 || len(s.pending.under) != 0 {
			t.Errorf("%d wait, and %d run; %v", waiting, running, s.pending.under)
		}
	})
}

// A run that waits in a queue which others need ends as busy.
func TestPendingRunLosesItsTurnToOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t, Options{Runner: &fake{line: lineOf(1, 3), guest: make(gate).guest}})
		var ids []string
		for range 4 {
			ids = append(ids, mustStart(t, s, alice))
		}
		mustStart(t, s, bob)
		if info, _ := await(t, s, alice, ids[3]); run.ClassOf(info.Err) != run.Busy {
			t.Errorf("%+v", info)
		}
	})
}

func TestPendingRunOutlivesItsClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		goOn := make(gate)
		s := newService(t, Options{Runner: &fake{guest: goOn.guest}})
		ctx, cancel := context.WithCancel(t.Context())
		info, err := s.Start(ctx, alice, observe.HTTP, script, 10, func(error) {})
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		goOn <- struct{}{}
		if info, _ := await(t, s, alice, info.ID); info.Outcome != run.Succeeded {
			t.Errorf("%+v", info)
		}
	})
}

// Cancel ends what runs, and what waits never runs. Both have a Result, which another cancel
// forgets.
func TestCancelRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w watcher
		runner := &fake{line: lineOf(1, 1), guest: make(gate).guest}
		s := newService(t, Options{Runner: runner, Observers: []observe.Observer{&w}})
		running, queued := mustStart(t, s, alice), mustStart(t, s, alice)
		for _, id := range []string{queued, running} {
			for range 2 { // the second one does nothing
				if err := s.CancelRun(alice, id); err != nil {
					t.Error(err)
				}
			}
			info, result := await(t, s, alice, id)
			if info.State != RunDone || info.Err != nil || info.Outcome != run.Canceled || result.Outcome != run.Canceled || result.ID != "r1" {
				t.Errorf("%+v, %+v", info, result)
			}
			if id == queued && (!info.Began.IsZero() || result.Status != run.StatusError || result.ErrorType != "canceled" || !strings.Contains(result.Error, "before it began") || result.Enforcement.Tier == "" || result.Enforcement.Tier == policy.TierJail) {
				t.Errorf("%+v, %+v", info, result)
			}
		}
		if runner.runs.Load() != 1 {
			t.Errorf("%d guests ran", runner.runs.Load())
		}
		if got := w.runs(); len(got) != 2 || observe.ClassOf(got[0].Err) != observe.Gone || got[1].Result.Outcome != run.Canceled {
			t.Errorf("observed %+v", got)
		}
		for i, id := range []string{running, queued} {
			if err := s.CancelRun(alice, id); err != nil {
				t.Error(err)
			}
			if _, err := s.PendingRun(alice, id); run.ClassOf(err) != run.Unknown || len(s.PendingRuns(alice)) != 1-i {
				t.Errorf("it is not forgotten: %v", err)
			}
		}
	})
}

// A caller that knows the id of another's run learns nothing with it.
func TestPendingRunsBelongToTheirCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		goOn := make(gate)
		s := newService(t, Options{Runner: &fake{guest: goOn.guest}})
		id := mustStart(t, s, alice)
		refused := func(when string) {
			t.Helper()
			_, described := s.PendingRun(bob, id)
			_, _, awaited := s.AwaitRun(t.Context(), bob, id)
			for _, err := range []error{described, awaited, s.CancelRun(bob, id)} {
				if run.ClassOf(err) != run.Unknown {
					t.Errorf("%s: %v", when, err)
				}
			}
			if list := s.PendingRuns(bob); len(list) != 0 {
				t.Errorf("%s: %+v", when, list)
			}
		}
		refused("while it runs")
		goOn <- struct{}{}
		if info, _ := await(t, s, alice, id); info.Outcome != run.Succeeded {
			t.Errorf("%+v", info)
		}
		refused("done")
		<-time.After(keptResults.For)
		synctest.Wait()
		refused("gone")
	})
}

func TestResultsAreKeptForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t, Options{})
		id := mustStart(t, s, alice)
		await(t, s, alice, id)
		<-time.After(keptResults.For - 1)
		if info, result := await(t, s, alice, id); info.Outcome != run.Succeeded || result.Outcome != run.Succeeded {
			t.Errorf("%+v", info)
		}
		<-time.After(1)
		synctest.Wait()
		_, described := s.PendingRun(alice, id)
		_, _, awaited := s.AwaitRun(t.Context(), alice, id)
		for _, err := range []error{described, awaited, s.CancelRun(alice, id)} {
			if run.ClassOf(err) != run.Gone || !strings.Contains(err.Error(), "it was kept for 10m0s") {
				t.Error(err)
			}
		}
		if list := s.PendingRuns(alice); len(list) != 0 || s.pending.runs.Used() != (kept.Bound{}) {
			t.Errorf("%+v, %+v", list, s.pending.runs.Used())
		}
	})
}

// The oldest Results of a caller make room for its newer ones, by their count and their size,
// and not for those of others.
func TestKeptResultsAreBounded(t *testing.T) {
	for name, tt := range map[string]struct{ size, fit int }{
		"by count": {1, keptResults.PerOwner.Count},
		"by size":  {10 << 20, 6},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				value := make([]byte, tt.size)
				s := newService(t, Options{Runner: &fake{guest: func(context.Context, run.Request) (run.Result, error) {
					return run.Result{Outcome: run.Succeeded, Value: value}, nil
				}}})
				others := mustStart(t, s, bob)
				await(t, s, bob, others)
				var ids []string
				for range tt.fit + 1 {
					id := mustStart(t, s, alice)
					await(t, s, alice, id)
					ids = append(ids, id)
				}
				if _, err := s.PendingRun(alice, ids[0]); run.ClassOf(err) != run.Gone || !strings.Contains(err.Error(), "newer ones") {
					t.Errorf("the oldest one: %v", err)
				}
				for _, id := range ids[1:] {
					if _, err := s.PendingRun(alice, id); err != nil {
						t.Error(err)
					}
				}
				if _, err := s.PendingRun(bob, others); err != nil {
					t.Errorf("that of another caller: %v", err)
				}
			})
		})
	}
}

// A caller has a number of runs that are not done, and requests of a size. The end of one makes
// room for another.
func TestPendingRunsAreBounded(t *testing.T) {
	for name, tt := range map[string]struct {
		size  int64
		fit   int
		words string
	}{
		"by count": {1, maxPending.Count, "64 runs of alice are not done"},
		"by size":  {15 << 20, 4, "have 60MiB, of at most 64MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				goOn := make(gate)
				s := newService(t, Options{Runner: &fake{line: lineOf(1, 1000), guest: goOn.guest}})
				begin := func(who token.Caller) error {
					_, err := s.Start(t.Context(), who, observe.HTTP, script, tt.size, func(error) {})
					return err
				}
				for range tt.fit {
					if err := begin(alice); err != nil {
						t.Fatal(err)
					}
				}
				var busy *admission.Busy
				if err := begin(alice); !errors.As(err, &busy) || !strings.Contains(err.Error(), tt.words) || !strings.Contains(err.Error(), "cancel one") {
					t.Errorf("%v", err)
				}
				if err := begin(bob); err != nil {
					t.Errorf("another caller: %v", err)
				}
				goOn <- struct{}{}
				synctest.Wait()
				if err := begin(alice); err != nil {
					t.Errorf("one has ended: %v", err)
				}
				if err := begin(alice); run.ClassOf(err) != run.Busy {
					t.Errorf("%v", err)
				}
			})
		})
	}
}

// A request that is larger than the bound runs alone.
func TestLargePendingRunIsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t, Options{Runner: &fake{guest: make(gate).guest}})
		for i := range 2 {
			_, err := s.Start(t.Context(), alice, observe.HTTP, script, maxPending.Bytes+1, func(error) {})
			if refused := run.ClassOf(err) == run.Busy; refused != (i == 1) {
				t.Errorf("%d: %v", i, err)
			}
		}
	})
}

// A Result is kept while its caller's other answers are unread, and can be read later.
func TestUnreadAnswersLoseNoResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t, Options{Answers: admission.NewAnswers(admission.AnswerOptions{PerCaller: 100})})
		release, err := s.Answers.Hold("alice", 100)
		if err != nil {
			t.Fatal(err)
		}
		id := mustStart(t, s, alice)
		synctest.Wait()
		if _, _, err := s.AwaitRun(t.Context(), alice, id); run.ClassOf(err) != run.Busy || !strings.Contains(err.Error(), "unread answers of alice") {
			t.Errorf("%v", err)
		}
		release()
		_, answer, err := s.AwaitRun(t.Context(), alice, id)
		if err != nil || answer.Outcome != run.Succeeded || s.Answers.Unsent() == 0 {
			t.Errorf("%+v, %v; %d bytes are unsent", answer, err, s.Answers.Unsent())
		}
		answer.Sent()
	})
}

// Drain waits for pending runs. When its time is over, they end without a Result.
func TestDrainWithPendingRuns(t *testing.T) {
	for _, graceful := range []bool{true, false} {
		t.Run(fmt.Sprint(graceful), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var w watcher
				goOn := make(gate)
				s := newService(t, Options{Runner: &fake{line: lineOf(1, 1), guest: goOn.guest}, Observers: []observe.Observer{&w}})
				ids := []string{mustStart(t, s, alice), mustStart(t, s, alice)}
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				defer cancel()
				drained := make(chan error, 1)
				go func() { drained <- s.Drain(ctx) }()
				synctest.Wait()
				if _, err := s.Start(t.Context(), alice, observe.HTTP, script, 10, func(error) {}); !errors.Is(err, run.ErrClosed) {
					t.Errorf("a new one: %v", err)
				}
				if graceful {
					goOn <- struct{}{}
					goOn <- struct{}{}
				}
				for _, id := range ids {
					info, _ := await(t, s, alice, id)
					if graceful != (info.Outcome == run.Succeeded) || graceful == errors.Is(info.Err, run.ErrClosed) {
						t.Errorf("%+v", info)
					}
				}
				if err := <-drained; err != nil {
					t.Error(err)
				}
				if len(w.runs()) != 3 {
					t.Errorf("observed %+v", w.runs())
				}
				if _, err := s.Start(t.Context(), alice, observe.HTTP, script, 10, func(error) {}); !errors.Is(err, run.ErrClosed) {
					t.Errorf("after the end: %v", err)
				}
			})
		})
	}
}

// The service does not end before what belongs to a run has ended.
func TestEndOfPendingRunIsAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t, Options{})
		var ended atomic.Bool
		if _, err := s.Start(t.Context(), alice, observe.HTTP, script, 10, func(error) {
			<-time.After(time.Second)
			ended.Store(true)
		}); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil || !ended.Load() {
			t.Errorf("%v, %v", err, ended.Load())
		}
	})
}

// hammer: many callers start, await, cancel and list runs while the service ends. Each accepted
// run ends once, and nothing is left counted.
func TestPendingRunsHammer(t *testing.T) {
	for round := range 10 {
		var observed, accepted, refused, ended atomic.Int64
		s := New(Options{
			Runner: &fake{line: lineOf(2, 8), guest: func(ctx context.Context, req run.Request) (run.Result, error) {
				if req.ID == "wait" {
					return untilCanceled(ctx, req)
				}
				return run.Result{Outcome: run.Succeeded}, nil
			}},
			Observers: []observe.Observer{observerFunc(func(observe.Run) { observed.Add(1) })},
		})
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				who := token.Caller{Name: fmt.Sprint("caller-", i%4)}
				for n := range 50 {
					req := script
					if n%5 == 0 {
						req.ID = "wait"
					}
					info, err := s.Start(t.Context(), who, observe.HTTP, req, 10, func(error) { ended.Add(1) })
					if err != nil {
						refused.Add(1)
						continue
					}
					accepted.Add(1)
					if n%2 == 0 {
						_ = s.CancelRun(who, info.ID) // it may be forgotten by the next one
					}
					if _, answer, err := s.AwaitRun(t.Context(), who, info.ID); err == nil {
						answer.Sent()
					}
					for _, one := range s.PendingRuns(who) {
						if one.State == RunDone {
							_ = s.CancelRun(who, one.ID)
						}
					}
				}
			})
		}
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(round)*2*time.Millisecond)
			defer cancel()
			<-ctx.Done()
			if err := s.Drain(ctx); err != nil {
				t.Error(err)
			}
		})
		all.Wait()
		if accepted.Load() != ended.Load() || observed.Load() < accepted.Load() || observed.Load() > accepted.Load()+refused.Load() {
			t.Errorf("%d were accepted, %d refused, %d ended, %d observed", accepted.Load(), refused.Load(), ended.Load(), observed.Load())
		}
		if waiting, running := s.Queue(); waiting+running != 0 || len(s.pending.under) != 0 || s.Answers.Unsent() != 0 {
			t.Errorf("%d wait, %d run, %v are not done, %d bytes are unsent", waiting, running, s.pending.under, s.Answers.Unsent())
		}
	}
}
