package compat_test

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/internal/interpreter"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// python is one interpreter to test on.
type python struct {
	interpreter.Interpreter
	name string      // unique, for subtests
	tier policy.Tier // the tier that runs it
}

// policy returns a policy that runs scripts with this interpreter.
func (p python) policy(with policy.Policy) policy.Policy {
	if p.tier == policy.TierWasm {
		with.PythonWasm = p.Found
	} else {
		with.Python = p.Found
	}
	return with
}

// runner starts a Runner for this interpreter.
func (p python) runner(t *testing.T, with policy.Policy) tierRunner {
	t.Helper()
	return tierRunner{startRunner(t, cordon.Options{Policy: p.policy(with), Tier: p.tier, Idle: 2}), p.tier}
}

// tierRunner runs every script on one tier.
type tierRunner struct {
	*cordon.Runner
	tier policy.Tier
}

func (r tierRunner) Run(ctx context.Context, req run.Request) (run.Result, error) {
	req.Tier = r.tier
	return r.Runner.Run(ctx, req)
}

// minor returns N of version 3.N.
func (p python) minor() int { return p.Version[1] }

// pythons returns the interpreters of CORDON_TEST_PYTHONS, or else all supported interpreters in
// PATH and pyenv.
func pythons(t *testing.T) []python {
	named := filepath.SplitList(os.Getenv("CORDON_TEST_PYTHONS"))
	candidates := named
	if len(named) == 0 {
		candidates = installedPythons(t)
	}
	var all []python
	for _, path := range candidates {
		i, err := interpreter.Find(interpreter.Search{Python: path})
		if err != nil {
			if len(named) > 0 {
				t.Errorf("CORDON_TEST_PYTHONS: %v", err)
			}
			continue // too old, or a shim without an interpreter
		}
		known := slices.ContainsFunc(all, func(p python) bool { return p.Path == i.Path && p.VirtualEnv == i.VirtualEnv })
		if !known {
			all = append(all, python{i, filepath.Base(i.Prefix) + "-" + filepath.Base(i.Path), policy.TierProcess})
		}
	}
	if len(all) == 0 {
		t.Fatal("no CPython 3.9 or newer was found, so nothing was tested: install one, or name one in CORDON_TEST_PYTHONS")
	}
	if testing.Short() {
		all = all[:1]
	}
	return all
}

// mainPythons returns the system's interpreter, the oldest and the newest: what works on these
// works on the versions between, so only a long run tests all. `make test-all` tests on every
// interpreter what a script must not be able to do.
func mainPythons(t *testing.T) []python {
	all := pythons(t)
	if hosttest.Long() {
		return all
	}
	return slices.DeleteFunc(all, func(p python) bool { return !isMain(all, p) })
}

func isMain(all []python, p python) bool {
	byAge := func(a, b python) int { return cmp.Compare(a.minor(), b.minor()) }
	oldest, newest := slices.MinFunc(all, byAge), slices.MaxFunc(all, byAge)
	return p.Path == all[0].Path || p.name == oldest.name || p.name == newest.name
}

// skipOtherPythons skips a test that takes seconds on each Python if p is not a main one, except
// in `make test-all`.
func skipOtherPythons(t *testing.T, all []python, p python) {
	t.Helper()
	if !isMain(all, p) {
		hosttest.NeedsExtra(t, hosttest.OtherPythons)
	}
}

// installedPythons lists candidates. The system's interpreter is first, so that -short tests it.
func installedPythons(t *testing.T) []string {
	var found []string
	for _, dir := range append([]string{"/usr/bin", "/usr/local/bin"}, filepath.SplitList(os.Getenv("PATH"))...) {
		if path := filepath.Join(dir, "python3"); isFile(path) {
			found = append(found, path)
		}
	}
	roots := []string{os.Getenv("PYENV_ROOT")}
	if home, err := os.UserHomeDir(); err == nil {
		roots = append(roots, filepath.Join(home, ".pyenv"))
	}
	for _, root := range roots {
		versions, err := filepath.Glob(filepath.Join(root, "versions", "3.*", "bin", "python3"))
		if err != nil {
			t.Fatal(err)
		}
		if root != "" {
			found = append(found, versions...)
		}
	}
	return found
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// newRunner starts a Runner that is closed when the test ends.
func newRunner(t *testing.T, p policy.Policy) *cordon.Runner {
	t.Helper()
	return startRunner(t, cordon.Options{Policy: p, Idle: 2})
}

func startRunner(t *testing.T, options cordon.Options) *cordon.Runner {
	t.Helper()
	r, err := cordon.NewRunnerContext(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return r
}

// skipOrFail skips a test that needs something that the host lacks, or fails it if
// CORDON_REQUIRE_HOST=1.
func skipOrFail(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("CORDON_REQUIRE_HOST") == "1" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}
