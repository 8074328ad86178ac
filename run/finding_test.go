package run

import "testing"

func TestRefusalListsFindings(t *testing.T) {
	got := (&Refusal{[]Finding{
		{Rule: "import-not-allowed", Line: 1, Column: 8, Reason: "os", Hint: "take it from the input", Allowed: []string{"json", "math"}},
		{Rule: "import-not-allowed", Line: 2, Column: 8, Reason: "sys", Allowed: []string{"json", "math"}},
		{Rule: "more-findings", Reason: "9 more"},
	}}).Error()
	want := "1:8: import-not-allowed: os; take it from the input\n2:8: import-not-allowed: sys\nmore-findings: 9 more\nallowed here: json, math"
	if got != want {
		t.Errorf("%s", got)
	}
}
