package jsonform

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func TestParseObject(t *testing.T) {
	var hook run.HookSpec
	if err := ParseObject([]byte(`{"script": "pass", "limits": {"wall_time": "2s"}, "workers": 3}`), &hook); err != nil || hook.Script != "pass" || hook.Limits.WallTime == 0 || hook.Workers != 3 {
		t.Errorf("%+v, %v", hook, err)
	}
	var call struct {
		Args []any `json:"args"`
	}
	for _, test := range []struct {
		name, text, words string
		into              any
	}{
		{"unknown", `{"script": "pass", "scirpt": ""}`, `scirpt: unknown field`, new(run.HookSpec)},
		{"twice", `{"script": "a", "script": "b"}`, `script: is there twice`, new(run.Check)},
		{"another case", `{"SCRIPT": "a"}`, `SCRIPT: unknown field`, new(run.Check)},
		{"of the wrong kind", `{"args": {}}`, `args: expected a list, got a JSON object`, &call},
		{"no object", `[]`, "expected a JSON object", &call},
		{"two objects", `{} {}`, "more data after the JSON object", &call},
	} {
		if err := ParseObject([]byte(test.text), test.into); err == nil || run.ClassOf(err) != run.Invalid || !strings.Contains(err.Error(), test.words) {
			t.Errorf("%s: %v, want %q", test.name, err, test.words)
		}
	}
}

const fullRequest = `{"id":"r1","script":"result = context['a'] + 1","name":"add.py","context":{"a":41},"stdin":"in",` +
	`"variables":["x"],"tier":"process","trust":"user","limits":{"wall_time_ms":2000,"memory_bytes":134217728,"open_files":32},"on_output_limit":"kill"}`

func TestParseRequest(t *testing.T) {
	want := run.Request{
		ID: "r1", Script: run.Script{Source: "result = context['a'] + 1", Name: "add.py", Context: json.RawMessage(`{"a":41}`), Variables: []string{"x"}},
		Stdin: "in", Tier: policy.TierProcess, Trust: policy.TrustUser,
		Limits:        policy.Limits{WallTime: 2 * time.Second, Memory: 128 * policy.MiB, OpenFiles: 32},
		OnOutputLimit: policy.OutputKill,
	}
	got, err := ParseRequest([]byte(fullRequest))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("got  %+v, %v\nwant %+v", got, err, want)
	}
	var flat Request
	if err := ParseObject([]byte(fullRequest), &flat); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(flat)
	if err != nil || string(text) != fullRequest {
		t.Errorf("written again: %s, %v\nwant           %s", text, err, fullRequest)
	}
	if text, _ := json.Marshal(Request{Script: "pass"}); string(text) != `{"script":"pass"}` {
		t.Errorf("a small request is written as %s", text)
	}
}

func TestParseRequestAccepts(t *testing.T) {
	for _, text := range []string{
		"{}", " \n{\"script\": \"pass\"}\n ", "\ufeff{\"script\": \"pass\"}",
		`{"limits": null, "context": null, "variables": null, "tier": null}`,
		`{"limits": {"memory": null}}`, `{"limits": {}}`,
		`{"context": {"SCRIPT": 1, "script": 2}}`, // the guest chooses the fields of a context
	} {
		if _, err := ParseRequest([]byte(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestParseRequestRefuses(t *testing.T) {
	brackets := strings.Repeat("[", 100_000)
	for _, tt := range []struct{ name, in, words string }{
		{"empty", "", "request: empty: expected a JSON object"},
		{"blank", " \n", "request: empty: expected a JSON object"},
		{"null", "null", "expected a JSON object, got a JSON null"},
		{"array", "[]", "expected a JSON object, got a JSON array"},
		{"string", `"pass"`, "expected a JSON object, got a JSON string"},
		{"number", "1", "expected a JSON object, got a JSON number"},
		{"unknown", `{"scirpt": "x"}`, `scirpt: unknown field: the fields are id, script, `},
		{"other case", `{"SCRIPT": "x"}`, `SCRIPT: unknown field`},
		{"streams", `{"Streams": {}}`, `Streams: unknown field`},
		{"dash", `{"-": {}}`, `-: unknown field`},
		{"no name", `{"": {}}`, `: unknown field`},
		{"twice", `{"script": "a", "script": "b"}`, `script: is there twice`},
		{"escaped twice", `{"script": "a", "scr\u0069pt": "b"}`, `script: is there twice`},
		{"type", `{"script": 5}`, `script: expected a string, got a JSON number`},
		{"list", `{"variables": "x"}`, `variables: expected a list of strings, got a JSON string`},
		{"list item", `{"variables": [1]}`, `variables: expected a list of strings, got a JSON number`},
		{"tier", `{"tier": []}`, `tier: expected a string, got a JSON array`},
		{"limits", `{"limits": "2s"}`, `limits: expected an object, got a JSON string`},
		{"limits list", `{"limits": [1]}`, `limits: expected an object, got a JSON array`},
		{"limit unknown", `{"limits": {"ram": "1GiB"}}`, `limits.ram: unknown field: the fields of limits are wall_time, `},
		{"limit twice", `{"limits": {"memory": "1GiB", "memory": "2GiB"}}`, `limits.memory: is there twice`},
		{"bare time", `{"limits": {"wall_time": 2}}`, `limits.wall_time: "2" has no unit: write 2s, 2ms or 2m, or use the key wall_time_ms for a number`},
		{"bare size", `{"limits": {"memory": 256}}`, `limits.memory: "256" has no unit: write 256B, 256KiB, 256MiB`},
		{"exponent", `{"limits": {"memory": 1e9}}`, `limits.memory: `},
		{"text as a number", `{"limits": {"memory_bytes": "1GiB"}}`, `limits.memory_bytes: expected a number, got a JSON string`},
		{"number too large", `{"limits": {"wall_time_ms": 1e300}}`, `limits.wall_time_ms: "1e300" is not a number in range`},
		{"less than a byte", `{"limits": {"memory_bytes": 0.5}}`, `limits.memory_bytes: "0.5" is not a number in range`},
		{"both forms", `{"limits": {"memory": "1GiB", "memory_bytes": 1}}`, `limits.memory_bytes: is the same limit as limits.memory: leave one out`},
		{"text number", `{"limits": {"wall_time": "2"}}`, `limits.wall_time: "2" has no unit: write 2s`},
		{"bad unit", `{"limits": {"memory": "1TiB"}}`, `limits.memory: "1TiB" has an unknown unit "TiB"`},
		{"limit kind", `{"limits": {"memory": ["1GiB"]}}`, `limits.memory: expected text with a unit, got a JSON array`},
		{"count text", `{"limits": {"threads": "4"}}`, `limits.threads: expected a whole number, got a JSON string`},
		{"count fraction", `{"limits": {"threads": 1.5}}`, `limits.threads: expected a whole number, got a JSON number 1.5`},
		{"trailing", `{"script": "x"} {}`, "more data after the JSON object (at byte "},
		{"trailing rubbish", `{"script": "x"}]`, "more data after the JSON object (at byte 16)"},
		{"cut", `{"script": "x`, "the JSON ends too early"},
		{"cut object", `{"script": "x",`, "the JSON ends too early"},
		{"not JSON", `{script: "x"}`, "not valid JSON at byte 2: "},
		{"comma", `{"script": "x",}`, "not valid JSON at byte 16: "},
		{"late rubbish", `{"script": "x", "context": {"a": nope}}`, "not valid JSON at byte 35: "},
		{"raw NUL", "{\"script\": \"a\x00b\"}", "not valid JSON at byte 14: "},
		{"UTF-8", "{\"script\": \"\xff\"}", "not valid UTF-8 (first bad byte at offset 12)"},
		{"UTF-16", "\xff\xfe{\x00}\x00", "not valid UTF-8 (first bad byte at offset 0)"},
		{"deep", `{"context": ` + brackets + strings.Repeat("]", 100_000) + "}", "nested too deeply at byte "},
		{"deep, cut", `{"context": ` + brackets, "nested too deeply at byte "},
		{"deep at the top", brackets, ""},
		{"long name", `{"` + strings.Repeat("x", 1<<20) + `": 1}`, `xxx…: unknown field`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ParseRequest([]byte(tt.in))
			if err == nil || !strings.Contains(err.Error(), tt.words) {
				t.Fatalf("error %v; want %q", err, tt.words)
			}
			if !errors.Is(err, run.ErrInvalid) || len(err.Error()) > 500 {
				t.Errorf("class %s, %d bytes of words", run.ClassOf(err), len(err.Error()))
			}
		})
	}
	if _, err := ParseRequest(bytes.Repeat([]byte(" "), run.MaxPayload+1)); err == nil || !strings.Contains(err.Error(), "above the maximum of 67108864") {
		t.Errorf("huge: %v", err)
	}
}

func FuzzParseRequest(f *testing.F) {
	f.Add([]byte(fullRequest))
	f.Add([]byte(`{"limits": {"wall_time": 2}}`))
	f.Add([]byte(`{"context": [[{}]]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var req, again Request
		if err := ParseObject(data, &req); err != nil {
			if run.ClassOf(err) != run.Invalid {
				t.Errorf("class %s", run.ClassOf(err))
			}
			return
		}
		if !json.Valid(bytes.TrimPrefix(data, []byte("\ufeff"))) {
			t.Errorf("%q is not JSON", data)
		}
		text, err := json.Marshal(req)
		if err != nil {
			t.Fatal(err)
		}
		// Not the same bytes, but the same request when it is parsed again.
		if err := ParseObject(text, &again); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if len(req.Variables) == 0 {
			req.Variables = nil
		}
		if len(req.Command) == 0 {
			req.Command = nil
		}
		if len(req.Env) == 0 {
			req.Env = nil
		}
		if !reflect.DeepEqual(again, req) {
			t.Errorf("%+v is written and read as %+v", req, again)
		}
	})
}

func TestParseCommand(t *testing.T) {
	r, err := ParseRequest([]byte(`{"command": ["ls", "-l"], "workspace": "/w", "workspace_read_only": true, "env": {"A": "b"}, "limits": {"processes": 3, "disk": "1MiB"}}`))
	c := r.Command
	if err != nil || len(c.Args) != 2 || c.Workspace != "/w" || !c.WorkspaceReadOnly || c.Env["A"] != "b" || r.Limits.Processes != 3 || r.Limits.Disk != 1<<20 {
		t.Errorf("%+v, %v", r, err)
	}
}

// A request can set each limit, and it is parsed according to the table.
func TestRequestsReadEveryLimit(t *testing.T) {
	for _, row := range policy.LimitTable() {
		text := row.Text(row.Default)
		if row.Kind != policy.KindNumber {
			text = strconv.Quote(text)
		}
		req, err := ParseRequest([]byte(`{"script": "1", "limits": {"` + row.Key + `": ` + text + `}}`))
		if err != nil || row.Of(req.Limits) != row.Default {
			t.Errorf("%s: %d, %v", row.Key, row.Of(req.Limits), err)
		}
	}
}

// A limit can be a number, under the same key as in answers.
func TestParseLimitsAsNumbers(t *testing.T) {
	r, err := ParseRequest([]byte(`{"script": "", "limits": {"wall_time_ms": 1500.5, "memory_bytes": 9007199254740993, "threads": 2, "fuel": 50}}`))
	want := policy.Limits{WallTime: 1500*time.Millisecond + 500*time.Microsecond, Memory: 9007199254740993, Threads: 2, Fuel: 50}
	if err != nil || r.Limits != want {
		t.Errorf("%+v, %v; want %+v", r.Limits, err, want)
	}
}

func TestFieldOf(t *testing.T) {
	_, err := ParseRequest([]byte(`{"limits": {"memory": 64}}`))
	if got := FieldOf(err); got != "limits.memory" {
		t.Errorf("%q of %v", got, err)
	}
	if got := FieldOf(run.Request{}.Validate()); got != "script" {
		t.Errorf("%q of an empty request", got)
	}
	if got := FieldOf(run.Errorf(run.Busy, "full")); got != "" {
		t.Errorf("%q of a full queue", got)
	}
}
