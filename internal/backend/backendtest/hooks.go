package backendtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// HookCaller is an open hook under test.
type HookCaller interface {
	Call(ctx context.Context, state, config any) (run.Result, error)
	CallFunction(ctx context.Context, name string, args ...any) (run.Result, error)
}

// OpenHook opens a hook with the backend under test, and closes it when the test ends.
type OpenHook func(t *testing.T, h run.HookSpec) HookCaller

// tierOf maps the trust of a hook to the tier of its calls.
var tierOf = map[policy.Trust]policy.Tier{policy.TrustPlatform: policy.TierHook, policy.TrustUser: policy.TierProcess}

func call(ctx context.Context, h HookCaller, function string, args []any, state, config any) (run.Result, error) {
	if function != "" {
		return h.CallFunction(ctx, function, args...)
	}
	return h.Call(ctx, state, config)
}

// HookContract checks that a hook reports each end of a call.
func HookContract(t *testing.T, open OpenHook) {
	short := policy.Limits{WallTime: 200 * time.Millisecond}
	state := map[string]any{"gold": 10, "name": "ä"}
	config := map[string]any{"rate": 0.5}
	for _, tt := range []struct {
		name, script string
		limits       policy.Limits
		function     string
		args         []any
		outcome      run.Outcome
		value        string
		words        string // in the error
	}{
		{name: "output", script: `result["output"] = game_state["gold"] * mod_config["rate"]`, outcome: run.Succeeded, value: "5.0"},
		{name: "no output", script: `x = 1`, outcome: run.Succeeded, value: "null"},
		{name: "math and random without an import", script: `result["output"] = [math.floor(2.5), 0 <= random.random() < 1]`, outcome: run.Succeeded, value: "[2,true]"},
		{name: "an import", script: "import json\nresult['output'] = json.dumps(game_state['name'])", outcome: run.Succeeded, value: `"\"\\u00e4\""`},
		{name: "a function", script: "def tax(state, factor=2): return state['gold'] * factor", function: "tax", args: []any{state}, outcome: run.Succeeded, value: "20"},
		{name: "a function with more arguments", script: "def tax(state, factor=2): return state['gold'] * factor", function: "tax", args: []any{state, 3}, outcome: run.Succeeded, value: "30"},
		{name: "a function without arguments", script: "def f(): return [1, {'a': None}]", function: "f", outcome: run.Succeeded, value: `[1,{"a":null}]`},
		{name: "no such function", script: "def tax(state): return 1", function: "score", outcome: run.Raised, words: "NameError: the hook defines no function score"},
		{name: "a function that is none", script: "tax = 1", function: "tax", outcome: run.Raised, words: "defines no function tax"},
		{name: "too many arguments", script: "def f(): pass", function: "f", args: []any{1}, outcome: run.Raised, words: "TypeError"},
		{name: "exception", script: "x = 1\nresult['output'] = game_state['silver']", outcome: run.Raised, words: "KeyError: 'silver' (line 2)"},
		{name: "result is replaced", script: "result = 5", outcome: run.InvalidOutput, words: `set result["output"]`},
		{name: "not JSON", script: "result['output'] = {1, 2}", outcome: run.InvalidOutput, words: "set object"},
		{name: "NaN", script: "result['output'] = float('nan')", outcome: run.InvalidOutput, words: "nan"},
		{name: "nested too deeply", script: "x = []\nfor _ in range(1000): x = [x]\nresult['output'] = x", outcome: run.InvalidOutput, words: "deep"},
		{name: "an object that lies", script: "class D(dict):\n  def get(self, *a): return 7\nresult = D()", outcome: run.Succeeded, value: "null"},
		{name: "endless loop", script: "while True: pass", limits: short, outcome: run.TimedOut, words: "200ms"},
		{name: "CPU time", script: "while True: pass", limits: policy.Limits{CPUTime: short.WallTime}, outcome: run.OutOfCPU, words: "200ms"},
		{name: "one long call into C", script: "x = 9 ** 9 ** 9", limits: short, outcome: run.TimedOut, words: "200ms"},
		{name: "memory", script: "x = 'a' * 10**10", outcome: run.OutOfMemory, words: "256MiB"},
		{name: "memory bit by bit", script: "x = []\nwhile True: x.append('a' * 10**6 + str(len(x)))", outcome: run.OutOfMemory, words: "256MiB"},
		{name: "an answer without room for its frame", script: "result['output'] = 'a' * (100 << 20)", outcome: run.OutOfMemory, words: "256MiB"},
		{name: "an answer without room to be packed", script: "result['output'] = 'a' * (140 << 20)", outcome: run.OutOfMemory, words: "256MiB"},
		{name: "an answer that is too large", script: "result['output'] = 'a' * (70 << 20)", outcome: run.OutOfResult, words: "result limit of 8MiB"},
		{name: "exit", script: "raise SystemExit(3)", outcome: run.Exited, words: "exit code 3"},
		{name: "recursion", script: "def f(): return f()\nf()", outcome: run.Raised, words: "RecursionError"},
		{name: "a rule while it runs", script: "f = '{0.__class__}'\nresult['output'] = f.format(1)", outcome: run.Raised, words: "attribute-by-string"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, trust := range []policy.Trust{policy.TrustPlatform, policy.TrustUser} {
				h := open(t, run.HookSpec{Script: tt.script, Limits: tt.limits, Trust: trust})
				for range 2 { // the worker that failed is replaced
					res, err := call(t.Context(), h, tt.function, tt.args, state, config)
					if err != nil {
						t.Fatal(err)
					}
					if res.Outcome != tt.outcome || !strings.Contains(res.Error, tt.words) || tt.value != "" && string(res.Value) != tt.value {
						t.Fatalf("%s, %s, %q\n%s", res.Outcome, res.Value, res.Error, res.Stderr)
					}
					if res.Enforcement.Tier != tierOf[trust] || res.Enforcement.Walls[policy.WallLanguage].String() != "enforced (hook)" {
						t.Errorf("enforcement: %+v", res.Enforcement)
					}
				}
			}
		})
	}
}

// HookCallsLeaveNothing checks that no call finds state of another: each hook looks for state
// of the call before, and leaves state itself.
func HookCallsLeaveNothing(t *testing.T, open OpenHook) {
	const finalizer = "class A:\n  def __init__(self, more=0): self.more = more\n  def __del__(self):\n    print('late')\n"
	for name, tt := range map[string]struct{ script, printed string }{
		"a global":           {script: "global seen\ntry: seen += 1\nexcept NameError: seen = 1\nresult['output'] = seen"},
		"a default":          {script: "def f(x=[]):\n  x.append(1)\n  return len(x)\nresult['output'] = f()"},
		"the state":          {script: "result['output'] = len(game_state)\ngame_state['more'] = 1"},
		"a function":         {script: "def f(): pass\nresult['output'] = 2 if hasattr(f, 'x') else 1\nf.x = 1"},
		"a class":            {script: "class A: n = 0\nA.n += 1\nresult['output'] = A.n"},
		"a cache":            {script: "import functools\n@functools.lru_cache\ndef f(x): return x\nf(1)\nresult['output'] = f.cache_info().misses"},
		"registered classes": {script: "from collections import abc\nclass M(abc.Sized):\n  def __len__(self): return 1\nclass B: pass\nresult['output'] = 2 if isinstance(B(), M) else 1\nM.register(B)"},
		"half a line":        {"print('x', end='')\nresult['output'] = 1", "x"},

		"a finalizer":          {finalizer + "a = A()\na.me = a\nresult['output'] = 1", "late\n"},
		"an old finalizer":     {finalizer + "a = A()\na.me = a\nx = [[] for _ in range(200000)]\nresult['output'] = 1", "late\n"},
		"one in the state":     {finalizer + "game_state['a'] = A()\nresult['output'] = 1", "late\n"},
		"one in the config":    {finalizer + "mod_config['a'] = A()\nresult['output'] = 1", "late\n"},
		"one in result":        {finalizer + "result['a'] = A()\nresult['output'] = 1", "late\n"},
		"a generator":          {"def g(box):\n  try: yield\n  finally: print('late')\nbox = []\nx = g(box)\nnext(x)\nbox.append(x)\nresult['output'] = 1", "late\n"},
		"one that leaves more": {finalizer + "    if self.more:\n      global b\n      b = type(self)(self.more - 1)\na = A(3)\nresult['output'] = 1", strings.Repeat("late\n", 4)},
		"the same in a cycle":  {finalizer + "    if self.more:\n      global b\n      b = type(self)(self.more - 1)\n      b.me = b\na = A(3)\na.me = a\nresult['output'] = 1", strings.Repeat("late\n", 4)},
		"one that makes waste": {finalizer + "    if self.more:\n      b = type(self)(self.more - 1)\n      b.me = b\na = A(3)\na.me = a\nresult['output'] = 1", strings.Repeat("late\n", 4)},
		"one that comes back":  {finalizer + "    if self.more:\n      x = [self, type(self)()]\n      self.x = x\na = A(1)\na.me = a\nresult['output'] = 1", "late\nlate\n"},
		"waste among waste":    {finalizer + "    if self.more:\n      b = type(self)(self.more - 1)\n      b.me = b\na = A(3)\na.me = a\nfor _ in range(100):\n  x = []\n  x.append(x)\nresult['output'] = 1", strings.Repeat("late\n", 4)},
		"back and lost again": {
			"class S:\n  __slots__ = ()\n  def __del__(self): print('late')\nclass A:\n  def __del__(self, S=S):\n    self.s = S()\n    g, self.g = self.g, None\n    g.a = [self]\nclass G: pass\na = A()\na.me = a\na.g = G()\na.g.me = a.g\nresult['output'] = 1",
			"late\n",
		},
		"one that is no waste": {
			"class S:\n  __slots__ = ()\n  def __del__(self): print('late')\nclass A:\n  def __del__(self, S=S):\n    self.s = S()\n    global b\n    b = self\na = A()\na.me = a\nresult['output'] = 1",
			"late\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := open(t, run.HookSpec{Trust: policy.TrustPlatform, Script: tt.script, Workers: 1})
			for i := range 20 {
				res, err := h.Call(t.Context(), map[string]any{"a": 1}, map[string]any{})
				if err != nil {
					t.Fatal(err)
				}
				if !res.OK() || string(res.Value) != "1" || res.Stdout != tt.printed || res.Stderr != "" {
					t.Fatalf("call %d: %s %s %q %q %q", i, res.Outcome, res.Value, res.Error, res.Stdout, res.Stderr)
				}
			}
		})
	}
	t.Run("an argument", func(t *testing.T) {
		h := open(t, run.HookSpec{Trust: policy.TrustPlatform, Script: finalizer + "def f(x):\n  x.append(A())\n  return len(x)", Workers: 1})
		for range 20 {
			if res, err := h.CallFunction(t.Context(), "f", []any{1}); err != nil || string(res.Value) != "2" || res.Stdout != "late\n" {
				t.Fatalf("%s %q %q %v", res.Value, res.Error, res.Stdout, err)
			}
		}
	})
	t.Run("finalizers without end", func(t *testing.T) {
		h := open(t, run.HookSpec{Trust: policy.TrustPlatform, Script: finalizer + "    global b\n    b = type(self)()\na = A()", Workers: 1})
		for range 3 {
			res, err := h.Call(t.Context(), nil, nil)
			// The worker still has state, so it is not used again.
			if err != nil || res.Outcome != run.Raised || !strings.Contains(res.Error, "finalizers") || res.Stdout != strings.Repeat("late\n", 101) {
				t.Fatalf("%s %q %q %v", res.Outcome, res.Error, res.Stdout, err)
			}
		}
	})
	for name, seed := range map[string]string{
		"the seed of random":             "random.seed(1)",
		"that which a finalizer has set": "class A:\n  def __del__(self, random=random): random.seed(1)\na = A()",
	} {
		t.Run(name, func(t *testing.T) {
			h := open(t, run.HookSpec{Trust: policy.TrustPlatform, Script: "result['output'] = random.random()\n" + seed, Workers: 1})
			seen := map[string]bool{}
			for range 20 {
				res, err := h.Call(t.Context(), nil, nil)
				if err != nil || !res.OK() || seen[string(res.Value)] {
					t.Fatalf("%s %s %v", res.Value, res.Error, err)
				}
				seen[string(res.Value)] = true
			}
		})
	}
	for name, script := range map[string]string{
		"a module":              "math.pi = 3",
		"a class of a module":   "import json\njson.JSONEncoder.item_separator = ';'",
		"a function of a class": "import json\njson.JSONEncoder.encode.x = 1",
		"a library's registry":  "from collections import abc\nclass A: pass\nabc.Sized.register(A)",
	} {
		t.Run(name, func(t *testing.T) {
			h := open(t, run.HookSpec{Trust: policy.TrustPlatform, Script: script})
			res, err := h.Call(t.Context(), nil, nil)
			if err != nil || res.Outcome != run.Raised || res.Exception.Type != "RuleViolation" || res.Violations[0].Wall != policy.WallLanguage {
				t.Errorf("%s %q %v", res.Outcome, res.Error, err)
			}
		})
	}
}

// HookCallsDoNotPredict checks that a call which reads or sets the state of the random
// generators cannot predict the numbers of the next call.
func HookCallsDoNotPredict(t *testing.T, open OpenHook, trust policy.Trust) {
	for name, script := range map[string]string{
		"a state":           "result['output'] = [str(random.getstate()[1]), [random.random() for _ in range(3)], str(random.getstate()[1])]",
		"a state it set":    "result['output'] = [str(random.getstate()[1])]\nrandom.seed(1)\nrandom.gauss(0, 1)",
		"gauss":             "result['output'] = [random.gauss(0, 1)]",
		"imported":          "from random import getstate as f\nresult['output'] = [str(f()[1])]",
		"in a function":     "def f(): return [random.random()]\nresult['output'] = f()",
		"in a finalizer":    "class A:\n  def __del__(self, seed=random.seed): seed(1)\na = A()\nresult['output'] = [random.random()]",
		"letters that fold": "result['output'] = [ｒandom.getstate()[1][1], rａndom.random()]",
		"after an error":    "result['output'] = 1\nprint(random.getstate()[1][:10])\nrandom.seed(1)\n1 / 0",
	} {
		t.Run(name, func(t *testing.T) {
			h := open(t, run.HookSpec{Script: script, Trust: trust, Workers: 1})
			seen := map[string]bool{}
			for i := range 10 {
				res, err := h.Call(t.Context(), nil, nil)
				if err != nil || res.Outcome != run.Succeeded && res.Outcome != run.Raised {
					t.Fatalf("%s %q %v", res.Outcome, res.Error, err)
				}
				values := []any{res.Stdout}
				if res.OK() {
					if err := res.Decode(&values); err != nil {
						t.Fatal(err)
					}
				}
				for _, value := range values {
					if text := fmt.Sprint(value); text == "" || seen[text] {
						t.Errorf("call %d has %q of a call before", i, text)
					} else {
						seen[text] = true
					}
				}
			}
		})
	}
}

// HookArguments checks that a call with arguments that are not JSON does not run.
func HookArguments(t *testing.T, open OpenHook) {
	h := open(t, run.HookSpec{Script: "result['output'] = 1\ndef f(x): return x"})
	deep := any(nil)
	for range 600 {
		deep = []any{deep}
	}
	for name, state := range map[string]any{"a channel": make(chan int), "bad UTF-8": "\xff", "too deep": deep} {
		if _, err := h.Call(t.Context(), state, nil); !errors.Is(err, run.ErrInvalid) || !strings.Contains(err.Error(), "state") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := h.CallFunction(t.Context(), "f", 1, state); !errors.Is(err, run.ErrInvalid) || !strings.Contains(err.Error(), "argument 2") {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.Call(ctx, nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	if res, err := h.Call(t.Context(), nil, nil); err != nil || !res.OK() {
		t.Errorf("after all that: %v %v", res, err)
	}
}

// HookOutputOfManyCallers checks that no output is lost if many callers wait and each call
// prints more than one read returns.
func HookOutputOfManyCallers(t *testing.T, open OpenHook) {
	h := open(t, run.HookSpec{Trust: policy.TrustPlatform, Script: "print('n' * game_state)"})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 25 {
				const n = 60_000
				if res, err := h.Call(t.Context(), n, nil); err != nil || res.StdoutSize != n+1 || len(res.Stdout) != n+1 {
					t.Errorf("%d bytes, %d kept, %v", res.StdoutSize, len(res.Stdout), err)
				}
			}
		})
	}
	wg.Wait()
}

// CanceledHook cancels a call.
func CanceledHook(t *testing.T, open OpenHook) {
	h := open(t, run.HookSpec{Script: "while game_state: pass", Workers: 1})
	// On a busy host the time may end before the call begins, which is an error.
	for patience := 50 * time.Millisecond; ; patience *= 2 {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		res, err := h.Call(ctx, true, nil)
		cancel()
		if errors.Is(err, context.DeadlineExceeded) && t.Context().Err() == nil {
			continue
		}
		if err != nil || res.Outcome != run.Canceled {
			t.Errorf("%s %v", res.Outcome, err)
		}
		break
	}
	if res, err := h.Call(t.Context(), false, nil); err != nil || !res.OK() {
		t.Errorf("the next call: %s %v", res.Outcome, err)
	}
}

// HammerHook calls a hook from many goroutines.
func HammerHook(t *testing.T, open OpenHook, trust policy.Trust, calls int) {
	h := open(t, run.HookSpec{Trust: trust, Script: `
n = game_state["n"]
print(n)
if n % 50 == 7: raise ValueError(n)
if n % 200 == 11: x = "a" * 10**10
result["output"] = n * 2
`})
	if testing.Short() {
		calls /= 10
	}
	var wg sync.WaitGroup
	for g := range 16 {
		wg.Go(func() {
			for n := g; n < calls; n += 16 {
				res, err := h.Call(t.Context(), map[string]any{"n": n}, nil)
				want := run.Succeeded
				switch {
				case n%50 == 7:
					want = run.Raised
				case n%200 == 11:
					want = run.OutOfMemory
				}
				if err != nil || res.Outcome != want || res.OK() && string(res.Value) != fmt.Sprint(2*n) || res.Stdout != fmt.Sprintln(n) {
					t.Errorf("%d: %s %s %q %v", n, res.Outcome, res.Value, res.Error, err)
				}
			}
		})
	}
	wg.Wait()
}
