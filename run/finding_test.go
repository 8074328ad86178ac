package run

import (
	"reflect"
	"testing"

	"github.com/cordon-sandbox/cordon/policy"
)

func TestFindingsAndViolations(t *testing.T) {
	for _, f := range []Finding{
		{Rule: "dunder-attribute", Line: 3, Column: 8, Reason: "no", Hint: "write type(x)"},
		{Rule: "inner-attribute", Line: 3, Column: 8, Reason: "no"},
		{Rule: "import-not-allowed", Line: 1, Column: 8, Reason: "os", Allowed: []string{"json", "math"}},
		{Rule: "import-not-allowed", Line: 1, Column: 8, Reason: "os", Hint: "take it from the input", Allowed: []string{"json"}},
	} {
		v := f.Violation()
		if got, ok := FindingOf(v); !ok || !reflect.DeepEqual(got, f) || v.Wall != policy.WallLanguage || v.Count != 1 {
			t.Errorf("%+v is shown as %+v and read as %+v", f, v, got)
		}
	}
	if _, ok := FindingOf(Violation{Wall: policy.WallSeccomp}); ok {
		t.Error("a system call is no finding")
	}
}

func TestDescribeFindings(t *testing.T) {
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
