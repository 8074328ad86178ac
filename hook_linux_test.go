package cordon_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/internal/backend/backendtest"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func openHook(t *testing.T, r *cordon.Runner, h run.HookSpec) *cordon.Hook {
	t.Helper()
	opened, err := r.OpenHook(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := opened.Close(); err != nil {
			t.Error(err)
		}
	})
	return opened
}

// openerOf opens hooks for the suite that all tiers with hooks pass.
func openerOf(r *cordon.Runner) backendtest.OpenHook {
	return func(t *testing.T, h run.HookSpec) backendtest.HookCaller { return openHook(t, r, h) }
}

func TestHookContract(t *testing.T) {
	backendtest.HookContract(t, openerOf(newRunner(t, cordon.Options{})))
}

func TestHookEnforcement(t *testing.T) {
	r := newRunner(t, cordon.Options{})
	for _, trust := range []policy.Trust{policy.TrustPlatform, policy.TrustUser} {
		h := openHook(t, r, run.HookSpec{Script: "pass", Trust: trust})
		res, err := h.Call(t.Context(), nil, nil)
		if err != nil || !res.Enforcement.Walls[policy.WallSeccomp].Enforced() {
			t.Errorf("%s: %v, %v", trust, res.Enforcement, err)
		}
	}
}

func TestHookCallsLeaveNothing(t *testing.T) {
	backendtest.HookCallsLeaveNothing(t, openerOf(newRunner(t, cordon.Options{})))
}

func TestHookCallsDoNotPredict(t *testing.T) {
	r := newRunner(t, cordon.Options{})
	for _, trust := range []policy.Trust{policy.TrustPlatform, policy.TrustUser} {
		t.Run(string(trust), func(t *testing.T) { backendtest.HookCallsDoNotPredict(t, openerOf(r), trust) })
	}
}

// The rules also hold for finalizers that run after the call has ended.
func TestLanguageRulesHoldInFinalizers(t *testing.T) {
	r := newRunner(t, cordon.Options{})
	const try = "\n    try: print(self._keep_positive)\n    except Exception as e: print(e)\n"
	const counter = "import collections\nclass X(collections.Counter):\n  def __del__(self):" + try
	for name, script := range map[string]string{
		"at once":            counter + "x = X()",
		"in a cycle":         counter + "x = X()\nx.me = x",
		"of a class":         counter + "X.x = X()",
		"made by another":    "import collections\nclass A:\n  def __del__(self):\n    class X(collections.Counter):\n      pass\n    self = X()" + try + "A()",
		"made by a late one": "class A:\n  def __del__(self, X=None):\n    import collections\n    class X(collections.Counter):\n      def __del__(self):\n    " + strings.ReplaceAll(try, "\n", "\n    ") + "\n    X.x = X()\na = A()",
		"of a coroutine":     "import collections\nclass X(collections.Counter): pass\nclass Now:\n  def __await__(self): return iter([1])\nasync def f(self):\n  try: await Now()\n  finally:" + try + "x = f(X())\nx.send(None)\nX.x = x",
		"of a generator":     "import collections\nclass X(collections.Counter): pass\ndef g(self):\n  try: yield\n  finally:" + try + "x = g(X())\nnext(x)\nX.x = x",
	} {
		t.Run(name, func(t *testing.T) {
			h := openHook(t, r, run.HookSpec{Trust: policy.TrustPlatform, Script: script, Workers: 1})
			for range 70 { // the oldest generation is collected after 64 calls
				res, err := h.Call(t.Context(), nil, nil)
				if err != nil || !res.OK() || strings.Contains(res.Stdout, "<bound method") {
					t.Fatalf("%s %q %q %v", res.Outcome, res.Error, res.Stdout, err)
				}
			}
		})
	}
}

// If a module may keep state that cordon cannot reset, each call gets a new worker.
func TestHookWithStatefulModuleGetsNewWorkers(t *testing.T) {
	r := newRunner(t, cordon.Options{Policy: policy.Policy{Language: policy.Language{Modules: []string{"decimal"}}}})
	h := openHook(t, r, run.HookSpec{Trust: policy.TrustPlatform, Script: "import decimal\nresult['output'] = decimal.getcontext().prec\ndecimal.getcontext().prec = 6"})
	for range 5 {
		if res, err := h.Call(t.Context(), nil, nil); err != nil || string(res.Value) != "28" {
			t.Fatalf("%s %q %v", res.Value, res.Error, err)
		}
	}
}

// A hook without a trust is a user's: each call has its own process of the process
// tier, started one at a time or some ahead.
func TestUserHookHasAProcessForEachCall(t *testing.T) {
	for _, options := range []cordon.Options{{}, {OneShot: true}} {
		r := newRunner(t, options)
		for _, h := range []run.HookSpec{{}, {Trust: policy.TrustUser}, {Workers: 1}, {Workers: 5}} {
			h.Script = "result['output'] = game_state"
			opened := openHook(t, r, h)
			for i := range 5 {
				res, err := opened.Call(t.Context(), i, nil)
				if err != nil || string(res.Value) != strconv.Itoa(i) || res.Enforcement.Tier != policy.TierProcess {
					t.Fatalf("%+v: %s %q %s %v", h, res.Value, res.Error, res.Enforcement.Tier, err)
				}
			}
		}
	}
}

func TestOpenHookRefuses(t *testing.T) {
	r := newRunner(t, cordon.Options{})
	_, err := r.OpenHook(t.Context(), run.HookSpec{Script: "import os\n\nx = eval('1')\ny = ().__class__\n"})
	var refusal *run.Refusal
	if !errors.As(err, &refusal) || !errors.Is(err, run.ErrInvalid) {
		t.Fatalf("%v", err)
	}
	var rules []string
	for _, f := range refusal.Findings {
		rules = append(rules, fmt.Sprintf("%d:%d %s", f.Line, f.Column, f.Rule))
	}
	if want := []string{"1:8 import-not-allowed", "3:5 builtin-not-allowed", "4:5 dunder-attribute"}; !slices.Equal(rules, want) {
		t.Errorf("%q", rules)
	}
	for name, tt := range map[string]struct {
		hook  run.HookSpec
		words string
	}{
		"syntax":         {run.HookSpec{Script: "x = 1\ny = = 2"}, "2:5: syntax: invalid syntax"},
		"empty":          {run.HookSpec{Script: " \n"}, "script: there is nothing to run"},
		"NUL":            {run.HookSpec{Script: "x\x00"}, "NUL byte at offset 1"},
		"no UTF-8":       {run.HookSpec{Script: "x = '\xff'"}, "not valid UTF-8"},
		"huge":           {run.HookSpec{Script: strings.Repeat("#", 17<<20)}, "above the maximum"},
		"limits":         {run.HookSpec{Script: "x", Limits: policy.Limits{Memory: 100 * policy.GiB}}, "above the policy's maximum"},
		"workers":        {run.HookSpec{Script: "x", Workers: -1}, "workers: -1"},
		"trust":          {run.HookSpec{Script: "x", Trust: "god"}, `trust "god" does not exist`},
		"third party":    {run.HookSpec{Script: "x", Trust: policy.TrustThirdParty}, "third-party code cannot be a hook"},
		"nested deeply":  {run.HookSpec{Script: "x = " + strings.Repeat("(", 5000) + strings.Repeat(")", 5000)}, "syntax"},
		"a lone CR":      {run.HookSpec{Script: "# harmless\rimport os"}, "import-not-allowed"},
		"a cookie":       {run.HookSpec{Script: "# -*- coding: utf-7 -*-\n# +AAo-import os"}, ""},
		"NFKC":           {run.HookSpec{Script: "x = ().__ｃlass__"}, "dunder-attribute"},
		"standard alone": {run.HookSpec{Script: "import decimal"}, "import of module 'decimal' is not allowed"},
	} {
		h, err := r.OpenHook(t.Context(), tt.hook)
		if tt.words == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			} else if err := h.Close(); err != nil {
				t.Error(err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), tt.words) {
			t.Errorf("%s: %v; want %q", name, err, tt.words)
		}
	}
}

func TestHookBadArguments(t *testing.T) {
	r := newRunner(t, cordon.Options{})
	backendtest.HookArguments(t, openerOf(r))
	h := openHook(t, r, run.HookSpec{Script: "pass"})
	if _, err := h.CallFunction(t.Context(), ""); !errors.Is(err, run.ErrInvalid) {
		t.Errorf("no name: %v", err)
	}
}

// The output of a call is in its own Result, and bounded.
func TestHookOutput(t *testing.T) {
	r := newRunner(t, cordon.Options{})
	h := openHook(t, r, run.HookSpec{Trust: policy.TrustPlatform, Script: "print('n' * game_state)", Workers: 1})
	for _, n := range []int{3, 100_000, 5} {
		res, err := h.Call(t.Context(), n, nil)
		if err != nil || !res.OK() || int(res.StdoutSize) != n+1 || len(res.Stdout) != min(n+1, 64<<10) {
			t.Errorf("%d: %d bytes, %d kept, %v", n, res.StdoutSize, len(res.Stdout), err)
		}
	}
	r = newRunner(t, cordon.Options{Policy: policy.Policy{OnOutputLimit: policy.OutputKill}})
	h = openHook(t, r, run.HookSpec{Trust: policy.TrustPlatform, Script: "print('n' * game_state)", Workers: 1})
	for _, tt := range []struct {
		n    int
		want run.Outcome
	}{{3, run.Succeeded}, {100_000, run.OutOfOutput}, {5, run.Succeeded}} {
		if res, err := h.Call(t.Context(), tt.n, nil); err != nil || res.Outcome != tt.want {
			t.Errorf("%d: %s, %v", tt.n, res.Outcome, err)
		}
	}
}

func TestHookOutputIsCompleteWithManyCallers(t *testing.T) {
	backendtest.HookOutputOfManyCallers(t, openerOf(newRunner(t, cordon.Options{})))
}

func TestHookCanceled(t *testing.T) {
	backendtest.CanceledHook(t, openerOf(newRunner(t, cordon.Options{})))
}

// Many goroutines call a hook, and some calls fail: each gets its own answer.
func TestHammerHook(t *testing.T) {
	backendtest.HammerHook(t, openerOf(newRunner(t, cordon.Options{})), policy.TrustPlatform, 4000)
}

// The same with a process for each call.
func TestHammerUserHook(t *testing.T) {
	backendtest.HammerHook(t, openerOf(newRunner(t, cordon.Options{})), policy.TrustUser, 800)
}

// The test kills workers while they serve calls.
func TestHookSurvivesItsWorkers(t *testing.T) {
	for _, trust := range []policy.Trust{policy.TrustPlatform, policy.TrustUser} {
		t.Run(string(trust), func(t *testing.T) {
			r := newRunner(t, cordon.Options{})
			h := openHook(t, r, run.HookSpec{Script: "result['output'] = game_state", Trust: trust})
			for i := range 5 {
				if res, err := h.Call(t.Context(), i, nil); err != nil || string(res.Value) != fmt.Sprint(i) {
					t.Fatalf("%d: %s %v", i, res.Value, err)
				}
				killZygotes(t)
			}
		})
	}
}

func TestClosedHook(t *testing.T) {
	r := newRunner(t, cordon.Options{})
	h := openHook(t, r, run.HookSpec{Script: "while game_state: pass\nresult['output'] = 1", Workers: 1})
	done := make(chan error)
	go func() {
		_, err := h.Call(t.Context(), true, nil)
		done <- err
	}()
	for waits := false; !waits; { // until no worker is free
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		_, err := h.Call(ctx, false, nil)
		waits = errors.Is(err, context.DeadlineExceeded)
		cancel()
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; !errors.Is(err, run.ErrClosed) {
		t.Errorf("the call under way: %v", err)
	}
	if _, err := h.Call(t.Context(), false, nil); !errors.Is(err, run.ErrClosed) {
		t.Errorf("a call after the end: %v", err)
	}
	if _, err := r.OpenHook(t.Context(), run.HookSpec{Script: "pass"}); !errors.Is(err, run.ErrClosed) {
		t.Errorf("a hook after the end: %v", err)
	}
	if left := descendants(os.Getpid()); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// The test makes as many calls as a worker serves, and compares the memory of both
// sides, descriptors and processes.
func TestManyCallsLeakNothing(t *testing.T) {
	calls := 100_000
	if testing.Short() {
		calls = 5_000
	}
	r := newRunner(t, cordon.Options{Idle: 1}) // a pool that fills meanwhile needs many descriptors
	h := openHook(t, r, run.HookSpec{Trust: policy.TrustPlatform, Script: `
import re
class Item:
    def __init__(self, n): self.n, self.me = n, self
items = [Item(n) for n in game_state["values"]]
def total(): return sum(i.n for i in items)
result["output"] = total() + len(re.findall("a", game_state["text"]))
`, Workers: 2})
	state := json.RawMessage(`{"values": [1, 2, 3], "text": "banana"}`)
	var first, last run.Result
	var files int
	for i := range calls {
		res, err := h.Call(t.Context(), state, nil)
		if err != nil || string(res.Value) != "9" {
			t.Fatalf("call %d: %s %q %v", i, res.Value, res.Error, err)
		}
		if i == 1000 {
			first, files = res, len(descriptors(t))
		}
		last = res
	}
	if grown := last.Usage.Memory - first.Usage.Memory; grown > 4*policy.MiB {
		t.Errorf("the worker grew by %v in %d calls", grown, calls)
	}
	if now := len(descriptors(t)); now > files+32 { // the pool may have gained its worker since
		t.Errorf("%d open files became %d", files, now)
	}
}
