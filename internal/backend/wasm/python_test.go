package wasm

import (
	"slices"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/backendtest"
	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// bundle returns the path of the bundle that scripts/python-wasm builds.
func bundle(t testing.TB) string { return hosttest.NeedsExtra(t, hosttest.PythonWasm) }

// concurrent lists the tests of Python that run with the race detector: those with
// concurrency. Loading CPython takes seconds in each.
var concurrent = []string{"TestRotationHammer", "TestFork", "TestContract", "TestWaitingInASession"}

func pythonBench(t *testing.T, options Options) bench {
	t.Helper()
	if name, _, _ := strings.Cut(t.Name(), "/"); testing.Short() && !slices.Contains(concurrent, name) {
		t.Skip("takes long under the race detector, which would see nothing new")
	}
	options.Policy.PythonWasm = bundle(t)
	if options.Cache == "" {
		options.Cache = testCache
	}
	return newBench(t, options)
}

func openPython(t *testing.T, p policy.Policy) backend.Backend {
	return pythonBench(t, Options{Policy: p, Idle: 2}).Backend
}

// script runs a script.
func (b bench) script(req run.Request) run.Result {
	b.Helper()
	job := backend.Job{Request: req, Limits: req.Limits.Or(policy.DefaultLimits()), OnOutputLimit: req.OnOutputLimit}
	s, err := b.Open(b.Context(), job)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	r, err := s.Run(b.Context(), job)
	if err != nil {
		b.Fatal(err)
	}
	return r
}

func TestContract(t *testing.T) { backendtest.Contract(t, openPython, policy.Policy{}) }
func TestContainment(t *testing.T) {
	hosttest.NotUnderRace(t, "it tests walls, which the detector does not see")
	hosttest.Slow(t, "takes long under the race detector")
	backendtest.Containment(t, openPython, policy.Policy{})
}

// The interpreter of modules is for processors without a compiler. It starts CPython slowly,
// so all tests share one backend, and only attempts that concern the interpreter are made:
// memory and calls.
func TestSuiteInterpreted(t *testing.T) {
	hosttest.Slow(t, "takes long under the race detector")
	b := pythonBench(t, Options{Idle: 1, Interpreter: true}).Backend
	open := func(*testing.T, policy.Policy) backend.Backend { return b }
	t.Run("contract", func(t *testing.T) { backendtest.Contract(t, open, policy.Policy{}) })
	t.Run("containment", func(t *testing.T) { backendtest.Containment(t, open, policy.Policy{}, "memory", "descriptors") })
}
