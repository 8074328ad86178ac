package cordon_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// bundled returns p with the Python that scripts/python-wasm builds.
func bundled(t *testing.T, p policy.Policy) policy.Policy {
	t.Helper()
	if testing.Short() {
		t.Skip("to load CPython takes the race detector seconds")
	}
	p.PythonWasm = hosttest.NeedsExtra(t, hosttest.PythonWasm)
	return p
}

func TestSessions(t *testing.T) {
	r := moduleRunner(t, bundled(t, policy.Policy{}))
	s, err := r.OpenSession(t.Context(), run.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	gives := func(script, want string) {
		t.Helper()
		res, err := s.Run(t.Context(), run.Request{ID: "mine", Script: run.Script{Source: script}})
		if err != nil || string(res.Value) != want || res.ID != "mine" {
			t.Errorf("%s: %s %s %v, want %s", script, res.Value, res.Error, err, want)
		}
	}
	gives("x = 20\nresult = x", "20")
	var saved bytes.Buffer
	if err := s.Save(&saved); err != nil {
		t.Fatal(err)
	}
	gives("x += 1\nresult = x", "21")
	if s, err = s.Fork(); err != nil {
		t.Fatal(err)
	}
	gives("x *= 2\nresult = x", "42")
	if s, err = r.LoadSession(t.Context(), &saved); err != nil {
		t.Fatal(err)
	}
	gives("result = x", "20")
	for name, req := range map[string]run.Request{
		"a command":    {Command: run.Command{Args: []string{"ls"}}},
		"nothing":      {},
		"another tier": {Script: run.Script{Source: "pass"}, Tier: policy.TierProcess},
		"fuel":         {Script: run.Script{Source: "pass"}, Limits: policy.Limits{Fuel: 1}},
	} {
		if _, err := s.Run(t.Context(), req); run.ClassOf(err) != run.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := r.OpenSession(t.Context(), run.SessionOptions{Trust: policy.TrustThirdParty}); run.ClassOf(err) != run.Invalid {
		t.Errorf("third party: %v", err)
	}
}

// Under a policy that requires the language rules, every session has them, and a
// session that was saved without them cannot be loaded.
func TestRequiredLanguageRulesHoldInSessions(t *testing.T) {
	free := moduleRunner(t, bundled(t, policy.Policy{}))
	s, err := free.OpenSession(t.Context(), run.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var saved bytes.Buffer
	if err := s.Save(&saved); err != nil {
		t.Fatal(err)
	}
	ruled := moduleRunner(t, bundled(t, policy.Policy{Require: []policy.Wall{policy.WallLanguage}}))
	if s, err = ruled.OpenSession(t.Context(), run.SessionOptions{}); err != nil {
		t.Fatal(err)
	}
	if res, err := s.Run(t.Context(), run.Request{Script: run.Script{Source: "import os"}}); err != nil || res.Outcome != run.Refused {
		t.Errorf("%v %s", err, res.Outcome)
	}
	if _, err := ruled.LoadSession(t.Context(), &saved); run.ClassOf(err) != run.Invalid || !strings.Contains(err.Error(), "made without") {
		t.Errorf("%v", err)
	}
}
