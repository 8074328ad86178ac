package service

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/internal/openhooks"
	"github.com/cordon-sandbox/cordon/run"
)

// serviceWithFakeHooks returns a service with fake hooks, and the hooks that it has opened.
func serviceWithFakeHooks(t *testing.T, o Options) (*Service, *[]*fakeHook) {
	t.Helper()
	var made []*fakeHook
	var mu sync.Mutex
	o.OpenHook = func(_ context.Context, h run.HookSpec) (openhooks.Hook, error) {
		mu.Lock()
		defer mu.Unlock()
		if h.Script == "broken" {
			return nil, run.Errorf(run.Invalid, "broken")
		}
		made = append(made, &fakeHook{HookSpec: h})
		return made[len(made)-1], nil
	}
	return newService(t, o), &made
}

func mustOpen(t *testing.T, s *Service) (id string) {
	t.Helper()
	id, err := s.OpenHook(t.Context(), alice, run.HookSpec{Script: "the hook"})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestHooks(t *testing.T) {
	var w watcher
	s, made := serviceWithFakeHooks(t, Options{Observers: []observe.Observer{&w}})
	id := mustOpen(t, s)
	for _, tt := range []struct {
		call openhooks.HookCall
		want string
	}{
		{openhooks.HookCall{State: []byte("1"), Config: []byte("2")}, `["",1,2]`},
		{openhooks.HookCall{Function: "f", Args: []any{"a", "b"}}, `["f","a","b"]`},
		{openhooks.HookCall{}, `["",{},{}]`},
	} {
		got, err := s.CallHook(t.Context(), alice, observe.HTTP, id, tt.call)
		if err != nil || string(got.Value) != tt.want {
			t.Errorf("%s, %v", got.Value, err)
		}
	}
	if _, err := s.CallHook(t.Context(), alice, observe.HTTP, id, openhooks.HookCall{Args: []any{1}}); !errors.Is(err, run.ErrInvalid) {
		t.Errorf("arguments without a function: %v", err)
	}
	if _, err := s.CallHook(t.Context(), bob, observe.HTTP, id, openhooks.HookCall{}); run.ClassOf(err) != run.Unknown {
		t.Errorf("a call by another caller: %v", err)
	}
	if err := s.CloseHook(bob, id); run.ClassOf(err) != run.Unknown {
		t.Errorf("closed by another caller: %v", err)
	}
	if err := s.CloseHook(alice, id); err != nil {
		t.Error(err)
	}
	if err := s.CloseHook(alice, id); run.ClassOf(err) != run.Unknown {
		t.Errorf("closed twice: %v", err)
	}
	if _, err := s.CallHook(t.Context(), alice, observe.HTTP, id, openhooks.HookCall{}); run.ClassOf(err) != run.Unknown {
		t.Errorf("called after it was closed: %v", err)
	}
	if n := (*made)[0].closed.Load(); n != 1 {
		t.Errorf("closed %d times", n)
	}
	var codes []string
	for _, r := range w.runs() {
		if r.Kind != observe.Hook {
			t.Errorf("%+v", r)
		}
		codes = append(codes, r.Code)
	}
	if got := strings.Join(codes, ","); got != "the hook,the hook,the hook,," {
		t.Errorf("observed %q", got)
	}
	if _, err := newService(t, Options{}).OpenHook(t.Context(), alice, run.HookSpec{Script: "1"}); !errors.Is(err, run.ErrUnsupported) {
		t.Errorf("a service without hooks: %v", err)
	}
}

func TestHooksAreBounded(t *testing.T) {
	s, _ := serviceWithFakeHooks(t, Options{})
	var all sync.WaitGroup
	var mu sync.Mutex
	var ids []string
	for range 2 * maxHooks {
		all.Go(func() {
			id, err := s.OpenHook(t.Context(), alice, run.HookSpec{Script: "1"})
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
	if len(ids) != maxHooks {
		t.Fatalf("%d hooks", len(ids))
	}
	if _, err := s.OpenHook(t.Context(), bob, run.HookSpec{Script: "1"}); err != nil {
		t.Errorf("another caller: %v", err)
	}
	if err := s.CloseHook(alice, ids[0]); err != nil {
		t.Fatal(err)
	}
	// Hooks that could not be opened do not count.
	for range 2 * maxHooks {
		if _, err := s.OpenHook(t.Context(), alice, run.HookSpec{Script: "broken"}); !errors.Is(err, run.ErrInvalid) {
			t.Fatal(err)
		}
	}
	mustOpen(t, s)
}

// A hook that nobody calls is closed after ten minutes; a call, however long, keeps it.
func TestIdleHooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, made := serviceWithFakeHooks(t, Options{})
		id := mustOpen(t, s)
		h := (*made)[0]
		call := func() error {
			_, err := s.CallHook(t.Context(), alice, observe.HTTP, id, openhooks.HookCall{})
			return err
		}
		for range 3 {
			<-time.After(hookIdleTimeout - 1)
			if err := call(); err != nil {
				t.Fatal(err)
			}
		}
		h.call = func(context.Context) (run.Result, error) {
			<-time.After(3 * hookIdleTimeout)
			return run.Result{}, nil
		}
		if err := call(); err != nil {
			t.Fatal(err)
		}
		<-time.After(hookIdleTimeout - 1)
		synctest.Wait()
		if h.closed.Load() != 0 {
			t.Fatal("closed too early")
		}
		<-time.After(1)
		synctest.Wait()
		if n := h.closed.Load(); n != 1 {
			t.Errorf("closed %d times", n)
		}
		if err := call(); run.ClassOf(err) != run.Unknown {
			t.Errorf("error %v", err)
		}
		if n := s.Hooks(); n != 0 {
			t.Errorf("%d are open", n)
		}
	})
}

// A hook that was opened and never called is closed after ten minutes too.
func TestHookThatWasNeverCalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, made := serviceWithFakeHooks(t, Options{})
		mustOpen(t, s)
		for _, row := range []struct {
			wait   time.Duration
			closed int64
		}{{hookIdleTimeout - 1, 0}, {1, 1}} {
			<-time.After(row.wait)
			synctest.Wait()
			if n := (*made)[0].closed.Load(); n != row.closed {
				t.Errorf("closed %d times; want %d", n, row.closed)
			}
		}
	})
}

// If an idle hook cannot be closed, Close returns the error, although no caller waited for
// it.
func TestHookThatCannotBeClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck, late := errors.New("stuck"), errors.New("late")
		made := []*fakeHook{{closing: stuck}, {closing: late}}
		s := New(Options{Runner: &fake{}, OpenHook: func(context.Context, run.HookSpec) (openhooks.Hook, error) {
			h := made[0]
			made = made[1:]
			return h, nil
		}})
		mustOpen(t, s)
		<-time.After(hookIdleTimeout)
		synctest.Wait()
		mustOpen(t, s)
		if err := s.Close(); !errors.Is(err, stuck) || !errors.Is(err, late) {
			t.Errorf("error %v", err)
		}
		if err := s.Close(); !errors.Is(err, stuck) {
			t.Errorf("closed again: %v", err)
		}
	})
}

// CloseHook waits for the calls under way and allows no new ones. The end of the service
// waits for both.
func TestHookIsClosedAfterItsCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, made := serviceWithFakeHooks(t, Options{})
		id := mustOpen(t, s)
		h, goOn := (*made)[0], make(chan struct{})
		h.call = func(context.Context) (run.Result, error) {
			<-goOn
			return run.Result{}, nil
		}
		called, closed, drained := make(chan error, 1), make(chan error, 1), make(chan error, 1)
		go func() {
			_, err := s.CallHook(t.Context(), alice, observe.HTTP, id, openhooks.HookCall{})
			called <- err
		}()
		synctest.Wait()
		go func() { closed <- s.CloseHook(alice, id) }()
		synctest.Wait()
		if _, err := s.CallHook(t.Context(), alice, observe.HTTP, id, openhooks.HookCall{}); run.ClassOf(err) != run.Unknown {
			t.Errorf("error %v", err)
		}
		go func() { drained <- s.Drain(t.Context()) }()
		synctest.Wait()
		if h.closed.Load() != 0 || len(drained) != 0 {
			t.Error("closed while it is called")
		}
		close(goOn)
		for _, done := range []chan error{called, closed, drained} {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if n := h.closed.Load(); n != 1 {
			t.Errorf("closed %d times", n)
		}
	})
}

// The end of the service closes the open hooks, and those that are being opened.
func TestHooksEndWithTheService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, made := serviceWithFakeHooks(t, Options{})
		mustOpen(t, s)
		inner, goOn := s.Options.OpenHook, make(chan struct{})
		s.Options.OpenHook = func(ctx context.Context, h run.HookSpec) (openhooks.Hook, error) {
			<-goOn
			return inner(ctx, h)
		}
		opened, drained := make(chan error, 1), make(chan error, 1)
		go func() {
			_, err := s.OpenHook(t.Context(), alice, run.HookSpec{Script: "1"})
			opened <- err
		}()
		synctest.Wait()
		go func() { drained <- s.Drain(t.Context()) }()
		synctest.Wait()
		close(goOn)
		if err := errors.Join(<-opened, <-drained); err != nil {
			t.Error(err)
		}
		for i, h := range *made {
			if n := h.closed.Load(); n != 1 {
				t.Errorf("hook %d was closed %d times", i, n)
			}
		}
		if len(*made) != 2 {
			t.Errorf("%d were opened", len(*made))
		}
	})
}
