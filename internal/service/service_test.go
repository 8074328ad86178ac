package service

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/internal/admission"
	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/internal/openhooks"
	"github.com/cordon-sandbox/cordon/internal/token"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Observers get each request once, however it ends.
func TestObservers(t *testing.T) {
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	broken := errors.New("broken")
	for _, tt := range []struct {
		name    string
		ctx     context.Context
		o       Options
		req     run.Request
		kind    observe.Kind
		code    string
		err     error // nil: it ran
		started bool
	}{
		{name: "a script", req: script, kind: observe.Script, code: "result = 1", started: true},
		{name: "a command", o: Options{Commands: true}, req: run.Request{Command: run.Command{Args: []string{"ls", "-l"}}}, kind: observe.Command, code: "ls\x00-l", started: true},
		{name: "not allowed", req: run.Request{Command: run.Command{Args: []string{"ls"}}}, kind: observe.Command, code: "ls", err: &run.Error{Class: run.Forbidden}},
		{name: "wrong", req: run.Request{Script: run.Script{Source: "1"}, Tier: "moon"}, kind: observe.Script, code: "1", err: run.ErrInvalid},
		{name: "busy", o: Options{Runner: &fake{line: fullLine(t)}}, req: script, kind: observe.Script, code: "result = 1", err: run.ErrBusy},
		{name: "nobody waits for it", ctx: canceled, req: script, kind: observe.Script, code: "result = 1", err: context.Canceled},
		{name: "nothing may run now", o: Options{Refuse: func() error { return broken }}, req: script, kind: observe.Script, code: "result = 1", err: broken},
		{name: "our failure", o: Options{Runner: &fake{guest: func(context.Context, run.Request) (run.Result, error) { return run.Result{}, broken }}},
			req: script, kind: observe.Script, code: "result = 1", err: broken, started: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var one, two watcher
			tt.o.Observers = []observe.Observer{&one, &two}
			s := newService(t, tt.o)
			if tt.ctx == nil {
				tt.ctx = t.Context()
			}
			result, err := s.Run(tt.ctx, alice, observe.MCP, tt.req)
			if !errors.Is(err, tt.err) {
				t.Errorf("error %v", err)
			}
			if err == nil && (result.Outcome != run.Succeeded || result.ID != tt.req.ID) {
				t.Errorf("%+v", result)
			}
			if len(one.runs()) != 1 || len(two.runs()) != 1 {
				t.Fatalf("observed %d and %d times", len(one.runs()), len(two.runs()))
			}
			got := one.runs()[0]
			if got.Caller != "alice" || got.Frontend != observe.MCP || got.Kind != tt.kind || got.Code != tt.code || len(got.ID) < 20 {
				t.Errorf("%+v", got)
			}
			if !errors.Is(got.Err, tt.err) || got.Result.Outcome != result.Outcome || got.Started.IsZero() == tt.started {
				t.Errorf("%+v", got)
			}
			if got.Arrived.IsZero() || got.Ended.Before(got.Arrived) || tt.started && got.Started.Before(got.Arrived) {
				t.Errorf("arrived %v, started %v, ended %v", got.Arrived, got.Started, got.Ended)
			}
		})
	}
}

func TestEachRunHasAnIDOfItsOwn(t *testing.T) {
	var w watcher
	s := newService(t, Options{Observers: []observe.Observer{&w}})
	ids := map[string]bool{}
	for range 100 {
		if _, err := s.Run(t.Context(), alice, observe.HTTP, script); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range w.runs() {
		ids[r.ID] = true
		if r.Result.ID != "r1" {
			t.Errorf("the request's own id is %q", r.Result.ID)
		}
	}
	if len(ids) != 100 {
		t.Errorf("%d ids for 100 runs", len(ids))
	}
}

type panics struct{}

func (panics) Ended(context.Context, observe.Run) {
	panic("observer")
}

// The frontend handles a panic and may continue after it: no turn is lost, and every
// observer gets the run.
func TestPanics(t *testing.T) {
	guest := func(context.Context, run.Request) (run.Result, error) {
		panic("guest")
	}
	for _, tt := range []struct {
		name   string
		o      Options
		failed bool // the run, as observers see it
	}{
		{"of an observer", Options{Runner: &fake{}, Observers: []observe.Observer{panics{}}}, false},
		{"of the Runner", Options{Runner: &fake{guest: guest}}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var before, after watcher
			tt.o.Observers = append(append([]observe.Observer{&before}, tt.o.Observers...), &after)
			runner := tt.o.Runner.(*fake)
			runner.line = admission.NewLine(admission.Options{Concurrent: 1})
			s := newService(t, tt.o)
			for range 3 {
				func() {
					defer func() {
						if recover() == nil {
							t.Error("no panic")
						}
					}()
					_, _ = s.Run(t.Context(), alice, observe.HTTP, script)
				}()
			}
			for _, w := range []*watcher{&before, &after} {
				if len(w.runs()) != 3 {
					t.Fatalf("observed %d times", len(w.runs()))
				}
				if err := w.runs()[0].Err; (err != nil) != tt.failed {
					t.Errorf("error %v", err)
				}
			}
			if waiting, running := s.Queue(); waiting+running != 0 {
				t.Errorf("%d wait, and %d run", waiting, running)
			}
		})
	}
}

// stageRecorder records the stages as they begin and end.
type stageRecorder struct{ stages []string }

func (tr *stageRecorder) Begin(ctx context.Context, s observe.Stage) (context.Context, func(error)) {
	tr.stages = append(tr.stages, string(s))
	return ctx, func(err error) {
		word := "/" + string(s)
		if err != nil {
			word += "!"
		}
		tr.stages = append(tr.stages, word)
	}
}

func TestTracer(t *testing.T) {
	guest := func(ctx context.Context, _ run.Request) (run.Result, error) {
		_, end := observe.Begin(ctx, observe.Guest)
		end(nil)
		return run.Result{}, nil
	}
	var tr stageRecorder
	s := newService(t, Options{Runner: &fake{guest: guest}, Tracer: &tr})
	if _, err := s.Run(t.Context(), alice, observe.HTTP, script); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(t.Context(), alice, observe.HTTP, run.Request{}); err == nil {
		t.Fatal("accepted")
	}
	if got := strings.Join(tr.stages, " "); got != "request queue /queue guest /guest /request request /request!" {
		t.Error(got)
	}
}

func TestCheck(t *testing.T) {
	finding := run.Finding{Line: 3}
	runner := &fake{check: func(context.Context, run.Check) ([]run.Finding, error) { return []run.Finding{finding}, nil }}
	s := newService(t, Options{Runner: runner})
	if found, err := s.Check(t.Context(), alice, run.Check{Script: "1"}); err != nil || len(found) != 1 || found[0].Line != 3 {
		t.Errorf("%v, %v", found, err)
	}
	if _, err := s.Check(t.Context(), alice, run.Check{}); !errors.Is(err, run.ErrInvalid) {
		t.Errorf("error %v", err)
	}
	limited := token.Caller{Name: "limited", Quota: admission.Quota{Rate: 0.001, Burst: 1}}
	if _, err := s.Check(t.Context(), limited, run.Check{Script: "1"}); err != nil {
		t.Error(err)
	}
	if _, err := s.Check(t.Context(), limited, run.Check{Script: "1"}); !errors.Is(err, run.ErrBusy) {
		t.Errorf("a check above the rate: %v", err)
	}
}

// A service keeps no state in the process or the Runner: two of them do not affect each
// other.
func TestTwoServicesOverOneRunner(t *testing.T) {
	runner := &fake{}
	open := func(_ context.Context, h run.HookSpec) (openhooks.Hook, error) { return &fakeHook{HookSpec: h}, nil }
	first := newService(t, Options{Runner: runner, OpenHook: open, Policy: policy.Policy{}})
	second := newService(t, Options{Runner: runner, OpenHook: open, Commands: true})
	id, err := first.OpenHook(t.Context(), alice, run.HookSpec{Script: "1"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := second.CallHook(t.Context(), alice, observe.HTTP, id, openhooks.HookCall{}); run.ClassOf(err) != run.Unknown {
		t.Errorf("a hook of another service: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := first.Run(t.Context(), alice, observe.HTTP, script); !errors.Is(err, run.ErrClosed) {
		t.Errorf("error %v", err)
	}
	if _, err := second.Run(t.Context(), alice, observe.HTTP, script); err != nil {
		t.Error(err)
	}
	if err := second.Ready(); err != nil {
		t.Error(err)
	}
}

// A tier may have bounds of its own. A request that exceeds one gets the time of a retry.
func TestBusyRunner(t *testing.T) {
	busy := func() error { return run.Errorf(run.Busy, "9 runs are waiting already") }
	runner := &fake{
		guest: func(context.Context, run.Request) (run.Result, error) { return run.Result{}, busy() },
		check: func(context.Context, run.Check) ([]run.Finding, error) { return nil, busy() },
	}
	told := &watcher{}
	s := newService(t, Options{Runner: runner, Observers: []observe.Observer{told}})
	_, ran := s.Run(t.Context(), alice, observe.HTTP, script)
	_, checked := s.Check(t.Context(), alice, run.Check{Script: "1"})
	for _, err := range []error{ran, checked, told.runs()[0].Err} {
		var known *admission.Busy
		if run.ClassOf(err) != run.Busy || !errors.As(err, &known) || known.RetryAfter < time.Second || known.Reason != "9 runs are waiting already" {
			t.Errorf("%v: %+v", err, known)
		}
	}
}

// If the Runner lacks the bundle of a tier, a request for that tier is invalid; the service
// has not failed.
func TestWasmWithoutItsBundle(t *testing.T) {
	s := newService(t, Options{Runner: &fake{guest: func(context.Context, run.Request) (run.Result, error) {
		return run.Result{}, run.Errorf(run.NotFound, "no bundle in /secret/place")
	}}})
	_, err := s.Run(t.Context(), alice, observe.HTTP, run.Request{Script: run.Script{Source: "1"}, Tier: policy.TierWasm})
	if class := run.ClassOf(err); class != run.Invalid || strings.Contains(err.Error(), "/secret") || !strings.Contains(err.Error(), `tier "wasm"`) {
		t.Errorf("%s, %v", class, err)
	}
}

// runnerWithAbilities is a Runner that reports its abilities.
type runnerWithAbilities struct {
	*fake
	has observe.Abilities
}

func (a runnerWithAbilities) Abilities() observe.Abilities { return a.has }

// Info lists only what works for its caller: no tier without its Python, and no jail for a
// caller that may not run commands.
func TestInfoSaysWhatWorks(t *testing.T) {
	for _, tt := range []struct {
		has      observe.Abilities
		commands bool
		ceiling  token.Ceiling
		want     []policy.Tier
	}{
		{observe.Abilities{Python: "3.11", WasmScripts: true}, true, token.Ceiling{}, []policy.Tier{policy.TierProcess, policy.TierWasm, policy.TierJail}},
		{observe.Abilities{Python: "3.11"}, true, token.Ceiling{}, []policy.Tier{policy.TierProcess, policy.TierJail}},
		{observe.Abilities{Python: "3.11", WasmScripts: true}, false, token.Ceiling{}, []policy.Tier{policy.TierProcess, policy.TierWasm}},
		{observe.Abilities{Python: "3.11"}, true, token.Ceiling{ScriptsOnly: true}, []policy.Tier{policy.TierProcess}},
		{observe.Abilities{Python: "3.11", WasmScripts: true}, true, token.Ceiling{Tiers: []policy.Tier{policy.TierWasm}}, []policy.Tier{policy.TierWasm}},
	} {
		s := newService(t, Options{Runner: runnerWithAbilities{&fake{}, tt.has}, Commands: tt.commands})
		if got := s.Info(token.Caller{Name: "alice", Ceiling: tt.ceiling}); !slices.Equal(got.Tiers, tt.want) || got.Python != "3.11" || got.Packages == nil {
			t.Errorf("%+v: %v, %q", tt, got.Tiers, got.Python)
		}
	}
}
