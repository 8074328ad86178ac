package process

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/backend/hook"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// wideOpen allows a restricted script what it needs to try the kernel's walls.
var wideOpen = policy.Policy{Language: policy.Language{Modules: []string{"os", "socket", "ctypes", "marshal"}, Builtins: []string{"open"}}}

// forbidden acts, each an expression that fails behind the walls.
var forbidden = []string{
	`open("/etc/shadow")`, `open("/proc/self/status")`, `open("/usr/new", "w")`, `os.listdir("/home")`,
	`os.fork()`, `os.execv("/bin/sh", ["sh"])`, `os.setuid(0)`, `os.kill(1000, 9)`,
	`socket.socket()`, `ctypes.CDLL(None).unshare(0x10000000) and 1 / 0`,
}

// The walls of the kernel are the same below the rules, in every mode.
func TestRestrictedWorkersHaveAllWalls(t *testing.T) {
	b := open(t, Options{Policy: wideOpen, Idle: 2})
	requireHost(t, b, policy.WallMount, policy.WallSeccomp)
	script := func(act string) string {
		return "import os, socket, ctypes\ntry:\n    " + act + "\n    held = False\nexcept (OSError, ZeroDivisionError):\n    held = True\n"
	}
	for _, act := range forbidden {
		job := jobOf(b, script(act)+"result = held", nil)
		job.Script.Restricted = true
		if res := runJob(t, b, job); string(res.Value) != "true" || res.Enforcement.Walls[policy.WallLanguage].State == "" {
			t.Errorf("restricted: %s: %s %s", act, res.Outcome, res.Error)
		}
		w := startHookWorker(t, b, script(act)+"result['output'] = held")
		if res, _, err := w.Call(t.Context(), noArguments); err != nil || string(res.Value) != "true" {
			t.Errorf("hook: %s: %s %s %v", act, res.Outcome, res.Error, err)
		}
		w.Close()
	}
}

var noArguments = hook.Call{Arguments: []hook.Argument{{Name: "state"}, {Name: "config"}}}

func startHookWorker(t *testing.T, b *Backend, script string) *hookWorker {
	t.Helper()
	w, err := b.startHook(t.Context(), run.HookSpec{Script: script}, b.options.Policy.Limits, false)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// A guest that reached its channel can forge the answer to its own call, but not to the
// next one.
func TestForgedAnswers(t *testing.T) {
	b := open(t, Options{Policy: wideOpen, Idle: 1})
	w := startHookWorker(t, b, `
import os, marshal
def frame(number):
    words = marshal.dumps({"end": "ok", "code": 0, "number": number, "result": "forged"}, 2)
    return b"D" + len(words).to_bytes(4, "little") + words
if game_state == "forge":
    os.write(3, b"".join(frame(n) for n in range(5)))
result["output"] = "honest"
`)
	defer w.Close()
	call := func(state string) (run.Result, bool) {
		res, reusable, err := w.Call(t.Context(), hook.Call{Arguments: []hook.Argument{{Value: state}, {}}})
		if err != nil {
			t.Fatal(err)
		}
		return res, reusable
	}
	if res, reusable := call("forge"); res.Outcome != run.InvalidOutput || !strings.Contains(res.Error, "an answer with the number of another call") || reusable {
		t.Errorf("%s %s %q, reusable %t", res.Outcome, res.Value, res.Error, reusable)
	}
	if res, reusable := call("next"); string(res.Value) == `"forged"` || reusable {
		t.Errorf("the next call: %s %s", res.Outcome, res.Value)
	}
}

// A worker serves call after call, unless a call may have left something.
func TestReusableWorkers(t *testing.T) {
	b := open(t, Options{Idle: 1})
	const counter = "import collections\nclass X(collections.Counter):\n  n = 1\n"
	for name, tt := range map[string]struct {
		script string
		change func(*hookWorker)
		want   bool
	}{
		"a good call":       {"result['output'] = 1", nil, true},
		"an exception":      {"1 / 0", nil, true},
		"an exit":           {"raise SystemExit(1)", nil, true},
		"no JSON":           {"result['output'] = {1}", nil, true},
		"out of memory":     {"x = 'a' * 10**10", nil, false},
		"out of time":       {"while True: pass", func(w *hookWorker) { w.guest.Limits.WallTime = 1e8 }, false},
		"a user's hook":     {"result['output'] = 1", func(w *hookWorker) { w.once = true }, false},
		"the last call":     {"result['output'] = 1", func(w *hookWorker) { w.calls = hook.MaxCalls - 1 }, false},
		"the last but one":  {"result['output'] = 1", func(w *hookWorker) { w.calls = hook.MaxCalls - 2 }, true},
		"bad arguments too": {"result['output'] = 1", nil, true},

		"no memory for the answer":                 {"result['output'] = 'a' * (140 << 20)", nil, false},
		"a finalizer":                              {"class A:\n  def __del__(self): print(1)\na = A()", nil, true},
		"finalizers without end":                   {"class A:\n  def __del__(self):\n    global b\n    b = type(self)()\na = A()", nil, false},
		"a class of the library's":                 {counter + "x = X()", nil, true},
		"the same, and what leaves nothing behind": {counter + "x = [n for n in (1, 2)]", nil, true},
		"the same, and a finalizer":                {counter + "  def __del__(self): pass", nil, false},
		"the same, and a generator":                {counter + "def g(): yield", nil, false},
		"the same, and one that passes on":         {counter + "def g(): yield from ()", nil, false},
		"the same, and a coroutine":                {counter + "async def f(): pass", nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := startHookWorker(t, b, tt.script)
			defer w.Close()
			if tt.change != nil {
				tt.change(w)
			}
			call := noArguments
			if name == "bad arguments too" {
				call = hook.Call{Arguments: []hook.Argument{{Value: func() {}}, {}}}
			}
			res, reusable, err := w.Call(t.Context(), call)
			if reusable != tt.want {
				t.Errorf("reusable is %t after %s %q %v", reusable, res.Outcome, res.Error, err)
			}
		})
	}
}

// An added module makes workers that serve one call.
func TestTracelessModules(t *testing.T) {
	for module, traceless := range map[string]bool{"math": true, "heapq": false, "os.path": false} {
		b := open(t, Options{Policy: policy.Policy{Language: policy.Language{Modules: []string{module}}}, Idle: 1})
		w := startHookWorker(t, b, fmt.Sprintf("import %s", module))
		if _, reusable, err := w.Call(t.Context(), noArguments); err != nil || reusable != traceless {
			t.Errorf("%s: reusable is %t, %v", module, reusable, err)
		}
		w.Close()
	}
}

// Checks and restricted runs work with OneShot, whatever preset it was started with.
func TestLanguageOfOneShots(t *testing.T) {
	for _, language := range []policy.LanguagePreset{"", policy.LanguageStandard, policy.LanguageHook} {
		b := open(t, Options{OneShot: true, Language: language, Policy: policy.Policy{Preload: []string{}}})
		job := jobOf(b, "import os", nil)
		job.Script.Restricted = true
		if res := runJob(t, b, job); res.Outcome != run.Refused {
			t.Errorf("%q: %s %s", language, res.Outcome, res.Error)
		}
		if res := runJob(t, b, jobOf(b, "import os\nresult = os.getpid()", nil)); !res.OK() {
			t.Errorf("%q: a script that nobody restricts: %s %s", language, res.Outcome, res.Error)
		}
		if findings, err := b.Check(t.Context(), run.Check{Script: "import decimal", Preset: policy.LanguageHook}); err != nil || len(findings) != 1 {
			t.Errorf("%q: %v %v", language, findings, err)
		}
		h, err := b.OpenHook(context.Background(), run.HookSpec{Script: "result['output'] = game_state"}, b.options.Policy.Limits)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			res, err := h.Call(t.Context(), hook.Call{Arguments: []hook.Argument{{Value: 7}, {}}})
			if err != nil || string(res.Value) != "7" {
				t.Errorf("%q: %s %s %v", language, res.Value, res.Error, err)
			}
		}
		h.Close()
	}
}

// The fork server learns the rules once. A worker that learned them again would touch
// every class of the library, and copy most of the memory that it shares.
func TestWorkersShareTheRules(t *testing.T) {
	b := open(t, Options{Idle: 1})
	touched := func(restricted bool) int {
		job := jobOf(b, "x = 1", nil)
		job.Script.Restricted = restricted
		workers, err := b.poolFor(t.Context(), job)
		if err != nil {
			t.Fatal(err)
		}
		m, err := workers.(*pool).fork(t.Context(), job.Limits.Scratch, true)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		pages, err := strconv.Atoi(statOf(t, m.PID)[9])
		if err != nil {
			t.Fatal(err)
		}
		return pages
	}
	plain, restricted := touched(false), touched(true)
	t.Logf("pages touched: %d, by the rules %d", plain, restricted)
	if restricted > 4*plain {
		t.Errorf("a worker by the rules touched %d pages before its guest came, a plain one %d", restricted, plain)
	}
}

// statOf returns the fields of /proc/PID/stat, which are numbered from 1 in proc(5).
func statOf(t *testing.T, pid int) []string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	begin, rest, _ := strings.Cut(string(text), ") ") // the name contains no parenthesis
	return append([]string{"", begin}, strings.Fields(rest)...)
}
