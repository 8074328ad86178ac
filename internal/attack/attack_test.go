package attack

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func all(t *testing.T) []Attempt {
	t.Helper()
	attempts, err := All()
	if err != nil {
		t.Fatal(err)
	}
	return attempts
}

func TestEveryHeaderIsWellFormed(t *testing.T) {
	attempts := all(t)
	if len(attempts) < 75 {
		t.Errorf("only %d attempts", len(attempts))
	}
	titles := map[string]string{}
	for _, a := range attempts {
		if other := titles[a.Title]; other != "" {
			t.Errorf("%s has the title of %s", a.Name, other)
		}
		titles[a.Title] = a.Name
		programs, err := a.Runs()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range programs {
			if err := (run.Request{Script: run.Script{Source: p, Name: a.Name}}).Validate(); err != nil {
				t.Errorf("%s: %v", a.Name, err)
			}
			if len(programs) > 1 && !strings.Contains(p, "\nresult = ") {
				t.Errorf("%s: a run does not set result", a.Name)
			}
		}
		if _, err := (policy.Policy{}).Narrow(a.Limits); err != nil {
			t.Errorf("%s: %v", a.Name, err)
		}
		// A helper exists only for attempts that need it.
		for word, need := range map[string]string{"scratch()": "scratch", "syscall(": "syscall", "libc()": "syscall", "Thread(": "threads"} {
			if strings.Contains(a.Script, word) && !slices.Contains(a.Needs, need) {
				t.Errorf("%s uses %s, and its header lacks needs: %s", a.Name, word, need)
			}
		}
	}
}

// Each known failure class that a script can try has an attempt. Of the others, 5 is the
// Runner's refusal, 21 (except for name lookups) and 22 belong to tiers with egress and
// commands, and 23 is over-blocking.
func TestEveryClassHasAnAttempt(t *testing.T) {
	seen := map[int]bool{}
	for _, a := range all(t) {
		seen[a.Class] = true
	}
	for class := 1; class <= 22; class++ {
		if !seen[class] {
			t.Errorf("no attempt of class %d", class)
		}
	}
}

// An attempt names each wall. For each wall that a script can notice alone, an attempt
// depends on that wall alone.
func TestEveryWallIsTried(t *testing.T) {
	named, alone := map[policy.Wall]bool{}, map[policy.Wall]bool{}
	for _, a := range all(t) {
		for _, w := range a.Walls {
			named[w] = true
			alone[w] = alone[w] || len(a.Walls) == 1
		}
	}
	// A namespace of control groups shows nothing where there is no /proc.
	unseen := []policy.Wall{policy.WallCgroupNS}
	for _, w := range policy.Walls() {
		if !named[w] && !slices.Contains(unseen, w) {
			t.Errorf("no attempt names %s", w)
		}
	}
	for _, w := range []policy.Wall{
		policy.WallNoNewPrivs, policy.WallCapabilities, policy.WallMount, policy.WallPID, policy.WallUTS,
		policy.WallSeccomp, policy.WallRlimit, policy.WallEnvironment,
	} {
		if !alone[w] {
			t.Errorf("no attempt depends on %s alone", w)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	const good = "# attack: x\n# class: 1\n# walls: seccomp\n"
	for header, want := range map[string]string{
		"# class: 1\n# walls: seccomp\n":     `lacks "attack"`,
		"# attack: x\n# class: 1\n":          `lacks "walls"`,
		good + "# attack: y\n":               "twice",
		good + "# comment\n":                 "is not",
		good + "# wals: mount\n":             "is not a key",
		good + "# expect: timed_out\n":       "neither held",
		good + "# expect: outcome:late\n":    "neither held",
		good + "# limits: time=1s\n":         "is not a limit",
		good + "# limits: wall_time=1\n":     "1",
		good + "# needs: luck\n":             "is unknown",
		good + "# absent: os.fork()\n":       "neither a module",
		good + "# absent: 'os'\n":            "neither a module",
		good + "# alone: no\n":               "write yes",
		good + "# naked: no\n":               "gives no reason",
		good + "# naked: sometimes\n":        "is not yes",
		good + "# naked: yes because\n":      "take a reason",
		"# attack: x\n# class: 99\n":         "is not a class",
		"# attack: x\n# walls: filesystem\n": "is not a wall",
	} {
		if _, err := parse("a/b", header+"\nresult = None\n"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("parse(%q) = %v, want %q", header, err, want)
		}
	}
	if _, err := parse("a/b", good+"\npass\n"); err == nil {
		t.Error("a script without a result was accepted")
	}
}

func TestJudge(t *testing.T) {
	attempt := Attempt{Walls: []policy.Wall{policy.WallMount, policy.WallSeccomp}, Expect: []run.Outcome{Held}}
	bomb := Attempt{
		Walls: attempt.Walls, Expect: []run.Outcome{run.TimedOut, run.OutOfCPU},
		Limits: policy.Limits{WallTime: time.Second, CPUTime: time.Second, Output: 10},
	}
	value := func(json string) run.Result {
		return run.Result{Outcome: run.Succeeded, Value: []byte(json)}
	}
	with := func(r run.Result, walls ...policy.Wall) run.Result {
		r.Enforcement.Walls = map[policy.Wall]policy.WallStatus{policy.WallMount: policy.MissingWall("no namespaces"), policy.WallSeccomp: policy.MissingWall("x")}
		for _, w := range walls {
			r.Enforcement.Walls[w] = policy.EnforcedWall("as planned")
		}
		return r
	}
	forks := attempt
	forks.Absent, forks.Needs = []string{"os.fork"}, []string{"syscall"}
	crash := Attempt{Walls: attempt.Walls, Expect: []run.Outcome{run.Signaled}}
	loop := func(a Attempt) Attempt {
		a.Expect = []run.Outcome{run.TimedOut}
		return a
	}
	wasm := func(r run.Result) run.Result {
		r.Enforcement = run.Enforcement{Tier: policy.TierWasm, Walls: map[policy.Wall]policy.WallStatus{policy.WallWasm: policy.EnforcedWall("compiled")}}
		return r
	}
	const gone = `{"escaped": false, "absent": ["os.fork"], "detail": "os.fork does not exist there"}`
	const held, escaped = `{"escaped": false, "detail": "EPERM"}`, `{"escaped": true, "detail": "read it"}`
	for _, test := range []struct {
		name    string
		attempt Attempt
		result  run.Result
		err     error
		touched []string
		state   string
		detail  string
	}{
		{"held", attempt, value(held), nil, nil, StateHeld, "EPERM"},
		{"escaped", attempt, value(escaped), nil, nil, StateEscaped, "read it"},
		{"escaped, a wall stood", attempt, with(value(escaped), policy.WallSeccomp), nil, nil, StateEscaped, "read it"},
		{"escaped, no wall stood", attempt, with(value(escaped)), nil, nil, StateSkipped, "needs one of mount, seccomp"},
		{"says held, the host saw an escape", attempt, value(held), nil, []string{"tcp reached"}, StateEscaped, "tcp reached"},
		{"crashed, the host saw an escape", attempt, run.Result{Outcome: run.Signaled}, nil, []string{"x"}, StateEscaped, "x"},
		{"failed, the host saw an escape", attempt, run.Result{}, errors.New("lost"), []string{"x"}, StateEscaped, "x"},
		{"cordon failed", attempt, run.Result{}, errors.New("no zygote"), nil, StateBroken, "no zygote"},
		{"raised", attempt, run.Result{Outcome: run.Raised, Exception: &run.Exception{Type: "NameError", Message: "x", Line: 3}}, nil, nil, StateBroken, "NameError: x (line 3)"},
		{"malformed", attempt, run.Result{Outcome: run.Malformed}, nil, nil, StateBroken, "malformed"},
		{"no value", attempt, value(`null`), nil, nil, StateBroken, "no verdict"},
		{"other value", attempt, value(`{"held": true}`), nil, nil, StateBroken, "no verdict"},
		{"hammered", attempt, run.Result{Outcome: run.Denied}, nil, nil, StateHeld, "by a wall"},
		{"timed out unexpectedly", attempt, run.Result{Outcome: run.TimedOut}, nil, nil, StateSlow, "timed_out"},
		{"out of CPU time unexpectedly", attempt, run.Result{Outcome: run.OutOfCPU}, nil, nil, StateSlow, "out_of_cpu"},
		{"timed out, the host saw an escape", attempt, run.Result{Outcome: run.TimedOut}, nil, []string{"x"}, StateEscaped, "x"},
		{"bomb ended", bomb, run.Result{Outcome: run.OutOfCPU}, nil, nil, StateHeld, "out_of_cpu"},
		{"bomb not ended", bomb, value(held), nil, nil, StateBroken, "not expected"},
		{"bomb ended late", bomb, run.Result{Outcome: run.TimedOut, Usage: run.Usage{WallTime: time.Minute}}, nil, nil, StateEscaped, "ran for 1m"},
		{"bomb used more CPU time", bomb, run.Result{Outcome: run.TimedOut, Usage: run.Usage{CPUTime: time.Minute}}, nil, nil, StateEscaped, "CPU time"},
		{"flood came through", bomb, run.Result{Outcome: run.TimedOut, Stderr: "01234567890"}, nil, nil, StateEscaped, "stderr of 11 bytes"},
		{"any end is fine", Attempt{Expect: []run.Outcome{run.Succeeded}}, value(`[1]`), nil, nil, StateHeld, "finished"},
		{"nothing to attack", attempt, value(`{"escaped": false, "missing": "canary mq", "detail": "x"}`), nil, nil, StateSkipped, "canary mq"},
		{"no scratch, none promised", attempt, with(value(`{"escaped": false, "missing": "scratch", "detail": "x"}`)), nil, nil, StateSkipped, "scratch"},
		{"does not exist, on WebAssembly", forks, wasm(value(gone)), nil, nil, StateHeld, "os.fork does not exist"},
		{"does not exist, with a name that a helper needs", forks, wasm(value(`{"escaped": false, "absent": ["os.fork", "ctypes"]}`)), nil, nil, StateHeld, ""},
		{"does not exist, and that was not expected", loop(forks), wasm(value(gone)), nil, nil, StateHeld, "does not exist"},
		{"does not exist, in a process", forks, with(value(gone), policy.WallSeccomp), nil, nil, StateBroken, "os.fork"},
		{"does not exist, with nothing enforced", forks, value(gone), nil, nil, StateBroken, "os.fork"},
		{"does not exist, and is not in the header", attempt, wasm(value(gone)), nil, nil, StateBroken, "os.fork"},
		{"does not exist, but the host saw an escape", forks, wasm(value(gone)), nil, []string{"tcp reached"}, StateEscaped, "tcp reached"},
		{"a name was mistyped", forks, wasm(run.Result{Outcome: run.Raised, Exception: &run.Exception{Type: "AttributeError"}}), nil, nil, StateBroken, "AttributeError"},
		{"escaped, on WebAssembly", attempt, wasm(value(escaped)), nil, nil, StateEscaped, "read it"},
		{"a trap instead of a signal", crash, wasm(run.Result{Outcome: run.Trapped}), nil, nil, StateHeld, "trapped"},
		{"a trap instead of no signal", attempt, wasm(run.Result{Outcome: run.Trapped}), nil, nil, StateBroken, "trapped"},
		{"a trap without a module", crash, with(run.Result{Outcome: run.Trapped}, policy.WallSeccomp), nil, nil, StateBroken, "trapped"},
		{"no scratch, on WebAssembly", attempt, wasm(value(`{"escaped": false, "missing": "scratch", "detail": "x"}`)), nil, nil, StateBroken, "no scratch"},
		{"no canary, on WebAssembly", attempt, wasm(value(`{"escaped": false, "missing": "canary mq", "detail": "x"}`)), nil, nil, StateSkipped, "canary mq"},
		{"no scratch, one promised", attempt, with(value(`{"escaped": false, "missing": "scratch", "detail": "x"}`), policy.WallMount), nil, nil, StateBroken, "scratch"},
	} {
		v := Judge(test.attempt, test.result, test.err, test.touched, 1)
		if v.State != test.state || !strings.Contains(v.Detail, test.detail) {
			t.Errorf("%s: %s: %s; want %s: %s", test.name, v.State, v.Detail, test.state, test.detail)
		}
	}
}

// runnerFunc is a Runner that is a function.
type runnerFunc func(run.Request) (run.Result, error)

func (f runnerFunc) Run(_ context.Context, req run.Request) (run.Result, error) { return f(req) }

// fakeRunner gives prepared answers instead of running a sandbox.
type fakeRunner struct {
	mu     sync.Mutex
	seen   []string
	answer func(run.Request) (run.Result, error)
	// pace is how slow it pretends to be.
	pace Pace
}

func (f *fakeRunner) Run(_ context.Context, req run.Request) (run.Result, error) {
	if req.Script.Name == calibrationName {
		return run.Result{Outcome: run.Succeeded, Usage: run.Usage{WallTime: f.pace.stretch(calibrated)}}, nil
	}
	f.mu.Lock()
	f.seen = append(f.seen, req.Script.Name)
	f.mu.Unlock()
	return f.answer(req)
}

func TestProveJudgesEveryAttemptOnce(t *testing.T) {
	fake := &fakeRunner{answer: func(run.Request) (run.Result, error) {
		return run.Result{Outcome: run.Succeeded, Value: json.RawMessage(`{"escaped": false, "detail": "no"}`)}, nil
	}}
	reported := 0
	verdicts, err := Prove(t.Context(), fake, func(Verdict) { reported++ })
	if err != nil {
		t.Fatal(err)
	}
	attempts := all(t)
	if len(verdicts) != len(attempts) || reported != len(attempts) {
		t.Fatalf("%d verdicts, %d reported, %d attempts", len(verdicts), reported, len(attempts))
	}
	for i, v := range verdicts {
		if v.Attempt.Name != attempts[i].Name {
			t.Fatalf("verdict %d is of %s, not of %s", i, v.Attempt.Name, attempts[i].Name)
		}
		if v.State == StateEscaped {
			t.Errorf("%s: %s", v.Attempt.Name, v.Detail)
		}
	}
}

// A guest that says "held" although its output has a secret has escaped, and so has one
// whose first run escaped.
func TestProvePrefersTheHostsEvidence(t *testing.T) {
	suite := newSuite(t, "state/random", "files/canary_by_path")
	secret := suite.canaries[1].secrets["canary_file"]
	fake := &fakeRunner{answer: func(req run.Request) (run.Result, error) {
		return run.Result{Outcome: run.Succeeded, Stderr: "x" + secret, Value: json.RawMessage(`{"escaped": false}`)}, nil
	}}
	verdicts, err := suite.Prove(t.Context(), fake, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range verdicts {
		if v.State != StateEscaped || !strings.Contains(v.Detail, "canary_file") {
			t.Errorf("%s: %s: %s", v.Attempt.Name, v.State, v.Detail)
		}
	}
	if len(fake.seen) != 2 {
		t.Errorf("%d runs: the second run of a pair was made although the first escaped", len(fake.seen))
	}
}

func TestProvePassesTheFirstRunsValueToTheSecond(t *testing.T) {
	suite := newSuite(t, "state/random")
	var previous []any
	fake := &fakeRunner{answer: func(req run.Request) (run.Result, error) {
		previous = append(previous, req.Script.Context.(map[string]any)["previous"])
		return run.Result{Outcome: run.Succeeded, Value: json.RawMessage(`{"escaped": false, "drawn": [1]}`)}, nil
	}}
	if _, err := suite.Prove(t.Context(), fake, nil); err != nil {
		t.Fatal(err)
	}
	if len(previous) != 2 || previous[0] != nil || previous[1] == nil {
		t.Errorf("contexts had %v", previous)
	}
}

func TestProveStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	fake := &fakeRunner{answer: func(run.Request) (run.Result, error) {
		cancel()
		return run.Result{}, context.Canceled
	}}
	verdicts, err := newSuite(t).Prove(ctx, fake, nil)
	if !errors.Is(err, context.Canceled) || len(verdicts) > 2 {
		t.Errorf("%d verdicts, error %v", len(verdicts), err)
	}
}

func newSuite(t *testing.T, names ...string) *Suite {
	t.Helper()
	suite, err := NewSuite(shortTempDir(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(suite.Close)
	if len(names) > 0 {
		suite.Attempts = slices.DeleteFunc(suite.Attempts, func(a Attempt) bool { return !slices.Contains(names, a.Name) })
		if len(suite.Attempts) != len(names) {
			t.Fatalf("not all of %v exist", names)
		}
	}
	return suite
}

func TestKeep(t *testing.T) {
	suite := newSuite(t)
	whole := len(suite.Attempts)
	if err := suite.Keep(nil); err != nil || len(suite.Attempts) != whole {
		t.Errorf("no area: %d of %d are left, %v", len(suite.Attempts), whole, err)
	}
	if err := suite.Keep([]string{"files", "file"}); err == nil || !strings.Contains(err.Error(), `"file" is not an area: write one of abi, `) || len(suite.Attempts) != whole {
		t.Errorf("an unknown area: %v", err)
	}
	if err := suite.Keep([]string{"files", "signals"}); err != nil {
		t.Error(err)
	}
	for _, a := range suite.Attempts {
		if a.Area != "files" && a.Area != "signals" {
			t.Errorf("%s is left", a.Name)
		}
	}
	if n := len(suite.Attempts); n < 10 || n == whole {
		t.Errorf("%d of %d are left", n, whole)
	}
}

func TestJUnit(t *testing.T) {
	a := Attempt{Name: "files/x", Area: "files", Title: "read <it>"}
	var out bytes.Buffer
	err := JUnit(&out, []Verdict{
		{Attempt: a, State: StateHeld, Detail: "EPERM"},
		{Attempt: a, State: StateEscaped, Detail: "read \"\x1b[2J\""},
		{Attempt: a, State: StateBroken, Detail: "raised"},
		{Attempt: a, State: StateSkipped, Detail: "no mq"},
	})
	if err != nil {
		t.Fatal(err)
	}
	var suite junitSuite
	if err := xml.Unmarshal(out.Bytes(), &suite); err != nil {
		t.Fatal(err)
	}
	if suite.Tests != 4 || suite.Failures != 1 || suite.Errors != 1 || suite.Skipped != 1 {
		t.Errorf("counts: %+v", suite)
	}
	if got := suite.Cases[1].Failure.Message; got != `read "\x1b[2J"` {
		t.Errorf("message %q", got)
	}
}

// The documents and the README's picture show what `cordon doctor --prove` prints.
func TestDocumentsShowTheCount(t *testing.T) {
	n := len(all(t))
	for name, want := range map[string]string{
		"README.md":        fmt.Sprintf("makes %d real attempts", n),
		"docs/cli.md":      fmt.Sprintf("%d attempts: %d held, 0 escaped, 0 broken, 0 slow, 0 skipped", n, n),
		"docs/picture.svg": fmt.Sprintf("%d attempts: %d held, 0 escaped, 0 broken, 0 slow, 0 skipped", n, n),
	} {
		text, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), want) {
			t.Errorf("%s does not say: %s", name, want)
		}
	}
}
