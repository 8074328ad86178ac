package wasm

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// valueOf decodes the result of a script.
func valueOf[T any](t *testing.T, r run.Result) (v T) {
	t.Helper()
	if !r.OK() {
		t.Fatalf("%s: %s", r.Outcome, r.Error)
	}
	if err := json.Unmarshal(r.Value, &v); err != nil {
		t.Fatalf("%s: %v", r.Value, err)
	}
	return v
}

// All guests are copies of one memory, but their random numbers and their time must differ
// from those of the first.
func TestEachGuestHasItsOwnRandomness(t *testing.T) {
	const script = `
import logging, os, random, secrets, tempfile, time, uuid
result = [str(v) for v in (
    random.random(), random.getstate()[1][:3], random.SystemRandom().random(), random.Random().random(),
    os.urandom(8), secrets.token_hex(8), uuid.uuid4(), uuid.uuid1(), tempfile.mktemp(),
    time.time_ns(), time.monotonic_ns(), logging.LogRecord("", 0, "", 0, "", (), None).relativeCreated + time.time(),
)]
`
	for name, preload := range map[string][]string{
		"imported by the guest": nil,
		"imported before":       {"logging", "random", "secrets", "tempfile", "uuid"},
	} {
		t.Run(name, func(t *testing.T) {
			b := pythonBench(t, Options{Policy: policy.Policy{Preload: preload}, Idle: 1})
			seen := map[string]int{}
			for n := range 10 {
				for _, v := range valueOf[[]string](t, b.script(run.Request{Script: run.Script{Source: script}})) {
					if first, again := seen[v]; again {
						t.Errorf("run %d has %s of run %d", n, v, first)
					}
					seen[v] = n
				}
			}
		})
	}
}

// State that a guest leaves behind.
const leaves = `
import builtins, decimal, json, os, random, sys, types, warnings
builtins.mine = builtins.print = 1
json.mine, json.dumps = 1, None
sys.modules["mine"] = types.ModuleType("mine")
sys.path.append("/mine")
sys.setrecursionlimit(123)
os.environ["MINE"] = "1"
os.mkdir("/tmp/own"); os.chdir("/tmp/own")
open("/tmp/mine", "w").close()
decimal.getcontext().prec = 3
warnings.simplefilter("error")
random.seed(1)
mine = result = random.random()
`

const looks = `
import builtins, decimal, json, os, random, sys, warnings
result = [name for name, there in dict(
    builtins=hasattr(builtins, "mine") or print == 1, json=hasattr(json, "mine") or json.dumps is None,
    modules="mine" in sys.modules, path="/mine" in sys.path, recursion=sys.getrecursionlimit() == 123,
    environ="MINE" in os.environ, directory=os.getcwd() != "/tmp", file=os.path.exists("/tmp/mine"),
    decimal=decimal.getcontext().prec == 3, warnings=warnings.filters[:1] and warnings.filters[0][0] == "error",
    random=random.random() in (0.13436424411240122, 0.8474337369372327), globals="mine" in globals(),
).items() if there]
`

// Memories are reused: a guest finds the content of the image and no state of an earlier
// guest.
func TestReusedMemoryHasNoStateOfAnEarlierGuest(t *testing.T) {
	b := pythonBench(t, Options{Idle: 1})
	for range 5 {
		valueOf[float64](t, b.script(run.Request{Script: run.Script{Source: leaves}}))
		if left := valueOf[[]string](t, b.script(run.Request{Script: run.Script{Source: looks}})); len(left) > 0 {
			t.Errorf("another guest's are there: %q", left)
		}
	}
}

const hashes = `result = [hash("abc"), context["n"] * 2]`

func TestEachImageHasItsOwnHashSeed(t *testing.T) {
	seen := map[int64]bool{}
	for range 2 {
		b := pythonBench(t, Options{Idle: 1})
		for range 2 { // two guests of an image have the same seed
			seen[valueOf[[]int64](t, b.script(run.Request{Script: run.Script{Source: hashes, Context: map[string]any{"n": 1}}}))[0]] = true
		}
	}
	if len(seen) != 2 {
		t.Errorf("two images have %d seeds", len(seen))
	}
}

// TestRotationHammer replaces images as fast as it can while guests start: none fails, and
// each has the right memory.
func TestRotationHammer(t *testing.T) {
	b := pythonBench(t, Options{Idle: 1, RotateAfter: 3})
	var mu sync.Mutex
	seeds := map[int64]int{}
	enough := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(seeds) >= 4
	}
	work := func(who int) error {
		for n := who; !enough(); n += 10 {
			r, err := b.one(run.Request{Script: run.Script{Source: hashes, Context: map[string]any{"n": n}}})
			if err != nil || !r.OK() {
				return fmt.Errorf("run %d: %s: %s: %w", n, r.Outcome, r.Error, err)
			}
			var got []int64
			if err := json.Unmarshal(r.Value, &got); err != nil || len(got) != 2 || got[1] != int64(2*n) {
				return fmt.Errorf("run %d: %s: %w", n, r.Value, err)
			}
			mu.Lock()
			seeds[got[0]]++
			mu.Unlock()
		}
		return nil
	}
	var working sync.WaitGroup
	for who := range 4 {
		working.Go(func() {
			if err := work(who); err != nil {
				t.Error(err)
			}
		})
	}
	working.Wait()
	t.Logf("guests of each seed: %v", seeds)
}

// one runs a script. It may be called on any goroutine.
func (b bench) one(req run.Request) (run.Result, error) {
	job := backend.Job{Request: req, Limits: req.Limits.Or(policy.DefaultLimits())}
	s, err := b.Open(b.Context(), job)
	if err != nil {
		return run.Result{}, err
	}
	defer s.Close()
	return s.Run(b.Context(), job)
}
