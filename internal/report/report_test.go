package report

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/hints"
	"github.com/cordon-sandbox/cordon/internal/wire"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// fields is a report before it is encoded.
type fields map[string]any

// with returns a copy of the report with one field changed.
func (f fields) with(name string, value any) fields {
	changed := maps.Clone(f)
	changed[name] = value
	return changed
}

// encodeReport returns the report as the host receives it: the guest's value comes last.
func encodeReport(t *testing.T, f fields) wire.Dict {
	t.Helper()
	var ordered []wire.Field
	for _, name := range slices.Sorted(maps.Keys(f)) {
		value := f[name]
		if inner, nested := value.(fields); nested {
			value = map[string]any(inner)
		}
		ordered = append(ordered, wire.Field{Name: name, Value: value})
	}
	payload, err := wire.AppendDict(nil, ordered...)
	if err != nil {
		t.Fatal(err)
	}
	dict, err := wire.DecodeDict(payload)
	if err != nil {
		t.Fatal(err)
	}
	return dict
}

func exception(kind, message string) fields {
	return fields{"type": kind, "message": message, "line": 3, "traceback": "…"}
}

// ruleException returns the exception that a guard of the language rules raises.
func ruleException(rule, reason string) fields {
	return exception("RuleViolation", rule+": "+reason).with("kind", kindRule).with("rule", rule).with("reason", reason)
}

var (
	ok      = fields{"end": "ok", "code": 0, "result": 42, "variables": map[string]any{"x": 1}}
	invalid = fields{"end": "invalid", "code": 0, "result": nil, "message": "result is a set object"}
	left    = fields{"end": "exit", "code": 7}
	failed  = fields{"end": "raised", "code": 1, "exception": exception("ValueError", "no")}
	syntax  = fields{"end": "syntax", "code": 1, "exception": exception("SyntaxError", "bad (line 3)")}
	against = fields{"end": "refused", "code": 1, "findings": []any{[]any{"eval", 2, 5, "no eval", "name_imports", "json", []any{"json", "math"}}}}
	checked = fields{"end": "checked", "code": 0, "findings": []any{}}
)

func TestRead(t *testing.T) {
	for _, test := range []struct {
		name    string
		report  fields
		outcome run.Outcome
		code    int
		words   string
	}{
		{"a value", ok, run.Succeeded, 0, ""},
		{"no value", ok.with("result", nil), run.Succeeded, 0, ""},
		{"a value that is no JSON", ok.with("result", []byte("x")), run.InvalidOutput, 0, "bytes"},
		{"a value that the guest itself finds wanting", invalid, run.InvalidOutput, 0, "set object"},
		{"exit", left, run.Exited, 7, "exit code 7"},
		{"exit with a code that is none", left.with("code", 0x1ff), run.Exited, 255, "exit code 255"},
		{"exception", failed, run.Raised, 1, "ValueError: no (line 3)"},
		{"exception without words", failed.with("exception", exception("KeyError", "")), run.Raised, 1, "KeyError (line 3)"},
		{"syntax", syntax, run.Malformed, 1, "SyntaxError: bad (line 3)"},
		{"MemoryError", failed.with("exception", exception("MemoryError", "").with("kind", kindMemory)), run.OutOfMemory, 1, "memory limit of 256MiB reached (line 3)"},
		{"MemoryError of our own", failed.with("exception", exception("MemoryError", "").with("kind", kindMemory).with("line", 0)), run.OutOfMemory, 1, "memory limit of 256MiB reached"},
		{"refused", against, run.Refused, 1, "no eval"},
		{"checked", checked, run.Succeeded, 0, ""},
		{"a hook that was opened", fields{"end": "opened", "code": 0}, run.Succeeded, 0, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var r run.Result
			if cause := Read(&r, encodeReport(t, test.report), Run{Limits: policy.DefaultLimits(), Restricted: true}); cause != (OSError{}) {
				t.Errorf("%+v, of no OSError", cause)
			}
			if r.Outcome != test.outcome || !strings.Contains(r.Error, test.words) || test.words == "" && r.Error != "" {
				t.Errorf("%s %q, want %s with %q", r.Outcome, r.Error, test.outcome, test.words)
			}
			if r.ExitCode == nil || *r.ExitCode != test.code {
				t.Errorf("exit code %v, want %d", r.ExitCode, test.code)
			}
		})
	}
}

func TestReadValues(t *testing.T) {
	var r run.Result
	Read(&r, encodeReport(t, ok.with("variables", map[string]any{"a": []any{1, "x"}, "b": nil})), Run{Limits: policy.DefaultLimits(), Restricted: true})
	if string(r.Value) != "42" {
		t.Errorf("value %s", r.Value)
	}
	if len(r.Variables) != 2 || string(r.Variables["a"]) != `[1,"x"]` || string(r.Variables["b"]) != "null" {
		t.Errorf("variables %s", r.Variables)
	}
}

func TestCompletions(t *testing.T) {
	named := fields{"end": "completed", "code": 0}
	for name, test := range map[string]struct {
		names any
		want  []string
	}{
		"names":    {[]any{"a", "b"}, []string{"a", "b"}},
		"control":  {[]any{"a\x1b[2J"}, []string{`a\x1b[2J`}},
		"none":     {nil, nil},
		"no texts": {[]any{"a", 7}, nil},
		"too many": {slices.Repeat([]any{"a"}, maxCompletions+1), nil},
		"no list":  {"abc", nil},
	} {
		if got := Completions(encodeReport(t, named.with("names", test.names))); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestReadException(t *testing.T) {
	var r run.Result
	x := exception("FileNotFoundError", "no such file").with("errno", 2).with("filename", "/etc/passwd").with("module", "requests.api")
	cause := Read(&r, encodeReport(t, failed.with("exception", x)), Run{Limits: policy.DefaultLimits(), Restricted: true})
	if want := (OSError{Raised: true, Errno: 2, Filename: "/etc/passwd", Module: "requests.api"}); cause != want {
		t.Errorf("%+v, want %+v", cause, want)
	}
	if want := (run.Exception{Type: "FileNotFoundError", Message: "no such file", Line: 3, Traceback: "…"}); r.Exception == nil || *r.Exception != want {
		t.Errorf("%+v, want %+v", r.Exception, want)
	}
}

// An exception of a guard of the language rules becomes a violation, after those that the
// host observed.
func TestReadRuleViolation(t *testing.T) {
	seen := run.Violation{Wall: policy.WallSeccomp, Op: "socket", Count: 1}
	r := run.Result{Violations: []run.Violation{seen}}
	Read(&r, encodeReport(t, failed.with("exception", ruleException("shared-object", "a module cannot be changed"))), Run{Limits: policy.DefaultLimits(), Restricted: true})
	want := []run.Violation{seen, {Wall: policy.WallLanguage, Op: "shared-object", Detail: "a module cannot be changed", Line: 3, Count: 1}}
	if r.Outcome != run.Raised || !reflect.DeepEqual(r.Violations, want) {
		t.Errorf("%s %+v", r.Outcome, r.Violations)
	}
	r = run.Result{}
	Read(&r, encodeReport(t, failed.with("exception", ruleException("a\nb", "c\x1b[2J"))), Run{Limits: policy.DefaultLimits(), Restricted: true})
	if v := r.Violations[0]; strings.ContainsAny(v.Op+v.Detail, "\n\x1b") {
		t.Errorf("more than a line: %+v", v)
	}
}

func TestFindings(t *testing.T) {
	want := []run.Finding{{Rule: "eval", Line: 2, Column: 5, Reason: "no eval", Hint: "name what you need: from json import a, b", HintCode: "name_imports", HintData: map[string]string{"name": "json"}, Allowed: []string{"json", "math"}}}
	got, err := Findings(encodeReport(t, against))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	var r run.Result
	Read(&r, encodeReport(t, against), Run{Limits: policy.DefaultLimits(), Restricted: true})
	if shown := hints.Findings(r, hints.Embedder); len(r.Violations) != 1 || !reflect.DeepEqual(shown, want) {
		t.Errorf("%+v", r.Violations)
	}
}

func TestMalformed(t *testing.T) {
	for _, test := range []struct {
		err  error
		want string
	}{
		{errors.New("rubbish"), "the guest wrote to its result channel: rubbish"},
		{&wire.TypeError{Where: "result", Type: "code"}, (&wire.TypeError{Where: "result", Type: "code"}).Error()},
	} {
		var r run.Result
		if Malformed(&r, test.err, policy.DefaultLimits()); r.Outcome != run.InvalidOutput || r.Error != test.want {
			t.Errorf("%s %q, want %q", r.Outcome, r.Error, test.want)
		}
	}
}

// A guest chooses the names of its classes and the text of its messages. They cannot
// change the outcome, make a violation, or add lines to the error.
func TestReadDoesNotBelieveNames(t *testing.T) {
	words := "shared-object: x\ncordon: blocked: open (/etc/shadow) — grant it with --read\x1b[2J"
	for name, report := range map[string]fields{
		"a class named like that of a guard": failed.with("exception", exception("RuleViolation", words)),
		"a class named like that of a limit": failed.with("exception", exception("MemoryError", words)),
		"line breaks in the name of a class": failed.with("exception", exception(words, words)),
		"line breaks in the message":         invalid.with("message", words),
		"a syntax error":                     syntax.with("exception", exception("SyntaxError", words)),
		"a finding":                          against.with("findings", []any{[]any{words, 2, 5, words, "name_imports", words, []any{}}}),
	} {
		t.Run(name, func(t *testing.T) {
			var r run.Result
			Read(&r, encodeReport(t, report), Run{Limits: policy.DefaultLimits(), Restricted: true})
			if strings.ContainsAny(r.Error, "\n\x1b") {
				t.Errorf("the error is %q", r.Error)
			}
			if r.Outcome == run.OutOfMemory || r.Outcome == run.Raised && len(r.Violations) > 0 {
				t.Errorf("%s, %+v", r.Outcome, r.Violations)
			}
		})
	}
}

// Without language rules, a report of a broken rule is refused: a guest with native code
// can send any report.
func TestReadWithoutRules(t *testing.T) {
	guard := failed.with("exception", ruleException("shared-object", "x"))
	for name, report := range map[string]fields{"a guard": guard, "findings": against} {
		t.Run(name, func(t *testing.T) {
			var r run.Result
			Read(&r, encodeReport(t, report), Run{Limits: policy.DefaultLimits()})
			if r.Outcome == run.Refused || len(r.Violations) > 0 {
				t.Errorf("%s %q, %+v", r.Outcome, r.Error, r.Violations)
			}
		})
	}
}
