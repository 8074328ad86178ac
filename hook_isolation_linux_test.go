package cordon_test

import (
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Unless its trust is platform, no two calls of a hook share a process. The test uses
// evidence from the kernel: the peak memory of a process never falls, so that in a
// shared process a small call shows the peak of a large one before it.
func TestHookCallsShareNoProcess(t *testing.T) {
	r := newRunner(t, cordon.Options{})
	const script = "x = 'a' * (game_state << 20)\nfor _ in range(20000): pass\nresult['output'] = len(x) >> 20"
	for _, tt := range []struct {
		name   string
		trust  policy.Trust
		tier   policy.Tier
		shared bool
	}{
		{"nothing is said", "", policy.TierProcess, false},
		{"user", policy.TrustUser, policy.TierProcess, false},
		{"platform", policy.TrustPlatform, policy.TierHook, true}, // shows that the test can see sharing
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := openHook(t, r, run.HookSpec{Script: script, Trust: tt.trust, Workers: 1})
			var peaks []policy.Bytes
			for _, size := range []int{100, 0} {
				res, err := h.Call(t.Context(), size, nil)
				if err != nil || !res.OK() || res.Enforcement.Tier != tt.tier {
					t.Fatalf("%s %s %v", res.Error, res.Enforcement.Tier, err)
				}
				peaks = append(peaks, res.Usage.Memory)
			}
			if shared := peaks[1] > 100*policy.MiB; shared != tt.shared || peaks[0] < 100*policy.MiB {
				t.Errorf("peaks of %v: shared is %v", peaks, shared)
			}
		})
	}
}

// State that one call leaves behind without breaking a rule does not exist in the next
// one. Each script imports a module that reaches the whole interpreter, as an escape
// from the rules would.
func TestHookEscapeFindsNoOtherCall(t *testing.T) {
	for name, tt := range map[string]struct {
		module, leave string
	}{
		"the garbage collector":   {"gc", "old = gc.get_threshold()[0]\ngc.set_threshold(7)"},
		"the environment":         {"os", "old = os.environ.get('LEFT_BEHIND')\nos.environ['LEFT_BEHIND'] = game_state"},
		"a file":                  {"os", "old = os.listdir('/tmp')\nos.close(os.open('/tmp/' + game_state, os.O_CREAT | os.O_WRONLY))"},
		"a descriptor":            {"os", "r, w = os.pipe()\nold = [r, w] if r > 5 else None"},
		"a changed directory":     {"os", "old = os.getcwd()\nos.chdir('/')"},
		"the context of a module": {"decimal", "old = str(decimal.getcontext().prec)\ndecimal.getcontext().prec = 7"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRunner(t, cordon.Options{Policy: policy.Policy{Language: policy.Language{Modules: []string{tt.module}}}})
			h := openHook(t, r, run.HookSpec{Script: "import " + tt.module + "\n" + tt.leave + "\nresult['output'] = old"})
			var first string
			for i, secret := range []string{"alice", "mallory", "bob"} {
				res, err := h.Call(t.Context(), secret, nil)
				if err != nil || !res.OK() {
					t.Fatalf("call %d: %s %q %v", i, res.Outcome, res.Error, err)
				}
				if i == 0 {
					first = string(res.Value)
				}
				if got := string(res.Value); got != first || strings.Contains(got, "alice") {
					t.Errorf("call %d finds %s; the first one found %s", i, got, first)
				}
			}
		})
	}
}

// This was a real escape from the rules, after which the next call could read state of
// the one before.
func TestHookReadsLastCall(t *testing.T) {
	r := newRunner(t, cordon.Options{})
	h := openHook(t, r, run.HookSpec{Script: escapeByDispatch, Limits: policy.Limits{Memory: 256 * policy.MiB}})
	for i, who := range []string{"alice", "mallory", "bob"} {
		res, err := h.Call(t.Context(), map[string]any{"player": who, "password": "hunter2"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(res.Value), "hunter2") {
			t.Errorf("call %d finds %s", i, res.Value)
		}
	}
}

// escapeByDispatch relies on functools.singledispatch asking an object for its bases,
// and searches for a hidden class by the addresses that hashes reveal.
const escapeByDispatch = `
import functools
seen = []
class Element:
    def __init__(self, address): self.address = address
    def __hash__(self): return self.address
    def __eq__(self, other):
        seen.append(other)
        return False
near = hash(functools.partialmethod)
class Liar:
    def __getattr__(self, name):
        if name == "__mro__": return elements
        if name == "__bases__": return (object,)
        raise AttributeError(name)
@functools.singledispatch
def f(x): pass
found, width = None, 1 << 17
for step in range(24):
    for sign in (-1, 1):
        elements = [Element(h) for h in range(near + sign * step * width, near + sign * step * width + width)]
        try: f.dispatch(Liar())
        except Exception: pass
        for c in seen:
            if c.__name__ == "BuiltinImporter": found = c
        if found: break
    if found: break
elements = None
modules = found.load_module("sys").modules
old = modules.get("left_behind", None)
modules["left_behind"] = dict(game_state)
result["output"] = old
`
