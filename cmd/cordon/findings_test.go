package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cordon-sandbox/cordon/run"
)

func TestShowFindings(t *testing.T) {
	for _, tt := range []struct {
		name     string
		findings []run.Finding
		want     []string
	}{
		{"none", nil, nil},
		{
			"a hint", []run.Finding{{Rule: "dunder-attribute", Line: 3, Column: 8, Reason: "no", Hint: "write type(x)"}},
			[]string{"a.py:3:8: dunder-attribute: no", "    write type(x)"},
		},
		{"no hint", []run.Finding{{Rule: "inner-attribute", Line: 3, Column: 8, Reason: "no"}}, []string{"a.py:3:8: inner-attribute: no"}},
		{"no column", []run.Finding{{Rule: "syntax", Line: 3, Reason: "no"}}, []string{"a.py:3: syntax: no"}},
		{"no place", []run.Finding{{Rule: "syntax", Reason: "no"}}, []string{"a.py: syntax: no"}},
		{
			"the modules come once", []run.Finding{
				{Rule: "import-not-allowed", Line: 1, Column: 1, Reason: "os", Hint: "take the data from the input", Allowed: []string{"json", "math"}},
				{Rule: "import-not-allowed", Line: 2, Column: 1, Reason: "heap", Allowed: []string{"json", "math"}},
				{Rule: "metaclass", Line: 3, Column: 1, Reason: "no", Hint: "use a decorator"},
			},
			[]string{
				"a.py:1:1: import-not-allowed: os", "    take the data from the input", "a.py:2:1: import-not-allowed: heap",
				"a.py:3:1: metaclass: no", "    use a decorator", "imports allowed here: json, math",
			},
		},
		{
			"words in cordon's name", []run.Finding{{Rule: "syntax", Line: 1, Column: 1, Reason: "a\ncordon: all is well\x1b[2J"}},
			[]string{`a.py:1:1: syntax: a\ncordon: all is well\x1b[2J`},
		},
	} {
		if diff := cmp.Diff(tt.want, showFindings("a.py", tt.findings)); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

func TestReportWithoutFindingsIsNotNull(t *testing.T) {
	text, err := json.Marshal(newReport(nil))
	if err != nil || string(text) != `{"ok":true,"findings":[]}` {
		t.Errorf("%s, %v", text, err)
	}
}

func TestHookResultAddsOneKey(t *testing.T) {
	for value, want := range map[string]string{`{"a":"<&>"}`: `,"output":{"a":"<&>"}}`, "": `,"output":null}`} {
		res := run.Result{Outcome: run.Succeeded, Value: json.RawMessage(value)}
		plain, err := res.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		text, err := hookResult{res}.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if got := string(text); got != strings.TrimSuffix(string(plain), "}")+want {
			t.Errorf("%q: %s", value, got)
		}
		if !json.Valid(text) {
			t.Errorf("%q: not JSON: %s", value, text)
		}
	}
}
