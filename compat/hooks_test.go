package compat_test

import (
	"fmt"
	"testing"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// lateFinalizers is a hook that leaves objects whose finalizers may run late: young objects,
// objects that another finalizer created, and, with a large size, objects that the collector
// has already visited.
const lateFinalizers = `
import functools, json, random, re

class Item:
    def __init__(self, n):
        self.n, self.me = n, self

    def __del__(self):
        print("ended", self.n)
        if self.n > 0:
            after = type(self)(-self.n)

@functools.lru_cache(maxsize=None)
def double(n):
    return 2 * n

item = game_state["item"] = Item(game_state["n"])
lists = [[] for _ in range(game_state["size"])]
random.seed(1)
result["output"] = [double(item.n), double.cache_info().misses, json.loads("[1]"), bool(re.match("a", "ab"))]
`

// TestHooks calls a hook on every CPython and checks that each call has its own result and
// output, and nothing from another call.
func TestHooks(t *testing.T) {
	for _, p := range pythons(t) {
		t.Run(p.name, func(t *testing.T) {
			r := newRunner(t, policy.Policy{Python: p.Found})
			h, err := r.OpenHook(t.Context(), run.HookSpec{Script: lateFinalizers, Trust: policy.TrustPlatform, Workers: 1})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := h.Close(); err != nil {
					t.Error(err)
				}
			}()
			for n := range 200 {
				size := 10
				if n%20 == 19 {
					size = 200_000
				}
				res, err := h.Call(t.Context(), map[string]any{"n": n, "size": size}, nil)
				want := fmt.Sprintf("[%d,1,[1],true]", 2*n)
				if err != nil || string(res.Value) != want || res.Stdout != finalizerOutput(n) {
					t.Fatalf("call %d: %s %q %q %v", n, res.Value, res.Error, res.Stdout, err)
				}
			}
			if res, err := h.Call(t.Context(), map[string]any{}, nil); err != nil || res.Outcome != run.Raised || res.Exception.Line == 0 {
				t.Errorf("%s %q %v", res.Outcome, res.Error, err)
			}
		})
	}
}

// finalizerOutput returns what the finalizers of a call print.
func finalizerOutput(n int) string {
	if n == 0 {
		return "ended 0\n"
	}
	return fmt.Sprintf("ended %d\nended %d\n", n, -n)
}
