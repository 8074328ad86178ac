package cordon_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// withBundledPython returns p with the Python that scripts/python-wasm builds.
func withBundledPython(t *testing.T, p policy.Policy) policy.Policy {
	t.Helper()
	hosttest.Slow(t, "loading CPython takes seconds under the race detector")
	p.PythonWasm = hosttest.NeedsExtra(t, hosttest.PythonWasm)
	return p
}

// openSession opens a session.
func openSession(t *testing.T, r *cordon.Runner, o run.SessionOptions) *cordon.Session {
	t.Helper()
	s, err := r.OpenSession(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func stepOf(source string) run.Request { return run.Request{Script: run.Script{Source: source}} }

// gives runs a step and compares its result.
func gives(t *testing.T, s *cordon.Session, source, want string) run.Result {
	t.Helper()
	res, err := s.Run(t.Context(), stepOf(source))
	if err != nil || string(res.Value) != want {
		t.Errorf("%s: %s %s %v, want %s", source, res.Value, res.Error, err, want)
	}
	return res
}

func TestSessions(t *testing.T) {
	r := moduleRunner(t, withBundledPython(t, policy.Policy{}))
	s, err := r.OpenSession(t.Context(), run.SessionOptions{Tier: policy.TierWasm})
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
	if _, err := r.OpenSession(t.Context(), run.SessionOptions{Tier: policy.TierWasm, Trust: policy.TrustThirdParty}); run.ClassOf(err) != run.Invalid {
		t.Errorf("third party: %v", err)
	}
}

// Under a policy that requires the language rules, every session has them, and a
// session that was saved without them cannot be loaded.
func TestRequiredLanguageRulesHoldInSessions(t *testing.T) {
	free := moduleRunner(t, withBundledPython(t, policy.Policy{}))
	s, err := free.OpenSession(t.Context(), run.SessionOptions{Tier: policy.TierWasm})
	if err != nil {
		t.Fatal(err)
	}
	var saved bytes.Buffer
	if err := s.Save(&saved); err != nil {
		t.Fatal(err)
	}
	ruled := moduleRunner(t, withBundledPython(t, policy.Policy{Require: []policy.Wall{policy.WallLanguage}}))
	if s, err = ruled.OpenSession(t.Context(), run.SessionOptions{Tier: policy.TierWasm}); err != nil {
		t.Fatal(err)
	}
	if res, err := s.Run(t.Context(), run.Request{Script: run.Script{Source: "import os"}}); err != nil || res.Outcome != run.Refused {
		t.Errorf("%v %s", err, res.Outcome)
	}
	if _, err := ruled.LoadSession(t.Context(), &saved); run.ClassOf(err) != run.Invalid || !strings.Contains(err.Error(), "made without") {
		t.Errorf("%v", err)
	}
}

// Sessions take turns as all else does: while a script has the only turn, no other session
// runs or begins.
func TestSessionsTakeTurns(t *testing.T) {
	r := sessionRunner(t, cordon.Options{Concurrent: 1})
	s, err := r.OpenSession(t.Context(), run.SessionOptions{Tier: policy.TierWasm})
	if err != nil {
		t.Fatal(err)
	}
	other, err := s.Fork()
	if err != nil {
		t.Fatal(err)
	}
	pass := run.Request{Script: run.Script{Source: "pass"}}
	end := occupy(t, s.Run)
	for name, try := range map[string]func(ctx context.Context) error{
		"a run in another session": func(ctx context.Context) error { _, err := other.Run(ctx, pass); return err },
		"another session": func(ctx context.Context) error {
			_, err := r.OpenSession(ctx, run.SessionOptions{Tier: policy.TierWasm})
			return err
		},
		"a saved session": func(ctx context.Context) error { _, err := r.LoadSession(ctx, nil); return err },
		"a module":        func(ctx context.Context) error { _, err := r.OpenModule(ctx, nil); return err },
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		if err := try(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
	}
	end()
}

// Scripts that wait for another one of their session have no turn, and so delay no other.
func TestWaitingInSessionDelaysNobody(t *testing.T) {
	r := sessionRunner(t, cordon.Options{Concurrent: 2, Queue: 5})
	s, err := r.OpenSession(t.Context(), run.SessionOptions{Tier: policy.TierWasm})
	if err != nil {
		t.Fatal(err)
	}
	other, err := s.Fork()
	if err != nil {
		t.Fatal(err)
	}
	pass := run.Request{Script: run.Script{Source: "pass"}}
	end := occupy(t, s.Run)
	ctx, cancel := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	for range 5 {
		waiting.Go(func() {
			if res, err := s.Run(ctx, pass); !errors.Is(err, context.Canceled) {
				t.Errorf("%s %v", res.Outcome, err)
			}
		})
	}
	for range 3 {
		if res, err := other.Run(t.Context(), pass); err != nil || !res.OK() {
			t.Errorf("%s %v", res.Error, err)
		}
	}
	cancel()
	waiting.Wait()
	end()
}

// occupy runs a script that has begun, until end is called.
func occupy(t *testing.T, do func(context.Context, run.Request) (run.Result, error)) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	begun, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		res, err := do(ctx, run.Request{Script: run.Script{Source: "print('x', flush=True)\nwhile True: pass"}, Streams: run.Streams{Out: closedByWrite(begun)}})
		if err != nil || res.Outcome != run.Canceled {
			t.Errorf("%s %s %v", res.Outcome, res.Error, err)
		}
	}()
	select {
	case <-begun:
	case <-ended:
		t.Fatal("it did not begin")
	}
	return func() {
		cancel()
		<-ended
	}
}

func sessionRunner(t *testing.T, o cordon.Options) *cordon.Runner {
	t.Helper()
	o.Tier, o.Policy = policy.TierWasm, withBundledPython(t, o.Policy)
	r, err := cordon.NewRunner(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// closedByWrite closes a channel when a guest writes.
type closedByWrite chan struct{}

func (c closedByWrite) Write(p []byte) (int, error) {
	close(c)
	return len(p), nil
}

// Runs and sessions have files on this tier too.
func TestFilesOnWasm(t *testing.T) {
	r := moduleRunner(t, withBundledPython(t, policy.Policy{}))
	given := run.Script{Source: "open('out', 'w').write(open('in').read() * 2)", Files: []run.File{{Name: "in", Data: []byte("ab")}}, Artifacts: []string{"*"}}
	check := func(res run.Result, err error) {
		t.Helper()
		if err != nil || len(res.Artifacts) != 1 || string(res.Artifacts[0].Data) != "abab" {
			t.Errorf("%+v %s %v", res.Artifacts, res.Error, err)
		}
	}
	check(r.Run(t.Context(), run.Request{Script: given, Tier: policy.TierWasm}))
	s, err := r.OpenSession(t.Context(), run.SessionOptions{Tier: policy.TierWasm})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	check(s.Run(t.Context(), run.Request{Script: given}))
	files, err := s.Files()
	if err != nil {
		t.Fatal(err)
	}
	if list, err := files.List(); err != nil || len(list) != 2 {
		t.Errorf("%+v %v", list, err)
	}
}
