package compat_test

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// script is an ordinary script and its expected Result. If all expected fields are zero, the
// script succeeds with no result, no output and no violation.
type script struct {
	name   string
	source string
	// Input.
	context   any
	stdin     string
	variables []string
	limits    policy.Limits
	since     int // the first 3.N that can run it

	// Expected Result.
	result    string      // JSON; empty means null
	outcome   run.Outcome // empty means succeeded
	exception string      // the type of the exception
	error     []string    // what Error must contain
	exit      int
	stdout    string
	stderr    []string // what stderr must contain, in this order
	violation []string // the operations that must be reported, no others
	variable  string   // JSON of the reported variables
	check     func(*testing.T, run.Result)
}

// tables are all scripts by table.
var tables = map[string][]script{}

func table(name string, scripts ...script) bool {
	tables[name] = append(tables[name], scripts...)
	return true
}

// maxima are the operator's limits, high enough for tests that request more than the defaults.
var maxima = policy.Limits{
	WallTime: 2 * time.Minute, CPUTime: 2 * time.Minute,
	Memory: 1 * policy.GiB, Output: 256 * policy.KiB, Scratch: 64 * policy.MiB,
}

func TestScripts(t *testing.T) {
	thorough := mainPythons(t)
	for _, p := range pythons(t) {
		chosen := tables
		if !slices.ContainsFunc(thorough, func(m python) bool { return m.name == p.name }) {
			chosen = refusals()
		}
		t.Run(p.name, func(t *testing.T) {
			testScripts(t, p, chosen, func(table string, s script) script { return s })
		})
	}
}

// refusals returns the tables of scripts that a wall must stop.
func refusals() map[string][]script {
	refused := maps.Clone(tables)
	maps.DeleteFunc(refused, func(name string, _ []script) bool { return !strings.HasSuffix(name, " refused") })
	return refused
}

// testScripts runs the chosen tables. expected returns a script with the Result that it must have
// on this tier.
func testScripts(t *testing.T, p python, chosen map[string][]script, expected func(table string, s script) script) {
	r := p.runner(t, policy.Policy{Maxima: maxima})
	for name, scripts := range chosen {
		t.Run(name, func(t *testing.T) {
			for _, s := range scripts {
				t.Run(s.name, func(t *testing.T) {
					if p.minor() < s.since {
						t.Skipf("needs Python 3.%d", s.since)
					}
					t.Parallel()
					expected(name, s).test(t, r)
				})
			}
		})
	}
}

// runner is a Runner or a tierRunner.
type runner interface {
	Run(context.Context, run.Request) (run.Result, error)
}

func (s script) test(t *testing.T, r runner) {
	res, err := r.Run(t.Context(), run.Request{
		Script: run.Script{Source: s.source, Context: s.context, Variables: s.variables}, Stdin: s.stdin, Limits: s.limits,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.checkResult(t, res)
	if t.Failed() {
		t.Logf("error: %s\nresult: %.2000s\nstdout: %.2000s\nstderr: %.4000s\nviolations: %+v",
			res.Error, res.Value, res.Stdout, res.Stderr, res.Violations)
	}
}

func (s script) checkResult(t *testing.T, res run.Result) {
	if want := cmp.Or(s.outcome, run.Succeeded); res.Outcome != want {
		t.Errorf("outcome %s, want %s", res.Outcome, want)
	}
	if s.exception != "" && (res.Exception == nil || res.Exception.Type != s.exception) {
		t.Errorf("exception %+v, want %s", res.Exception, s.exception)
	}
	for _, part := range s.error {
		if !strings.Contains(res.Error, part) {
			t.Errorf("error %q lacks %q", res.Error, part)
		}
	}
	if s.exit != 0 && (res.ExitCode == nil || *res.ExitCode != s.exit) {
		t.Errorf("exit code %v, want %d", res.ExitCode, s.exit)
	}
	sameJSON(t, "result", string(res.Value), cmp.Or(s.result, "null"))
	if res.Stdout != s.stdout {
		t.Errorf("stdout %.500q, want %.500q", res.Stdout, s.stdout)
	}
	if s.stderr == nil && s.exception == "" && res.Stderr != "" {
		t.Error("stderr is not empty")
	}
	rest := res.Stderr
	for _, part := range s.stderr {
		_, after, found := strings.Cut(rest, part)
		if !found {
			t.Errorf("stderr lacks %q, or has it too early", part)
			continue
		}
		rest = after
	}
	if s.variable != "" {
		got, err := json.Marshal(res.Variables)
		if err != nil {
			t.Fatal(err)
		}
		sameJSON(t, "variables", string(got), s.variable)
	}
	s.checkViolations(t, res)
	if s.check != nil {
		s.check(t, res)
	}
}

// newProcess means fork, vfork or clone: which of them a library uses depends on its version
// and on the architecture.
const newProcess = "seccomp new process"

// anyViolation is for scripts whose violations do not matter.
var anyViolation = []string{"any"}

// checkViolations checks that each refused action is reported, and nothing else.
func (s script) checkViolations(t *testing.T, res run.Result) {
	if slices.Equal(s.violation, anyViolation) {
		return
	}
	var got []string
	for _, v := range res.Violations {
		op := string(v.Wall) + " " + v.Op
		if slices.Contains([]string{"fork", "vfork", "clone"}, v.Op) {
			op = newProcess
		}
		if !slices.Contains(got, op) {
			got = append(got, op)
		}
	}
	slices.Sort(got)
	want := slices.Sorted(slices.Values(s.violation))
	if res.Enforcement.ViolationsObserved && !slices.Equal(got, want) {
		t.Errorf("violations %q, want %q", got, want)
	}
}

// sameJSON compares values, and numbers by their text: 10**5000 does not fit float64.
func sameJSON(t *testing.T, what, got, want string) {
	t.Helper()
	decode := func(text string) (v any) {
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			t.Errorf("%s %.200q: %v", what, text, err)
		}
		return v
	}
	if !reflect.DeepEqual(decode(cmp.Or(got, "null")), decode(want)) {
		t.Errorf("%s %.1000s, want %.1000s", what, got, want)
	}
}
