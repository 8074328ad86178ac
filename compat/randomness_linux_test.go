package compat_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// keepsGenerators is a module that seeds and uses every kind of random generator during import,
// and stores each in a different place.
const keepsGenerators = `
import _random
import multiprocessing.process
import random
import ssl
import tempfile
import uuid

class Own(random.Random):
    pass

hidden = {"list": [random.Random(1)], "own": Own(2), "slot": type("Slot", (), {"__slots__": "rng"})()}
hidden["slot"].rng = random.Random(3)
bare = _random.Random(4)
def closure(rng=random.Random(5)):
    return rng.random()
system = random.SystemRandom()
random.seed(6)
random.gauss(0, 1), system.gauss(0, 1), hidden["own"].gauss(0, 1)
next(tempfile._get_candidate_names())
uuid._node = uuid._random_getnode()
ssl.RAND_bytes(8)
multiprocessing.process.current_process().authkey

def draw():
    yield "random", random.random()
    yield "gauss", random.gauss(0, 1)
    yield "gauss of the system's", system.gauss(0, 1)
    yield "a state", random.getstate()[1][:8]
    yield "in a list", hidden["list"][0].random()
    yield "a class of its own", hidden["own"].random()
    yield "gauss of that", hidden["own"].gauss(0, 1)
    yield "in a slot", hidden["slot"].rng.random()
    yield "one that is not tracked", bare.random()
    yield "in a closure", closure()
    yield "tempfile", next(tempfile._get_candidate_names())
    yield "a node", uuid.getnode()
    yield "uuid4", uuid.uuid4()
    yield "OpenSSL", ssl.RAND_bytes(16)
    yield "the key of multiprocessing", bytes(multiprocessing.process.current_process().authkey)
`

const keepsArrays = `
import numpy

generator = numpy.random.default_rng(1)
others = [numpy.random.Generator(kind(2)) for kind in (numpy.random.MT19937, numpy.random.PCG64DXSM, numpy.random.Philox, numpy.random.SFC64)]
state = numpy.random.RandomState(3)
sequence = numpy.random.SeedSequence(4)
numpy.random.seed(5)
numpy.random.standard_normal(), state.standard_normal(), generator.integers(10, dtype="int32")

def draw():
    yield "the global one", numpy.random.random()
    yield "normal", numpy.random.standard_normal()
    yield "a generator", generator.random()
    yield "children of it", generator.bit_generator.seed_seq.spawn(1)[0].generate_state(2)
    for other in others:
        yield type(other.bit_generator).__name__, other.random()
    yield "an old one", state.random_sample()
    yield "normal of an old one", state.standard_normal()
    yield "a sequence", sequence.generate_state(2)
    yield "a new one", numpy.random.default_rng().random()
`

// drawScript returns a script that draws from the generators of such a module.
func drawScript(module string) string {
	return "import " + module + "\nresult = {name: str(value) for name, value in " + module + ".draw()}"
}

// TestRandomnessIsNotShared checks that guests, which are copies of one process, never draw the
// same numbers, even if preloaded modules seed generators and hide them.
func TestRandomnessIsNotShared(t *testing.T) {
	python := environmentWith(t, map[string]string{"keeps_generators.py": keepsGenerators, "keeps_arrays.py": keepsArrays}, "numpy", "numpy.libs")
	for _, module := range []string{"keeps_generators", "keeps_arrays"} {
		t.Run(module, func(t *testing.T) {
			r := newRunner(t, policy.Policy{Python: python, Preload: []string{module}})
			drawAll(t, 40, func() (run.Result, error) {
				return r.Run(t.Context(), run.Request{Script: run.Script{Source: drawScript(module)}})
			})
		})
	}
	// Modules that the guest imports itself are never shared, including in single runs.
	t.Run("single runs", func(t *testing.T) {
		drawAll(t, 3, func() (run.Result, error) {
			r, err := cordon.NewRunner(cordon.Options{Policy: policy.Policy{Python: python}, OneShot: true})
			if err != nil {
				return run.Result{}, err
			}
			defer r.Close()
			return r.Run(t.Context(), run.Request{Script: run.Script{Source: "import random, numpy, uuid\nresult = {'random': str(random.random()), 'numpy': str(numpy.random.random()), 'hash': str(hash('a')), 'uuid': str(uuid.uuid4())}"}})
		})
	})
	// Under the language rules, with a process for each call and with a shared one.
	for _, trust := range []policy.Trust{policy.TrustUser, policy.TrustPlatform} {
		t.Run("hooks, "+string(trust), func(t *testing.T) {
			r := newRunner(t, policy.Policy{Python: python, Language: policy.Language{Modules: []string{"keeps_generators"}}})
			h, err := r.OpenHook(t.Context(), run.HookSpec{Script: "import keeps_generators\nresult['output'] = {name: str(value) for name, value in keeps_generators.draw()}", Trust: trust})
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			drawAll(t, 10, func() (run.Result, error) { return h.Call(t.Context(), nil, nil) })
		})
	}
}

// drawAll runs guests that return the numbers they draw, by name; no value may repeat.
func drawAll(t *testing.T, guests int, guest func() (run.Result, error)) {
	t.Helper()
	seen, again := map[string]bool{}, map[string]bool{}
	for range guests {
		res, err := guest()
		if err != nil {
			t.Fatal(err)
		}
		var values map[string]string
		if err := res.Decode(&values); err != nil || len(values) < 4 {
			t.Fatalf("%v %s %s", err, res.Value, res.Error)
		}
		for name, value := range values {
			if seen[name+value] {
				again[name] = true
			}
			seen[name+value] = true
		}
	}
	for name := range again {
		t.Errorf("%s: two of %d guests drew the same value", name, guests)
	}
}

// environmentWith makes a virtual environment from that of the tests, with the given modules and
// copies of the given packages.
func environmentWith(t *testing.T, modules map[string]string, packages ...string) (python string) {
	t.Helper()
	from, err := filepath.EvalSymlinks(virtualEnvironment(t))
	if err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(from, "lib", "python3*", "site-packages"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%v: %q", err, found)
	}
	inside := strings.TrimPrefix(found[0], from)
	dir, err := os.MkdirTemp("/var/tmp", "cordon-venv-") // not below /tmp, where guests have their own
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.MkdirAll(dir+inside, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	copies := [][2]string{{"/pyvenv.cfg", "/"}, {"/bin", "/"}}
	for _, name := range packages {
		copies = append(copies, [2]string{inside + "/" + name, inside + "/"})
	}
	for _, c := range copies {
		if out, err := exec.Command("cp", "-r", "--no-dereference", from+c[0], dir+c[1]).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	for name, source := range modules {
		if err := os.WriteFile(filepath.Join(dir+inside, name), []byte(source), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "bin", "python3")
}
