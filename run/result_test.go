package run

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/policy"
)

func TestClasses(t *testing.T) {
	for _, c := range Classes() {
		if !errors.Is(Errorf(c, "words"), &Error{Class: c}) || ClassOf(fmt.Errorf("around: %w", Errorf(c, "words"))) != c {
			t.Errorf("%s is not found again", c)
		}
	}
	if ClassOf(errors.New("x")) != Internal {
		t.Error("an error without a class is not ours")
	}
	if errors.Is(Errorf(Busy, "words"), ErrInvalid) || errors.Is(Errorf(Busy, "a"), Errorf(Busy, "b")) {
		t.Error("errors that differ are taken for the same")
	}
	if err := Errorf(NotFound, "%w and %w", fs.ErrNotExist, fs.ErrPermission); !errors.Is(err, fs.ErrNotExist) || !errors.Is(err, fs.ErrPermission) {
		t.Error("a cause is lost")
	}
}

// Adding a word to this closed set is a promise to every caller.
var closedSet = strings.Fields("syntax policy exception timeout cpu_limit memory_limit output_limit result_limit disk_limit process_limit fuel_limit crashed denied invalid_output canceled")

func TestOutcomes(t *testing.T) {
	used := map[string]bool{}
	for _, o := range Outcomes() {
		word := string(o.ErrorType())
		if o == Succeeded {
			if word != "" || o.Status() != StatusOK {
				t.Errorf("%s is %s, %q", o, o.Status(), word)
			}
			continue
		}
		if !slices.Contains(closedSet, word) || o.Status() != StatusError {
			t.Errorf("%s is %s, %q", o, o.Status(), word)
		}
		used[word] = true
	}
	if len(used) != len(closedSet) {
		t.Errorf("of %v only %v are used", closedSet, used)
	}
}

func TestUsageIsNamedLikeLimits(t *testing.T) {
	limits := reflect.TypeFor[policy.Limits]()
	for f := range reflect.TypeFor[Usage]().Fields() {
		limit, ok := limits.FieldByName(f.Name)
		if !ok || limit.Type != f.Type {
			t.Errorf("Usage.%s is not in Limits", f.Name)
			continue
		}
		if row, _ := policy.LimitNamed(jsonName(limit)); row.NumberKey() != jsonName(f) {
			t.Errorf("Usage.%s is %s in JSON, and %s for readers of its tag", f.Name, row.NumberKey(), jsonName(f))
		}
	}
}

// The outcome of each limit has an exported constant.
func TestEveryLimitOutcomeHasAConstant(t *testing.T) {
	named := []Outcome{TimedOut, OutOfCPU, OutOfMemory, OutOfOutput, OutOfResult, OutOfDisk, OutOfProcs, OutOfFuel, Exited}
	for _, row := range policy.LimitTable() {
		if o := Outcome(row.Outcome); o != "" && !slices.Contains(named, o) {
			t.Errorf("%s ends a run as %s, for which there is no constant", row.Key, o)
		}
	}
}

func TestWireResultMirrorsResult(t *testing.T) {
	mirrors(t, reflect.TypeFor[Result](), reflect.TypeFor[wireResult]())
	mirrors(t, reflect.TypeFor[Enforcement](), reflect.TypeFor[wireEnforcement]())
}

// mirrors also checks that every key is always written, except the id, which is the caller's,
// what only steps have, and artifacts.
func mirrors(t *testing.T, given, wire reflect.Type) {
	t.Helper()
	written := slices.DeleteFunc(reflect.VisibleFields(wire), func(f reflect.StructField) bool { return f.Anonymous || f.Name == "Version" })
	if given.NumField() != len(written) {
		t.Fatalf("%s: %d fields against %d", given, given.NumField(), len(written))
	}
	for i := range given.NumField() {
		a, b := given.Field(i), written[i]
		if a.Name != b.Name || a.Tag != b.Tag {
			t.Errorf("%s `%s` against %s `%s`", a.Name, a.Tag, b.Name, b.Tag)
		}
		if strings.Contains(a.Tag.Get("json"), ",") && !slices.Contains([]string{"ID", "Artifacts", "ArtifactsOmitted", "ArtifactsError", "Step"}, a.Name) {
			t.Errorf("%s.%s is not there every time: `%s`", given, a.Name, a.Tag)
		}
	}
}

func timedOut() Result {
	return Result{
		ID: "r1", Status: StatusError, Outcome: TimedOut, Error: "wall time limit of 2s reached", ErrorType: TimedOut.ErrorType(),
		Signal: "SIGKILL", Stdout: "<tick> & tock", StdoutSize: 1537, StdoutTruncated: true,
		Variables: map[string]json.RawMessage{"x": json.RawMessage("42")},
		Usage: Usage{
			WallTime: 2001234567, CPUTime: 1980 * time.Millisecond,
			Memory: 31*policy.MiB + 1, Output: 1537,
		},
		Violations:  []Violation{{Wall: policy.WallSeccomp, Op: "socket", Detail: "AF_INET, SOCK_STREAM", Line: 3, Count: 1, Hint: "no network"}},
		Enforcement: Enforcement{Tier: policy.TierProcess, Walls: map[policy.Wall]policy.WallStatus{policy.WallSeccomp: policy.EnforcedWall("")}, ViolationsObserved: true},
	}
}

func TestResultJSON(t *testing.T) {
	for _, tt := range []struct {
		name   string
		result Result
		want   string
	}{
		{"timed out", timedOut(), `{
  "v": 1,
  "id": "r1",
  "status": "error",
  "outcome": "timed_out",
  "result": null,
  "error": "wall time limit of 2s reached",
  "error_type": "timeout",
  "exception": null,
  "exit_code": null,
  "signal": "SIGKILL",
  "stdout": "<tick> & tock",
  "stderr": "",
  "stdout_bytes": 1537,
  "stderr_bytes": 0,
  "stdout_truncated": true,
  "stderr_truncated": false,
  "variables": {
    "x": 42
  },
  "usage": {
    "wall_time_ms": 2001.235,
    "cpu_time_ms": 1980,
    "memory_bytes": 32505857,
    "output_bytes": 1537,
    "result_bytes": 0,
    "fuel": 0
  },
  "violations": [
    {
      "wall": "seccomp",
      "op": "socket",
      "detail": "AF_INET, SOCK_STREAM",
      "line": 3,
      "count": 1,
      "hint": "no network"
    }
  ],
  "traffic": [],
  "modules": [],
  "enforcement": {
    "tier": "process",
    "jail": null,
    "walls": {
      "seccomp": {
        "state": "enforced"
      }
    },
    "third_party": null,
    "violations_observed": true
  }
}
`},
		{"bare", Result{Status: StatusOK, Outcome: Succeeded, Value: json.RawMessage{}, ExitCode: new(0), Variables: map[string]json.RawMessage{"x": nil}}, `{
  "v": 1,
  "status": "ok",
  "outcome": "succeeded",
  "result": null,
  "error": null,
  "error_type": null,
  "exception": null,
  "exit_code": 0,
  "signal": null,
  "stdout": "",
  "stderr": "",
  "stdout_bytes": 0,
  "stderr_bytes": 0,
  "stdout_truncated": false,
  "stderr_truncated": false,
  "variables": {
    "x": null
  },
  "usage": {
    "wall_time_ms": 0,
    "cpu_time_ms": 0,
    "memory_bytes": 0,
    "output_bytes": 0,
    "result_bytes": 0,
    "fuel": 0
  },
  "violations": [],
  "traffic": [],
  "modules": [],
  "enforcement": {
    "tier": "",
    "jail": null,
    "walls": {},
    "third_party": null,
    "violations_observed": false
  }
}
`},
		{"command", Result{
			Status: StatusOK, Outcome: Succeeded, ExitCode: new(0),
			Traffic:     []Traffic{{Host: "a.example", Port: 443, Connections: 2, Sent: 1536, Received: policy.MiB}, {Host: "b.example", Port: 80, Module: "requests.api"}},
			Modules:     []ModuleUse{{Module: "pandas.io", Files: []string{"/data/a"}, Omitted: 3, Threads: 1}, {Module: "numpy"}},
			Enforcement: Enforcement{Tier: policy.TierJail, Jail: policy.JailNative},
		}, `{
  "v": 1,
  "status": "ok",
  "outcome": "succeeded",
  "result": null,
  "error": null,
  "error_type": null,
  "exception": null,
  "exit_code": 0,
  "signal": null,
  "stdout": "",
  "stderr": "",
  "stdout_bytes": 0,
  "stderr_bytes": 0,
  "stdout_truncated": false,
  "stderr_truncated": false,
  "variables": {},
  "usage": {
    "wall_time_ms": 0,
    "cpu_time_ms": 0,
    "memory_bytes": 0,
    "output_bytes": 0,
    "result_bytes": 0,
    "fuel": 0
  },
  "violations": [],
  "traffic": [
    {
      "host": "a.example",
      "port": 443,
      "connections": 2,
      "sent_bytes": 1536,
      "received_bytes": 1048576
    },
    {
      "host": "b.example",
      "port": 80,
      "module": "requests.api",
      "connections": 0,
      "sent_bytes": 0,
      "received_bytes": 0
    }
  ],
  "modules": [
    {
      "module": "pandas.io",
      "files": [
        "/data/a"
      ],
      "files_omitted": 3,
      "threads": 1
    },
    {
      "module": "numpy"
    }
  ],
  "enforcement": {
    "tier": "jail",
    "jail": "native",
    "walls": {},
    "third_party": null,
    "violations_observed": false
  }
}
`},
	} {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(tt.result); err != nil {
			t.Fatal(err)
		}
		if b.String() != tt.want {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.name, &b, tt.want)
		}
	}
	if text, _ := json.Marshal(Result{}); !bytes.Contains(text, []byte(`"variables":{}`)) || !bytes.Contains(text, []byte(`"violations":[]`)) {
		t.Errorf("the zero Result is %s", text)
	}
	if text, _ := json.Marshal(timedOut()); !bytes.Contains(text, []byte(`\u003ctick\u003e`)) {
		t.Errorf("the caller's choice to escape is lost: %s", text)
	}
}

// A client in Go can parse the JSON of the service.
func TestResultRoundTrip(t *testing.T) {
	want := timedOut()
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Result
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	want.Value, want.Traffic, want.Modules = json.RawMessage("null"), []Traffic{}, []ModuleUse{}
	want.Usage.WallTime = 2001235 * time.Microsecond // JSON has no nanoseconds
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestResultDecode(t *testing.T) {
	var n int
	if err := (Result{Value: json.RawMessage("42")}).Decode(&n); err != nil || n != 42 {
		t.Errorf("%d, %v", n, err)
	}
	var v any = "before"
	if err := (Result{}).Decode(&v); err != nil || v != nil {
		t.Errorf("no value decodes to %v, %v", v, err)
	}
	if (Result{Outcome: Raised}).OK() || !(Result{Outcome: Succeeded}).OK() {
		t.Error("OK is not success alone")
	}
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

func TestEveryClassHasASentinel(t *testing.T) {
	sentinels := []error{ErrInvalid, ErrForbidden, ErrUnknown, ErrGone, ErrUnsupported, ErrNotExecutable, ErrNotFound, ErrBusy, ErrClosed, ErrInternal}
	if len(sentinels) != len(Classes()) {
		t.Fatalf("%d sentinels for %d classes", len(sentinels), len(Classes()))
	}
	for i, class := range Classes() {
		err := Errorf(class, "words")
		for j, sentinel := range sentinels {
			if errors.Is(err, sentinel) != (i == j) {
				t.Errorf("errors.Is(%s, %s) is %v", class, sentinel, !(i == j))
			}
		}
	}
}
