package python_test

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/internal/interpreter"
)

// binaries builds cordon and its service once, and returns their directory.
var binaries = sync.OnceValues(func() (string, error) {
	directory, err := os.MkdirTemp("", "cordon-python")
	if err != nil {
		return "", err
	}
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", directory, "../cmd/cordon", "../cmd/cordond")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return directory, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if directory, err := binaries(); err == nil {
		os.RemoveAll(directory)
	}
	os.Exit(code)
}

// environment returns a virtual environment that scripts/setup created.
func environment(t *testing.T, variable string) string {
	t.Helper()
	directory := os.Getenv(variable)
	if directory == "" {
		hosttest.Lacks(t, "%s is not set: scripts/setup creates the environment, scripts/test sets the variable", variable)
	}
	return directory
}

// pytest runs tests of the package with an interpreter. Modules that it has not installed
// come from packages. A skipped test means that the host lacks something.
func pytest(t *testing.T, python, packages string, arguments ...string) {
	t.Helper()
	directory, err := binaries()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python, append([]string{"-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short"}, arguments...)...)
	cmd.Env = append(without(os.Environ(), "CORDON_", "PYTHON"),
		"CORDON_REQUIRE_HOST="+os.Getenv("CORDON_REQUIRE_HOST"), "CORDON_BIN="+filepath.Join(directory, "cordon"), "PYTHONPATH="+strings.Join([]string{absolute(t, "src"), packages}, ":"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	t.Logf("%s: %s", python, lastLine(out))
	if strings.Contains(lastLine(out), "skipped") {
		hosttest.Lacks(t, "something that skipped tests need: %s", lastLine(out))
	}
}

// TestPackage runs everything with the Python of the environment, and checks the types.
func TestPackage(t *testing.T) {
	hosttest.Slow(t, "it starts a thousand threads that the race detector does not see")
	t.Parallel()
	venv := environment(t, "CORDON_TEST_PYTEST")
	pytest(t, filepath.Join(venv, "bin", "python"), "", "--ignore=tests/test_install.py")
	types := exec.CommandContext(t.Context(), filepath.Join(venv, "bin", "mypy"))
	if out, err := types.CombinedOutput(); err != nil {
		t.Errorf("mypy: %v\n%s", err, out)
	}
}

// TestThreadedPipes runs the tests of the child with a thread that reads, as on Windows.
func TestThreadedPipes(t *testing.T) {
	hosttest.Slow(t, "it tests only Python code")
	t.Parallel()
	pytest(t, filepath.Join(environment(t, "CORDON_TEST_PYTEST"), "bin", "python"), "", "--pipes=thread", "-m", "not load",
		"tests/test_child.py", "tests/test_transport.py", "tests/test_run.py", "tests/test_pipes.py")
}

// TestOtherPythons runs all tests except those under load, which do not depend on the
// version.
func TestOtherPythons(t *testing.T) {
	hosttest.Slow(t, "it tests only Python code")
	hosttest.NeedsExtra(t, hosttest.OtherPythons)
	packages := sitePackages(t)
	for _, p := range pythons(t) {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			pytest(t, p.Path, packages, "-m", "not load", "--ignore=tests/test_install.py")
		})
	}
}

// TestLocks runs on every version: each looks for signals in its own places.
func TestLocks(t *testing.T) {
	hosttest.Slow(t, "it tests only Python code")
	hosttest.NeedsExtra(t, hosttest.OtherPythons)
	packages := sitePackages(t)
	for _, p := range allPythons(t) {
		t.Run(p.String(), func(t *testing.T) {
			pytest(t, p.Path, packages, "tests/test_locks.py")
		})
	}
}

// sitePackages is where the environment has pytest.
func sitePackages(t *testing.T) string {
	packages, err := filepath.Glob(filepath.Join(environment(t, "CORDON_TEST_PYTEST"), "lib", "python3*", "site-packages"))
	if err != nil || len(packages) != 1 {
		t.Fatalf("%q, %v", packages, err)
	}
	return packages[0]
}

// TestInstall installs the package into fresh environments: from its source, and from
// the wheel that `make wheel` builds.
func TestInstall(t *testing.T) {
	hosttest.Slow(t, "it makes virtual environments")
	t.Parallel()
	pytest(t, filepath.Join(environment(t, "CORDON_TEST_PYTEST"), "bin", "python"), "", "tests/test_install.py")
}

// TestAdapters tests the adapters with the real frameworks, and the magic with IPython.
func TestAdapters(t *testing.T) {
	hosttest.Slow(t, "it tests other projects' packages")
	t.Parallel()
	python := filepath.Join(hosttest.NeedsExtra(t, hosttest.Frameworks), "bin", "python")
	pytest(t, python, "", "tests/test_adapters.py", "tests/test_magic.py", "src/cordon/adapters")
}

// pythons returns the oldest and the newest CPython apart from that of the environment; in
// a long run it returns all.
func pythons(t *testing.T) []interpreter.Interpreter {
	all := allPythons(t)
	if len(all) > 2 && !hosttest.Long() {
		return []interpreter.Interpreter{all[0], all[len(all)-1]}
	}
	return all
}

// allPythons returns them from the oldest to the newest.
func allPythons(t *testing.T) []interpreter.Interpreter {
	candidates := filepath.SplitList(os.Getenv("CORDON_TEST_PYTHONS"))
	if len(candidates) == 0 {
		home, err := os.UserHomeDir()
		if err != nil {
			t.Fatal(err)
		}
		for _, root := range []string{cmp.Or(os.Getenv("PYENV_ROOT"), filepath.Join(home, ".pyenv"))} {
			found, err := filepath.Glob(filepath.Join(root, "versions", "3.*", "bin", "python3"))
			if err != nil {
				t.Fatal(err)
			}
			candidates = append(candidates, found...)
		}
	}
	var all []interpreter.Interpreter
	for _, path := range candidates {
		if i, err := interpreter.Find(interpreter.Search{Python: path}); err == nil { // otherwise it is too old
			all = append(all, i)
		}
	}
	slices.SortFunc(all, func(a, b interpreter.Interpreter) int { return cmp.Compare(a.Version[1], b.Version[1]) })
	return all
}

func without(environ []string, prefixes ...string) []string {
	return slices.DeleteFunc(environ, func(variable string) bool {
		return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(variable, prefix) })
	})
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return abs
}

func lastLine(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1]
}
