package cordon_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// completes checks what the end of a line becomes.
func completes(t *testing.T, s *cordon.Session, line string, want ...string) {
	t.Helper()
	if got, err := s.Complete(t.Context(), line); err != nil || !slices.Equal(got, want) {
		t.Errorf("%q: %q %v, want %q", line, got, err, want)
	}
}

// completesAnySession is what sessions of all tiers complete.
func completesAnySession(t *testing.T, s *cordon.Session) {
	t.Helper()
	gives(t, s, "import sys\nseparate = 'x'\n_hidden = 1\nresult = 1", "1")
	completes(t, s, "x = separ", "separate")
	completes(t, s, "_hid", "_hidden")
	completes(t, s, "print(separate.starts", "startswith")
	completes(t, s, "whi", "while")
	completes(t, s, "isinst", "isinstance")
	completes(t, s, "sys.platli", "platlibdir")
	completes(t, s, "import keywo", "keyword")
	completes(t, s, "nothing.x")
	completes(t, s, "nothing_begins_so")
	if names, err := s.Complete(t.Context(), ""); err != nil || len(names) < 100 || slices.Contains(names, "_hidden") {
		t.Errorf("of an empty line: %d names, %v", len(names), err)
	}
	res := gives(t, s, "result = separate", `"x"`)
	if res.Step.Number != 2 {
		t.Errorf("completions are counted as steps: %d", res.Step.Number)
	}
	if _, err := s.Complete(t.Context(), strings.Repeat("x", run.MaxScript+1)); !errors.Is(err, run.ErrInvalid) {
		t.Errorf("a line that is too long: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Complete(t.Context(), "x"); !errors.Is(err, run.ErrGone) {
		t.Errorf("in a closed session: %v", err)
	}
}

func TestCompleteInWasm(t *testing.T) {
	r := moduleRunner(t, withBundledPython(t, policy.Policy{}))
	completesAnySession(t, openSession(t, r, run.SessionOptions{Tier: policy.TierWasm}))
	// A step cannot be interrupted there, so no method of a guest is called.
	s := openSession(t, r, run.SessionOptions{Tier: policy.TierWasm})
	gives(t, s, endlessObject, "1")
	completes(t, s, "endless.x")
	completes(t, s, "endless.x.y")
	gives(t, s, "result = 2", "2")
}

// endlessObject never says which attributes it has.
const endlessObject = `
class Endless:
    def __dir__(self):
        while True: pass
    def __getattr__(self, name):
        while True: pass
endless = Endless()
result = 1
`
