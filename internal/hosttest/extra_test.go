package hosttest

import (
	"fmt"
	"strings"
	"testing"
)

// The mode decides about tests that need an extra: none skips them, all requires them.
func TestFindExtra(t *testing.T) {
	for _, test := range []struct {
		mode, setUp string
		path, err   string
	}{
		{"", "", "", ""},
		{"", "/prefix", "/prefix", ""},
		{"none", "/prefix", "", ""},
		{"none", "", "", ""},
		{"all", "/prefix", "/prefix", ""},
		{"all", "", "", "Wine is not set up: run scripts/setup test-all"},
	} {
		t.Setenv(extrasVariable, test.mode)
		t.Setenv("CORDON_TEST_WINE", test.setUp)
		path, err := FindExtra(Wine)
		if path != test.path || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%q, set up at %q: %q, %v", test.mode, test.setUp, path, err)
		}
	}
}

// recorder keeps the reason of a skip. A real skip would be counted by scripts/testreport.
type recorder struct {
	testing.TB
	reason string
}

func (r *recorder) Skip(args ...any) { r.reason = fmt.Sprint(args...) }

// The reason of a skip names the command that runs the test. scripts/testreport counts these
// reasons.
func TestNeedsExtraNamesTheCommand(t *testing.T) {
	t.Setenv(extrasVariable, "none")
	r := &recorder{TB: t}
	NeedsExtra(r, OtherPythons)
	if !strings.HasSuffix(r.reason, LeftToTestAll) {
		t.Errorf("the reason is %q", r.reason)
	}
}
