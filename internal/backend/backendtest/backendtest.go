// Package backendtest is the test suite that every backend passes: small tests of the
// Backend interface, and all containment attempts.
package backendtest

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/internal/attack"
	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Open starts the backend under test, which is closed when the test ends.
type Open func(t *testing.T, p policy.Policy) backend.Backend

// runner applies the limits of a policy to requests, as the Runner does.
type runner struct {
	backend.Backend
	policy policy.Policy
}

func (r runner) Run(ctx context.Context, req run.Request) (run.Result, error) {
	limits, err := r.policy.Narrow(req.Limits)
	if err != nil {
		return run.Result{}, run.Wrap(run.Invalid, err)
	}
	job := backend.Job{Request: req, Limits: limits, OnOutputLimit: req.OnOutputLimit}
	if job.OnOutputLimit == "" {
		job.OnOutputLimit = r.policy.OnOutputLimit
	}
	s, err := r.Open(ctx, job)
	if err != nil {
		return run.Result{}, err
	}
	result, err := s.Run(ctx, job)
	return result, errors.Join(err, s.Close())
}

const (
	objectsWithForms = `
import dataclasses, datetime as d, decimal, enum, pathlib, typing, uuid
class Color(enum.Enum):
    RED = "r"
@dataclasses.dataclass
class Point:
    x: int
    when: d.date
    next: object = ()
    kind: typing.ClassVar[int] = 3
result = [d.datetime(2026, 1, 2, 3, 4, 5, tzinfo=d.timezone.utc), d.date(2026, 1, 2), d.time(1, 2), d.timedelta(minutes=1.5), decimal.Decimal("1.10"),
          uuid.UUID(int=1), pathlib.PurePosixPath("/a/b"), Color.RED, Point(1, d.date(2026, 1, 1), Point(2, None)), {"a": (1, decimal.Decimal(2))}]
`
	objectForms = `["2026-01-02T03:04:05+00:00","2026-01-02","01:02:00",90.0,"1.10","00000000-0000-0000-0000-000000000001","/a/b","r",` +
		`{"x":1,"when":"2026-01-01","next":{"x":2,"when":null,"next":[]}},{"a":[1,"2"]}]`
)

// Contract checks that a backend reports each end of a guest as the interface requires.
func Contract(t *testing.T, open Open, p policy.Policy) {
	p = p.Resolved()
	r := runner{open(t, p), p}
	second := time.Second
	crash, crashed, words := "import ctypes; ctypes.string_at(0)", run.Signaled, "SIGSEGV"
	if r.Tier() == policy.TierWasm {
		crash, crashed, words = "import os; os.abort()", run.Trapped, "unreachable"
	}
	for _, test := range []struct {
		name    string
		request run.Request
		outcome run.Outcome
		value   string
		stdout  string
		message string // part of Error
	}{
		{"value", run.Request{Script: run.Script{Source: "result = context['a'] + 1", Context: map[string]any{"a": 41}}}, run.Succeeded, "42", "", ""},
		{"no value", run.Request{Script: run.Script{Source: "pass"}}, run.Succeeded, "", "", ""},
		{"output", run.Request{Script: run.Script{Source: "print('hello')"}}, run.Succeeded, "", "hello\n", ""},
		{"stdin", run.Request{Script: run.Script{Source: "result = input()"}, Stdin: "typed\n"}, run.Succeeded, `"typed"`, "", ""},
		{"exception", run.Request{Script: run.Script{Source: "x = 1\nraise ValueError('no')"}}, run.Raised, "", "", "ValueError: no (line 2)"},
		{"syntax", run.Request{Script: run.Script{Source: "x ="}}, run.Malformed, "", "", "line 1"},
		{"exit", run.Request{Script: run.Script{Source: "raise SystemExit(7)"}}, run.Exited, "", "", "exit code 7"},
		{"wall time", run.Request{Script: run.Script{Source: "print('before')\nimport time; time.sleep(60)"}, Limits: policy.Limits{WallTime: second / 5}}, run.TimedOut, "", "before\n", "200ms"},
		{"cpu time", run.Request{Script: run.Script{Source: "while True: pass"}, Limits: policy.Limits{CPUTime: second / 5}}, run.OutOfCPU, "", "", "200ms"},
		{"memory", run.Request{Script: run.Script{Source: "x = bytearray(10**9)"}}, run.OutOfMemory, "", "", "256MiB"},
		{"output limit", run.Request{Script: run.Script{Source: "print('x' * 100000)"}, OnOutputLimit: policy.OutputKill}, run.OutOfOutput, "", strings.Repeat("x", 65536), "64KiB"},
		{"result limit", run.Request{Script: run.Script{Source: "result = 'x' * 1022"}, Limits: policy.Limits{Result: policy.KiB}}, run.Succeeded, `"` + strings.Repeat("x", 1022) + `"`, "", ""},
		{"a result above its limit", run.Request{Script: run.Script{Source: "result = 'x' * 1023"}, Limits: policy.Limits{Result: policy.KiB}}, run.OutOfResult, "", "", "result limit of 1KiB"},
		{"a result far above its limit", run.Request{Script: run.Script{Source: "result = 'x' * (20 << 20)"}}, run.OutOfResult, "", "", "result limit of 8MiB"},
		{"a result that is longer as JSON", run.Request{Script: run.Script{Source: `result = '\x00' * (8 << 20)`}}, run.OutOfResult, "", "", "result limit of 8MiB"},
		{"variables above the limit", run.Request{Script: run.Script{Source: "x, result = 'x' * 600, 'x' * 600", Variables: []string{"x"}}, Limits: policy.Limits{Result: policy.KiB}}, run.OutOfResult, "", "", "result limit of 1KiB"},
		{"variables far above the limit", run.Request{Script: run.Script{Source: "x = ['x' * (20 << 20)]", Variables: []string{"x"}}}, run.OutOfResult, "", "", "result limit of 8MiB"},
		{"crash", run.Request{Script: run.Script{Source: crash}}, crashed, "", "", words},
		{"objects with a JSON form", run.Request{Script: run.Script{Source: objectsWithForms}}, run.Succeeded, objectForms, "", ""},
		{"an object without a JSON form", run.Request{Script: run.Script{Source: "class C: pass\nresult = [C()]"}}, run.InvalidOutput, "", "", "result[0] is a C object, which is not a JSON value"},
		{"no JSON", run.Request{Script: run.Script{Source: "result = {'a': [1, {2}]}"}}, run.InvalidOutput, "", "", "result['a'][1]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			res, err := r.Run(t.Context(), test.request)
			if err != nil {
				t.Fatal(err)
			}
			if res.Outcome != test.outcome || string(res.Value) != test.value && (test.value != "" || string(res.Value) != "null") ||
				res.Stdout != test.stdout || !strings.Contains(res.Error, test.message) {
				t.Errorf("%s, value %s, stdout %.60q, error %q\n%s", res.Outcome, res.Value, res.Stdout, res.Error, res.Stderr)
			}
			if res.Enforcement.Tier != r.Tier() || len(res.Enforcement.Walls) == 0 {
				t.Errorf("enforcement is not reported: %+v", res.Enforcement)
			}
			if res.Status != res.Outcome.Status() || res.ErrorType != res.Outcome.ErrorType() {
				t.Errorf("status %q and error type %q do not fit %q", res.Status, res.ErrorType, res.Outcome)
			}
		})
	}
	t.Run("canceled before the start", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := r.Run(ctx, run.Request{Script: run.Script{Source: "pass"}}); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	})
}

// Containment runs every attempt to escape. An attempt may be skipped only if this host
// lacks all walls that would stop it. A host that is supposed to have all walls may skip
// none. If areas are given, only their attempts run.
func Containment(t *testing.T, open Open, p policy.Policy, areas ...string) {
	t.Helper()
	// The canaries come first, so that the backend starts on a host that has something to
	// leak. Only walls may protect them, not a directory's mode.
	dir := t.TempDir()
	for path := dir; len(path) > len(os.TempDir()); path = path[:strings.LastIndexByte(path, '/')] {
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	suite, err := attack.NewSuite(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer suite.Close()
	minHeld := 60
	if len(areas) > 0 {
		minHeld = len(areas)
		if err := suite.Keep(areas); err != nil {
			t.Fatal(err)
		}
	}
	p = p.Resolved()
	suite.Maxima = p.Maxima
	r := runner{open(t, p), p}
	if _, stepwise := r.Backend.(inSteps); stepwise {
		suite.Attempts = slices.DeleteFunc(suite.Attempts, func(a attack.Attempt) bool { return a.Name == atTheEnd })
	}
	verdicts, err := suite.Prove(t.Context(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	held, absent := 0, 0
	for _, v := range verdicts {
		switch v.State {
		case attack.StateHeld:
			if held++; len(v.Absent) > 0 {
				absent++
				t.Logf("cannot be attempted: %s: %s", v.Attempt.Name, v.Detail)
			}
		case attack.StateSkipped:
			t.Logf("skipped %s: %s", v.Attempt.Name, v.Detail)
			if missing := missingWalls(v); len(missing) == 0 && (hosttest.Promised() || r.Tier() == policy.TierWasm) {
				t.Errorf("%s was skipped although its walls stand: %s", v.Attempt.Name, v.Detail)
			}
		default:
			t.Errorf("%s %s (%s): %s", v.State, v.Attempt.Name, v.Attempt.Title, v.Detail)
		}
	}
	t.Logf("%d attempts: %d held, %d of them because the tier lacks what they need", len(verdicts), held, absent)
	if held-absent < minHeld {
		t.Errorf("only %d attempts were made and held", held-absent)
	}
}

// atTheEnd is an attempt that fails at the end of its interpreter, which a step does not reach:
// exit handlers run when their session ends.
const atTheEnd = "results/exit_in_handler"

// missingWalls returns the walls that are not enforced on this host.
func missingWalls(v attack.Verdict) []policy.Wall {
	var missing []policy.Wall
	for wall, state := range v.Result.Enforcement.Walls {
		if !state.Enforced() {
			missing = append(missing, wall)
		}
	}
	return missing
}
