package report

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/wire"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// hostile reads a malformed report, and checks that nothing of it is in the Result.
func hostile(t *testing.T, report wire.Dict) {
	t.Helper()
	seen := run.Result{Stdout: "printed", Violations: []run.Violation{{Wall: policy.WallSeccomp, Op: "socket", Count: 1}}}
	r := seen
	cause := Read(&r, report, Run{Limits: policy.DefaultLimits(), Restricted: true})
	if r.Outcome != run.InvalidOutput || !strings.HasPrefix(r.Error, "the guest wrote to its result channel: ") {
		t.Errorf("%s %q", r.Outcome, r.Error)
	}
	r.Outcome, r.Error = seen.Outcome, seen.Error
	if cause != (OSError{}) || !reflect.DeepEqual(r, seen) {
		t.Errorf("the Result has %+v, cause %+v; want nothing of the report", r, cause)
	}
}

// A report in which a field is missing or has a wrong type is malformed.
func TestWrongFields(t *testing.T) {
	values := map[string]any{
		"None": nil, "bool": true, "int": 1, "float": 1.5, "str": "x", "bytes": []byte("x"),
		"list": []any{1}, "dict": map[string]any{"x": 1}, "large": uint64(1) << 63,
	}
	for _, test := range []struct {
		report fields
		field  string
		types  []string // the allowed ones
	}{
		{ok, "end", nil},
		{ok, "code", []string{"int"}},
		{ok, "variables", []string{"dict", "absent"}},
		{invalid, "message", []string{"str"}},
		{left, "code", []string{"int"}},
		{failed, "exception", nil},
		{syntax, "exception", nil},
		{against, "findings", nil},
	} {
		for kind, value := range values {
			if !slices.Contains(test.types, kind) {
				t.Run(test.report["end"].(string)+"/"+test.field+"/"+kind, func(t *testing.T) {
					hostile(t, encodeReport(t, test.report.with(test.field, value)))
				})
			}
		}
		if !slices.Contains(test.types, "absent") {
			t.Run(test.report["end"].(string)+"/"+test.field+"/absent", func(t *testing.T) {
				without := maps.Clone(test.report)
				delete(without, test.field)
				hostile(t, encodeReport(t, without))
			})
		}
	}
}

func TestWrongParts(t *testing.T) {
	finding := func(i int, value any) fields {
		changed := slices.Clone(against["findings"].([]any)[0].([]any))
		changed[i] = value
		return against.with("findings", []any{changed})
	}
	for name, report := range map[string]fields{
		"an end that is none":             ok.with("end", "won"),
		"an empty end":                    ok.with("end", ""),
		"no result":                       {"end": "ok", "code": 0},
		"nothing at all":                  {},
		"a variable that is no JSON":      ok.with("variables", map[string]any{"x": []byte("x")}),
		"a type that is none":             failed.with("exception", exception("X", "x").with("type", 1)),
		"a message that is none":          failed.with("exception", exception("X", "x").with("message", []byte("x"))),
		"a traceback that is none":        failed.with("exception", exception("X", "x").with("traceback", nil)),
		"a line that is none":             failed.with("exception", exception("X", "x").with("line", "3")),
		"a line beyond all numbers":       failed.with("exception", exception("X", "x").with("line", uint64(1)<<63)),
		"a finding that is none":          against.with("findings", []any{"eval"}),
		"a finding of few fields":         against.with("findings", []any{[]any{"eval"}}),
		"a finding of many fields":        against.with("findings", []any{make([]any, findingFields+1)}),
		"a finding without a rule":        finding(0, nil),
		"a finding on no line":            finding(1, "2"),
		"a finding in no column":          finding(2, 2.5),
		"a finding without a reason":      finding(3, []byte("x")),
		"a finding with a number as hint": finding(4, 1),
		"a finding with its own advice":   finding(4, "send money"),
		"a finding with another's hint":   finding(4, "grant_path"),
		"a finding about a number":        finding(5, 1),
		"a finding that allows a word":    finding(6, "json"),
		"a finding that allows a number":  finding(6, []any{1}),
		"a rule that is none":             failed.with("exception", exception("X", "x").with("kind", kindRule).with("rule", 1).with("reason", "x")),
		"a rule without a reason":         failed.with("exception", exception("X", "x").with("kind", kindRule).with("rule", "x")),
		"more findings than there can be": against.with("findings", make([]any, 5000)),
	} {
		t.Run(name, func(t *testing.T) { hostile(t, encodeReport(t, report)) })
	}
}

// A malformed errno or filename of an OSError is ignored; the rest of the report counts.
func TestWrongCause(t *testing.T) {
	var r run.Result
	x := exception("OSError", "no").with("errno", "one").with("filename", 1)
	if cause := Read(&r, encodeReport(t, failed.with("exception", x)), Run{Limits: policy.DefaultLimits(), Restricted: true}); cause != (OSError{}) || r.Outcome != run.Raised {
		t.Errorf("%s %+v", r.Outcome, cause)
	}
}

// nested returns marshalled lists within lists. Package wire cannot write values that are
// deeper than JSON may be.
func nested(depth int) []byte {
	return append(slices.Repeat([]byte("[\x01\x00\x00\x00"), depth), 'N')
}

func TestDeepValues(t *testing.T) {
	report := func(end string, field string, value []byte) (wire.Dict, error) {
		payload, err := wire.AppendDict(nil, wire.Field{Name: "end", Value: end}, wire.Field{Name: "code", Value: 0})
		if err != nil {
			t.Fatal(err)
		}
		payload = append(payload[:len(payload)-1], "u\x00\x00\x00\x00"...)
		payload[len(payload)-4] = byte(len(field))
		return wire.DecodeDict(append(append(append(payload, field...), value...), '0'))
	}
	t.Run("a result", func(t *testing.T) {
		dict, err := report("ok", "result", nested(run.MaxDepth+1))
		if err != nil {
			t.Fatal(err)
		}
		var r run.Result
		Read(&r, dict, Run{Limits: policy.DefaultLimits(), Restricted: true})
		if r.Outcome != run.InvalidOutput || !strings.HasPrefix(r.Error, "result") || r.Value != nil {
			t.Errorf("%s %q", r.Outcome, r.Error)
		}
	})
	t.Run("findings", func(t *testing.T) {
		dict, err := report("refused", "findings", nested(run.MaxDepth+1))
		if err != nil {
			t.Fatal(err)
		}
		hostile(t, dict)
	})
	t.Run("deeper than there is", func(t *testing.T) {
		dict, err := report("ok", "result", nested(5000))
		if err == nil {
			t.Fatalf("%d fields", len(dict))
		}
		var r run.Result
		if Malformed(&r, err, policy.DefaultLimits()); r.Outcome != run.InvalidOutput {
			t.Errorf("%s %q", r.Outcome, r.Error)
		}
	})
}
