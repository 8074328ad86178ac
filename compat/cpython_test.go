package compat_test

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

var (
	//go:embed testdata/cpython.py
	cpythonRunner string
	//go:embed testdata/cpython.txt
	cpythonList string
)

// listedMinor is the 3.N that testdata/cpython.txt was made with. On other versions, differences
// are logged and do not fail the test.
const listedMinor = 11

// suiteModule is one module of CPython's own tests, with the tests that cannot pass.
type suiteModule struct {
	name    string
	short   bool              // in the short set
	long    bool              // with CORDON_TEST_LONG=1 only
	strict  bool              // listed tests must fail
	atLeast int               // the least number of tests that must run
	fails   map[string]string // test, or Class.*, → why
	leftOut []string          // tests that would end the whole module
}

// TestCPythonSuite runs CPython's own tests in the sandbox: they use everything that CPython
// needs from a kernel.
func TestCPythonSuite(t *testing.T) {
	modules, err := parseSuite(cpythonList)
	if err != nil {
		t.Fatal(err)
	}
	p := suitePython(t)
	limits := policy.Limits{
		WallTime: 2 * time.Minute, CPUTime: 2 * time.Minute,
		Memory: 1 * policy.GiB, Output: 256 * policy.KiB, Scratch: 64 * policy.MiB,
		OpenFiles: 512, Threads: 128, // this tests the walls, not these limits
	}
	r := newRunner(t, policy.Policy{Python: p.Found, Limits: limits, Maxima: limits, Preload: []string{}})
	for _, m := range modules {
		if !m.short && !hosttest.Long() {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			differences := m.run(t, r, "")
			switch {
			case p.minor() == listedMinor:
				for _, d := range differences {
					t.Error(d)
				}
			case len(differences) > 0:
				t.Logf("the list is for 3.%d, so these are not failures:\n%s", listedMinor, strings.Join(differences, "\n"))
			}
		})
	}
}

// suitePython returns the interpreter of CORDON_TEST_SUITE, or the first one that has its tests
// installed.
func suitePython(t *testing.T) python {
	suite := os.Getenv("CORDON_TEST_SUITE")
	for _, p := range pythons(t) {
		has := isFile(filepath.Join(p.Stdlib, "test", "test_json", "__init__.py"))
		if has && (suite == "" || filepath.Clean(suite) == filepath.Join(p.Stdlib, "test")) {
			return p
		}
	}
	skipOrFail(t, "no interpreter here has CPython's own tests: apt-get install libpython3-testsuite, or CORDON_TEST_SUITE (%q) belongs to none that was found", suite)
	return python{}
}

// run runs the module and returns the differences from the list. path is the directory of the
// tests if they are not in the standard library.
func (m suiteModule) run(t *testing.T, r runner, path string) (differences []string) {
	res, err := r.Run(t.Context(), run.Request{
		Script: run.Script{Source: cpythonRunner, Name: m.name, Context: map[string]any{"module": m.name, "left_out": m.leftOut, "path": path}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Ran, Skipped int
		Failed       map[string]string
	}
	if !res.OK() {
		return []string{fmt.Sprintf("%s: %s: %s\n%s\n%+v", m.name, res.Outcome, res.Error, res.Stderr, res.Violations)}
	}
	if err := res.Decode(&got); err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for test, why := range got.Failed {
		if entry := m.entry(test); entry != "" {
			used[entry] = true
			continue
		}
		differences = append(differences, fmt.Sprintf("%s: %s failed: %s", m.name, test, why))
	}
	for entry, why := range m.fails {
		if used[entry] || slices.Contains(m.leftOut, entry) {
			continue
		}
		news := fmt.Sprintf("%s: %s passes: it was expected to fail (%s)", m.name, entry, why)
		if m.strict {
			differences = append(differences, news)
			continue
		}
		t.Log(news) // tests that pass now; they must not break a build
	}
	if least := max(m.atLeast, 1); got.Ran < least && !used["(import)"] {
		differences = append(differences, fmt.Sprintf("%s: %d tests were run, and %d should be", m.name, got.Ran, least))
	}
	slices.Sort(differences)
	if len(differences) > 0 {
		for _, v := range res.Violations {
			differences = append(differences, fmt.Sprintf("%s: blocked: %s %s(%s) × %d", m.name, v.Wall, v.Op, v.Detail, v.Count))
		}
	}
	t.Logf("%d run, %d skipped, %d failed, %v", got.Ran, got.Skipped, len(got.Failed), res.Usage.CPUTime)
	return differences
}

// entry returns the line of the list that covers a test.
func (m suiteModule) entry(test string) string {
	if _, listed := m.fails[test]; listed {
		return test
	}
	for i, c := range test {
		if _, listed := m.fails[test[:i]+".*"]; c == '.' && listed {
			return test[:i] + ".*"
		}
	}
	return ""
}

// parseSuite reads testdata/cpython.txt; its format is at its top.
func parseSuite(text string) ([]suiteModule, error) {
	var modules []suiteModule
	for n, line := range strings.Split(text, "\n") {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0 || strings.HasPrefix(fields[0], "#"):
		case strings.HasPrefix(line, "test_"):
			m := suiteModule{name: fields[0], fails: map[string]string{}, leftOut: []string{}}
			for _, word := range fields[1:] {
				switch word {
				case "short":
					m.short = true
				case "long":
					m.long = true
				default:
					var err error
					if m.atLeast, err = strconv.Atoi(word); err != nil {
						return nil, fmt.Errorf("line %d: %q is not `short`, `long` or a number", n+1, word)
					}
				}
			}
			modules = append(modules, m)
		case len(modules) == 0 || len(fields) < 3 || fields[0] != "fails" && fields[0] != "skips":
			return nil, fmt.Errorf("line %d: want `fails TEST reason` or `skips TEST reason` below a module, have %q", n+1, line)
		default:
			m := &modules[len(modules)-1]
			m.fails[fields[1]] = strings.Join(fields[2:], " ")
			if fields[0] == "skips" {
				m.leftOut = append(m.leftOut, fields[1])
			}
		}
	}
	return modules, nil
}
