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

	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/internal/token"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// fakeSession counts its steps and closes.
type fakeSession struct {
	run.SessionOptions
	step    func(ctx context.Context, req run.Request) (run.Result, error) // nil: succeeds at once
	closing error
	gone    error // of its files and variables

	steps, interrupts, closed atomic.Int64

	mu     sync.Mutex
	cancel context.CancelFunc // of the running step
}

func (s *fakeSession) Run(ctx context.Context, req run.Request) (run.Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.mu.Lock()
	s.cancel = cancel
	s.mu.Unlock()
	if s.step != nil {
		return s.step(ctx, req)
	}
	return stepResult(int(s.steps.Add(1)), true), nil
}

func (s *fakeSession) Files() (run.Files, error) {
	if s.gone != nil {
		return nil, s.gone
	}
	return nil, run.Errorf(run.Unsupported, "no files")
}

func (s *fakeSession) Variables(context.Context) ([]run.Variable, int, error) {
	return []run.Variable{{Name: "x", Type: "int", Size: 28, Text: "1"}}, 0, s.gone
}

func (s *fakeSession) Interrupt() {
	s.interrupts.Add(1)
	s.stop()
}

func (s *fakeSession) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancel != nil {
		s.cancel()
	}
}

func (s *fakeSession) Close() error {
	s.closed.Add(1)
	s.stop()
	return s.closing
}

func stepResult(number int, survived bool) run.Result {
	r := run.Result{Outcome: run.Succeeded, Step: &run.Step{Number: number, Survived: survived}}
	if !survived {
		r.Outcome, r.Error = run.OutOfMemory, "out of memory"
	}
	return r
}

// untilInterrupted is a step that runs until it is interrupted, and survives that.
func untilInterrupted(ctx context.Context, _ run.Request) (run.Result, error) {
	<-ctx.Done()
	r := stepResult(1, true)
	r.Outcome = run.Canceled
	return r, nil
}

// serviceWithFakeSessions returns a service with fake sessions, and the sessions that it has
// opened.
func serviceWithFakeSessions(t *testing.T, o Options) (*Service, *[]*fakeSession) {
	t.Helper()
	var made []*fakeSession
	var mu sync.Mutex
	o.OpenSession = func(_ context.Context, options run.SessionOptions) (Session, error) {
		mu.Lock()
		defer mu.Unlock()
		if options.Tier == "broken" {
			return nil, run.Errorf(run.Invalid, "broken")
		}
		made = append(made, &fakeSession{SessionOptions: options})
		return made[len(made)-1], nil
	}
	return newService(t, o), &made
}

func mustOpenSession(t *testing.T, s *Service) (id string) {
	t.Helper()
	id, err := s.OpenSession(t.Context(), alice, run.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestSessions(t *testing.T) {
	var w watcher
	s, made := serviceWithFakeSessions(t, Options{Observers: []observe.Observer{&w}})
	id := mustOpenSession(t, s)
	for want := 1; want <= 2; want++ {
		got, err := s.Step(t.Context(), alice, observe.HTTP, id, script)
		if err != nil || got.Step == nil || got.Step.Number != want {
			t.Errorf("%+v, %v", got.Step, err)
		}
	}
	if _, err := s.Step(t.Context(), alice, observe.HTTP, id, run.Request{Command: run.Command{Args: []string{"ls"}}}); !errors.Is(err, run.ErrInvalid) {
		t.Errorf("a command: %v", err)
	}
	got, err := s.Session(alice, id)
	if list := s.Sessions(alice); err != nil || len(list) != 1 || list[0] != got || got.ID != id || got.Busy || got.Opened.IsZero() || got.Used.Before(got.Opened) {
		t.Errorf("%+v, %+v, %v", list, got, err)
	}
	if list := s.Sessions(bob); len(list) != 0 {
		t.Errorf("another caller sees %+v", list)
	}
	if err := s.CloseSession(alice, id); err != nil {
		t.Error(err)
	}
	if h := (*made)[0]; h.closed.Load() != 1 || s.OpenSessions() != 0 {
		t.Errorf("closed %d times, %d are open", h.closed.Load(), s.OpenSessions())
	}
	for name, err := range useSession(t, s, alice, id) {
		if run.ClassOf(err) != run.Unknown {
			t.Errorf("%s after it was closed: %v", name, err)
		}
	}
	var codes []string
	for _, r := range w.runs() {
		if r.Kind != observe.Script || r.Frontend != observe.HTTP || r.Caller != "alice" {
			t.Errorf("%+v", r)
		}
		codes = append(codes, r.Code)
	}
	if got := strings.Join(codes, ","); got != "result = 1,result = 1,,result = 1" {
		t.Errorf("observed %q", got)
	}
	if _, err := newService(t, Options{}).OpenSession(t.Context(), alice, run.SessionOptions{}); !errors.Is(err, run.ErrUnsupported) {
		t.Errorf("a service without sessions: %v", err)
	}
}

// useSession returns the error of each use of a session.
func useSession(t *testing.T, s *Service, who token.Caller, id string) map[string]error {
	t.Helper()
	_, step := s.Step(t.Context(), who, observe.HTTP, id, script)
	_, described := s.Session(who, id)
	return map[string]error{"a step": step, "described": described, "interrupted": s.Interrupt(who, id), "closed": s.CloseSession(who, id)}
}

// A caller that knows the id of another's session learns nothing with it.
func TestSessionsBelongToTheirCaller(t *testing.T) {
	s, made := serviceWithFakeSessions(t, Options{})
	id := mustOpenSession(t, s)
	for name, err := range useSession(t, s, bob, id) {
		if run.ClassOf(err) != run.Unknown {
			t.Errorf("%s by another caller: %v", name, err)
		}
	}
	one := (*made)[0]
	one.step = func(context.Context, run.Request) (run.Result, error) { return stepResult(1, false), nil }
	if _, err := s.Step(t.Context(), alice, observe.HTTP, id, script); err != nil {
		t.Fatal(err)
	}
	for name, err := range useSession(t, s, bob, id) {
		if run.ClassOf(err) != run.Unknown {
			t.Errorf("%s by another caller, after its end: %v", name, err)
		}
	}
	if one.interrupts.Load() != 0 {
		t.Error("another caller interrupted a step")
	}
}

// A session is opened within the ceiling of its caller, and so are its steps.
func TestSessionsStayBelowTheCeiling(t *testing.T) {
	s, made := serviceWithFakeSessions(t, Options{})
	who := token.Caller{Name: "low", Ceiling: token.Ceiling{
		Restricted: true, Tiers: []policy.Tier{policy.TierProcess}, Maxima: policy.Limits{WallTime: time.Second},
	}}
	id, err := s.OpenSession(t.Context(), who, run.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if o := (*made)[0].SessionOptions; !o.Restricted || o.Tier != policy.TierProcess || o.Limits.WallTime != time.Second {
		t.Errorf("%+v", o)
	}
	if _, err := s.OpenSession(t.Context(), who, run.SessionOptions{Tier: policy.TierWasm}); !errors.Is(err, run.ErrForbidden) {
		t.Errorf("another tier: %v", err)
	}
	above := policy.Limits{WallTime: 2 * time.Second}
	if _, err := s.OpenSession(t.Context(), who, run.SessionOptions{Limits: above}); !errors.Is(err, run.ErrInvalid) {
		t.Errorf("a session above the maximum: %v", err)
	}
	request := script
	request.Limits = above
	if _, err := s.Step(t.Context(), who, observe.HTTP, id, request); !errors.Is(err, run.ErrInvalid) {
		t.Errorf("a step above the maximum: %v", err)
	}
}

func TestSessionsAreBounded(t *testing.T) {
	s, _ := serviceWithFakeSessions(t, Options{})
	var all sync.WaitGroup
	var mu sync.Mutex
	var ids []string
	for range 2 * maxSessions {
		all.Go(func() {
			id, err := s.OpenSession(t.Context(), alice, run.SessionOptions{})
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				ids = append(ids, id)
			} else if !errors.Is(err, run.ErrBusy) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for len(ids) < maxSessions { // the queue was full for some
		ids = append(ids, mustOpenSession(t, s))
	}
	if len(ids) != maxSessions || s.OpenSessions() != maxSessions || len(s.Sessions(alice)) != maxSessions {
		t.Fatalf("%d sessions", len(ids))
	}
	if _, err := s.OpenSession(t.Context(), alice, run.SessionOptions{}); !errors.Is(err, run.ErrBusy) || !strings.Contains(err.Error(), "close one first") {
		t.Errorf("one too many: %v", err)
	}
	if _, err := s.OpenSession(t.Context(), bob, run.SessionOptions{}); err != nil {
		t.Errorf("another caller: %v", err)
	}
	if err := s.CloseSession(alice, ids[0]); err != nil {
		t.Fatal(err)
	}
	// Sessions that could not be opened do not count.
	for range 2 * maxSessions {
		if _, err := s.OpenSession(t.Context(), alice, run.SessionOptions{Tier: "broken"}); !errors.Is(err, run.ErrInvalid) {
			t.Fatal(err)
		}
	}
	mustOpenSession(t, s)
}

// A session without a step for half an hour is closed, and its owner learns why; a step,
// however long, keeps it, and a description does not.
func TestIdleSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, made := serviceWithFakeSessions(t, Options{})
		id := mustOpenSession(t, s)
		one := (*made)[0]
		one.step = func(context.Context, run.Request) (run.Result, error) {
			<-time.After(3 * sessionIdleTimeout)
			return stepResult(1, true), nil
		}
		<-time.After(sessionIdleTimeout - 1)
		if _, err := s.Step(t.Context(), alice, observe.HTTP, id, script); err != nil {
			t.Fatal(err)
		}
		<-time.After(sessionIdleTimeout - 1)
		if _, err := s.Session(alice, id); err != nil || one.closed.Load() != 0 {
			t.Fatalf("closed too early: %v", err)
		}
		<-time.After(1)
		synctest.Wait()
		if n := one.closed.Load(); n != 1 || s.OpenSessions() != 0 {
			t.Errorf("closed %d times, %d are open", n, s.OpenSessions())
		}
		for name, err := range useSession(t, s, alice, id) {
			if !errors.Is(err, run.ErrGone) || !strings.Contains(err.Error(), "nobody used it for 30m") {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// A session that does not survive a step is closed, and its owner learns why.
func TestSessionsThatEnd(t *testing.T) {
	s, made := serviceWithFakeSessions(t, Options{})
	for want, step := range map[string]func(context.Context, run.Request) (run.Result, error){
		"out of memory": func(context.Context, run.Request) (run.Result, error) { return stepResult(1, false), nil },
		"the worker died": func(context.Context, run.Request) (run.Result, error) {
			return run.Result{}, run.Errorf(run.Gone, "the worker died")
		},
	} {
		id := mustOpenSession(t, s)
		one := (*made)[len(*made)-1]
		one.step = step
		got, err := s.Step(t.Context(), alice, observe.HTTP, id, script)
		if err == nil && (got.Step == nil || got.Step.Survived) || err != nil && !errors.Is(err, run.ErrGone) {
			t.Errorf("%+v, %v", got.Result, err)
		}
		if n := one.closed.Load(); n != 1 || s.OpenSessions() != 0 || len(s.Sessions(alice)) != 0 {
			t.Errorf("closed %d times, %d are open", n, s.OpenSessions())
		}
		for name, err := range useSession(t, s, alice, id) {
			if !errors.Is(err, run.ErrGone) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	// A step that failed without an end changes nothing.
	id := mustOpenSession(t, s)
	(*made)[len(*made)-1].step = func(context.Context, run.Request) (run.Result, error) {
		return run.Result{}, run.Errorf(run.Busy, "full")
	}
	if _, err := s.Step(t.Context(), alice, observe.HTTP, id, script); !errors.Is(err, run.ErrBusy) {
		t.Error(err)
	}
	if _, err := s.Session(alice, id); err != nil {
		t.Error(err)
	}
}

// Whoever finds that a session is gone ends it, whatever they wanted of it.
func TestSessionsThatAreGone(t *testing.T) {
	for name, use := range map[string]func(s *Service, id string) error{
		"files": func(s *Service, id string) error {
			return s.InFiles(alice, id, func(run.Files) error { return nil })
		},
		"variables": func(s *Service, id string) error {
			_, _, err := s.Variables(t.Context(), alice, id)
			return err
		},
	} {
		s, made := serviceWithFakeSessions(t, Options{})
		id := mustOpenSession(t, s)
		one := (*made)[0]
		one.gone = run.Errorf(run.Gone, "the worker died")
		if err := use(s, id); !errors.Is(err, run.ErrGone) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := s.Session(alice, id); !errors.Is(err, run.ErrGone) || one.closed.Load() != 1 {
			t.Errorf("%s: it is still open: %v", name, err)
		}
	}
}

// An interrupted step leaves the session open. CloseSession ends a running step, too.
func TestInterrupt(t *testing.T) {
	for name, interrupt := range map[string]func(s *Service, id string) error{
		"interrupt": func(s *Service, id string) error { return s.Interrupt(alice, id) },
		"close":     func(s *Service, id string) error { return s.CloseSession(alice, id) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, made := serviceWithFakeSessions(t, Options{})
				id := mustOpenSession(t, s)
				one := (*made)[0]
				one.step = untilInterrupted
				stepped := make(chan Answer, 1)
				go func() {
					got, err := s.Step(t.Context(), alice, observe.HTTP, id, script)
					if err != nil {
						t.Error(err)
					}
					stepped <- got
				}()
				synctest.Wait()
				if got, err := s.Session(alice, id); err != nil || !got.Busy {
					t.Errorf("%+v, %v", got, err)
				}
				if err := interrupt(s, id); err != nil {
					t.Error(err)
				}
				if got := <-stepped; got.Outcome != run.Canceled || (name == "interrupt") != (one.interrupts.Load() == 1) {
					t.Errorf("%+v, %d interrupts", got.Result, one.interrupts.Load())
				}
				if closed := one.closed.Load(); (name == "close") != (closed == 1) || closed != int64(1-s.OpenSessions()) {
					t.Errorf("closed %d times, %d are open", closed, s.OpenSessions())
				}
			})
		})
	}
}

// The end of the service closes the open sessions, after their steps, and those that are being
// opened.
func TestSessionsEndWithTheService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, made := serviceWithFakeSessions(t, Options{})
		id := mustOpenSession(t, s)
		one, goOn := (*made)[0], make(chan struct{})
		one.step = func(context.Context, run.Request) (run.Result, error) {
			<-goOn
			return stepResult(1, true), nil
		}
		inner := s.Options.OpenSession
		s.Options.OpenSession = func(ctx context.Context, o run.SessionOptions) (Session, error) {
			<-goOn
			return inner(ctx, o)
		}
		stepped, opened, drained := make(chan error, 1), make(chan error, 1), make(chan error, 1)
		go func() {
			_, err := s.Step(t.Context(), alice, observe.HTTP, id, script)
			stepped <- err
		}()
		go func() {
			_, err := s.OpenSession(t.Context(), alice, run.SessionOptions{})
			opened <- err
		}()
		synctest.Wait()
		go func() { drained <- s.Drain(t.Context()) }()
		synctest.Wait()
		if one.closed.Load() != 0 || len(drained) != 0 {
			t.Error("closed during a step")
		}
		close(goOn)
		if err := errors.Join(<-stepped, <-opened, <-drained); err != nil {
			t.Error(err)
		}
		for i, one := range *made {
			if n := one.closed.Load(); n != 1 {
				t.Errorf("session %d was closed %d times", i, n)
			}
		}
		if len(*made) != 2 {
			t.Errorf("%d were opened", len(*made))
		}
		if _, err := s.OpenSession(t.Context(), alice, run.SessionOptions{}); !errors.Is(err, run.ErrClosed) {
			t.Errorf("opened after the end: %v", err)
		}
	})
}

// A service that ends at once interrupts the running steps, and their callers learn that it
// was not they who did.
func TestCloseInterruptsSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, made := serviceWithFakeSessions(t, Options{})
		id := mustOpenSession(t, s)
		(*made)[0].step = untilInterrupted
		stepped := make(chan error, 1)
		go func() {
			_, err := s.Step(t.Context(), alice, observe.HTTP, id, script)
			stepped <- err
		}()
		synctest.Wait()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := <-stepped; !errors.Is(err, run.ErrClosed) {
			t.Errorf("the step: %v", err)
		}
	})
}

// If an idle session cannot be closed, Close returns the error.
func TestSessionThatCannotBeClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := errors.New("stuck")
		s := New(Options{Runner: &fake{}, OpenSession: func(context.Context, run.SessionOptions) (Session, error) {
			return &fakeSession{closing: stuck}, nil
		}})
		mustOpenSession(t, s)
		<-time.After(sessionIdleTimeout)
		synctest.Wait()
		if err := s.Close(); !errors.Is(err, stuck) {
			t.Errorf("error %v", err)
		}
	})
}
