package portable

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/internal/backend/backendtest"
	"github.com/cordon-sandbox/cordon/internal/backend/hook"
	"github.com/cordon-sandbox/cordon/internal/launch"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// caller calls a hook as the Runner does.
type caller struct{ *hook.Hook }

func (c caller) Call(ctx context.Context, state, config any) (run.Result, error) {
	return c.Hook.Call(ctx, hook.Call{Arguments: []hook.Argument{{Name: "state", Value: state}, {Name: "config", Value: config}}})
}

func (c caller) CallFunction(ctx context.Context, name string, args ...any) (run.Result, error) {
	call := hook.Call{Function: name}
	for i, arg := range args {
		call.Arguments = append(call.Arguments, hook.Argument{Name: fmt.Sprintf("argument %d", i+1), Value: arg})
	}
	return c.Hook.Call(ctx, call)
}

// tryHook opens a hook with the limits that the Runner would give it.
func tryHook(t *testing.T, b *Scripts, h run.HookSpec) (caller, error) {
	t.Helper()
	p := b.options.Policy
	limits, err := p.Narrow(h.Limits.Fill(policy.DefaultCallLimits().Capped(p.Limits), p.Maxima))
	if err != nil {
		t.Fatal(err)
	}
	opened, err := b.OpenHook(t.Context(), h, limits)
	if err == nil {
		t.Cleanup(opened.Close)
	}
	return caller{opened}, err
}

func openHook(t *testing.T, b *Scripts, h run.HookSpec) caller {
	t.Helper()
	opened, err := tryHook(t, b, h)
	if err != nil {
		t.Fatal(err)
	}
	return opened
}

func opener(t *testing.T) backendtest.OpenHook {
	b := openWith(t, Options{Launcher: newNaked(), Ahead: hook.NewAhead(1, 4)})
	return func(t *testing.T, h run.HookSpec) backendtest.HookCaller { return openHook(t, b, h) }
}

func TestHookContract(t *testing.T)          { backendtest.HookContract(t, opener(t)) }
func TestHookCallsLeaveNothing(t *testing.T) { backendtest.HookCallsLeaveNothing(t, opener(t)) }
func TestHookCallsDoNotPredict(t *testing.T) {
	backendtest.HookCallsDoNotPredict(t, opener(t), policy.TrustPlatform) // any other call has a new interpreter
}
func TestHookArguments(t *testing.T) { backendtest.HookArguments(t, opener(t)) }
func TestHookOutputOfManyCallers(t *testing.T) {
	backendtest.HookOutputOfManyCallers(t, opener(t))
}
func TestCanceledHook(t *testing.T) { backendtest.CanceledHook(t, opener(t)) }
func TestHammerHook(t *testing.T) {
	backendtest.HammerHook(t, opener(t), policy.TrustPlatform, 400)
}
func TestHammerUserHook(t *testing.T) {
	backendtest.HammerHook(t, opener(t), policy.TrustUser, 32)
}

// Calls of a platform hook share one process. Any other call has its own.
func TestHookProcesses(t *testing.T) {
	for _, tt := range []struct {
		trust   policy.Trust
		started int
	}{{policy.TrustPlatform, 1}, {policy.TrustUser, 5}, {"", 5}} {
		l := newNaked()
		h := openHook(t, openWith(t, Options{Launcher: l, Ahead: hook.NewAhead(0, 1)}), run.HookSpec{Trust: tt.trust, Workers: 1, Script: "import re\nresult['output'] = game_state"})
		for i := range 5 {
			if res, err := h.Call(t.Context(), i, nil); err != nil || string(res.Value) != fmt.Sprint(i) {
				t.Errorf("%s %q %v", res.Value, res.Error, err)
			}
		}
		if n := l.started(); n != tt.started {
			t.Errorf("%q: %d processes for 5 calls, want %d", tt.trust, n, tt.started)
		}
	}
}

func TestOpenHookRefuses(t *testing.T) {
	l := newNaked()
	b := openScripts(t, l, policy.Policy{})
	_, err := tryHook(t, b, run.HookSpec{Script: "import os\ny = ().__class__"})
	var refusal *run.Refusal
	if !errors.As(err, &refusal) || !errors.Is(err, run.ErrInvalid) || len(refusal.Findings) != 2 || refusal.Findings[1].Line != 2 {
		t.Errorf("%v", err)
	}
	for script, words := range map[string]string{
		"x = 1\ny = = 2": "2:5: syntax: invalid syntax",
		"x = " + strings.Repeat("(", 5000) + strings.Repeat(")", 5000): "syntax",
	} {
		if _, err := tryHook(t, b, run.HookSpec{Script: script}); run.ClassOf(err) != run.Invalid || !strings.Contains(err.Error(), words) {
			t.Errorf("%v; want %q", err, words)
		}
	}
	l.failing = run.Errorf(run.Unsupported, "no walls today")
	if _, err := tryHook(t, b, run.HookSpec{Script: "pass"}); err == nil || !strings.Contains(err.Error(), "no walls today") {
		t.Errorf("%v", err)
	}
	broken := openScripts(t, newNaked(), policy.Policy{Preload: []string{"no_such_module"}})
	if _, err := tryHook(t, broken, run.HookSpec{Script: "pass"}); run.ClassOf(err) != run.Unsupported || !strings.Contains(err.Error(), "no_such_module") {
		t.Errorf("%v", err)
	}
}

// A hook has no network and no file but its directory, which is removed with its process.
func TestHookAccess(t *testing.T) {
	l := newNaked()
	b, err := NewScripts(t.Context(), Options{Policy: policy.Policy{AllowNet: []string{"allowed.example:80"}}, Launcher: l})
	if err != nil {
		t.Fatal(err)
	}
	h := openHook(t, b, run.HookSpec{Trust: policy.TrustPlatform, Script: "result['output'] = 1"})
	res, err := h.Call(t.Context(), nil, nil)
	if err != nil || !res.OK() || res.Enforcement.Walls[policy.WallEgress].String() != "enforced (nothing can be reached)" {
		t.Errorf("%s %v %v", res.Error, res.Enforcement, err)
	}
	order := l.last(t)
	if a := order.Access; a.Proxy != 0 || a.AnyNetwork || a.Programs || !slices.Equal(a.Write, []string{order.Dir}) {
		t.Errorf("%+v", a)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(order.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is left behind: %v", order.Dir, err)
	}
}

// A process that died between two calls is replaced, and no call fails because of it.
func TestHookSurvivesItsProcess(t *testing.T) {
	l := newNaked()
	h := openHook(t, openScripts(t, l, policy.Policy{}), run.HookSpec{Trust: policy.TrustPlatform, Script: "result['output'] = game_state", Workers: 1})
	for i := range 3 {
		if res, err := h.Call(t.Context(), i, nil); err != nil || string(res.Value) != fmt.Sprint(i) {
			t.Fatalf("%d: %s %q %v", i, res.Value, res.Error, err)
		}
		l.killAll()
	}
}

// A process that reaches a limit while no call runs is killed and replaced.
func TestIdleProcessIsWatched(t *testing.T) {
	for _, claimed := range []launch.Usage{{Memory: policy.GiB}, {CPUTime: time.Hour}} {
		l := newNaked()
		h := openHook(t, openScripts(t, l, policy.Policy{}), run.HookSpec{Trust: policy.TrustPlatform, Script: "result['output'] = 1", Workers: 1})
		l.claimed.Store(&claimed)
		select {
		case <-l.processes[0].ended:
		case <-time.After(time.Minute):
			t.Fatalf("%+v: it still runs", claimed)
		}
		l.claimed.Store(nil)
		if res, err := h.Call(t.Context(), nil, nil); err != nil || !res.OK() || l.started() != 2 {
			t.Errorf("%s %q %v, %d processes", res.Outcome, res.Error, err, l.started())
		}
	}
}

// A guest that escapes the language rules can lie about its own call only.
func TestHostileHooks(t *testing.T) {
	b := openScripts(t, newNaked(), policy.Policy{Language: policy.Language{Modules: []string{"os"}}})
	for name, tt := range map[string]struct {
		script  string
		outcome run.Outcome
	}{
		"rubbish":           {"import os\nif game_state: os.write(3, b'rubbish')", run.InvalidOutput},
		"another answer":    {"import os\nif game_state: os.write(3, b'D\\x01\\x00\\x00\\x00{0')", run.InvalidOutput},
		"another message":   {"import os\nif game_state: os.write(3, b'R\\x00\\x00\\x00\\x00')", run.InvalidOutput},
		"a closed channel":  {"import os\nif game_state: os.close(3)", run.Exited},
		"a signal":          {"import os\nif game_state: os.kill(os.getpid(), 9)", run.Signaled},
		"its own input":     {"import os\nif game_state: os.close(0)", run.Succeeded},
		"no output streams": {"import os\nif game_state:\n  os.close(1)\n  os.close(2)", run.Succeeded},
		"output at the end": {"import os\nif game_state: os.write(1, bytes(7))", run.Succeeded},
	} {
		t.Run(name, func(t *testing.T) {
			h := openHook(t, b, run.HookSpec{Trust: policy.TrustPlatform, Script: tt.script, Workers: 1, Limits: policy.Limits{WallTime: 20 * time.Second}})
			res, err := h.Call(t.Context(), true, nil)
			if err != nil || res.Outcome != tt.outcome {
				t.Errorf("%s %q %v; want %s", res.Outcome, res.Error, err, tt.outcome)
			}
			if res, err := h.Call(t.Context(), false, nil); err != nil || !res.OK() || res.Stdout != "" {
				t.Errorf("the next call: %s %q %q %v", res.Outcome, res.Error, res.Stdout, err)
			}
		})
	}
}

// Close ends a running call.
func TestCloseEndsCalls(t *testing.T) {
	l := newNaked()
	b, err := NewScripts(t.Context(), Options{Launcher: l})
	if err != nil {
		t.Fatal(err)
	}
	h := openHook(t, b, run.HookSpec{Script: "while True: pass"})
	<-l.watched // while it was opened
	ended := make(chan error, 1)
	go func() {
		_, err := h.Call(t.Context(), nil, nil)
		ended <- err
	}()
	<-l.watched
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, run.ErrClosed) {
		t.Errorf("the running call: %v", err)
	}
	if _, err := h.Call(t.Context(), nil, nil); !errors.Is(err, run.ErrClosed) {
		t.Errorf("a call after the end: %v", err)
	}
	if _, err := tryHook(t, b, run.HookSpec{Script: "pass"}); !errors.Is(err, run.ErrClosed) {
		t.Errorf("a hook after the end: %v", err)
	}
	if _, err := os.Lstat(l.last(t).Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}
