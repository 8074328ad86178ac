package cordon_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func TestProcessSessions(t *testing.T) {
	r := newRunner(t, cordon.Options{})
	s := openSession(t, r, run.SessionOptions{})
	gives(t, s, "x = 20\nresult = x", "20")
	res := gives(t, s, "x += 1\nresult = x", "21")
	if res.Enforcement.Tier != policy.TierProcess || !res.Enforcement.Walls[policy.WallSeccomp].Enforced() {
		t.Errorf("%+v", res.Enforcement)
	}
	for name, req := range map[string]run.Request{
		"a command":       {Command: run.Command{Args: []string{"ls"}}},
		"nothing":         {},
		"another tier":    {Script: run.Script{Source: "pass"}, Tier: policy.TierWasm},
		"fuel":            {Script: run.Script{Source: "pass"}, Limits: policy.Limits{Fuel: 1}},
		"restricted":      {Script: run.Script{Source: "pass", Restricted: true}},
		"third party":     {Script: run.Script{Source: "pass"}, Trust: policy.TrustThirdParty},
		"more memory":     {Script: run.Script{Source: "pass"}, Limits: policy.Limits{Memory: 300 * policy.MiB}},
		"live input":      {Script: run.Script{Source: "pass"}, Streams: run.Streams{In: strings.NewReader("x")}},
		"above a maximum": {Script: run.Script{Source: "pass"}, Limits: policy.Limits{WallTime: 100 * time.Hour}},
	} {
		if _, err := s.Run(t.Context(), req); run.ClassOf(err) != run.Invalid && run.ClassOf(err) != run.Unsupported {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.Fork(); !errors.Is(err, run.ErrUnsupported) || !strings.Contains(err.Error(), `tier "wasm"`) {
		t.Errorf("a fork: %v", err)
	}
	if err := s.Save(io.Discard); !errors.Is(err, run.ErrUnsupported) {
		t.Errorf("save: %v", err)
	}
	gives(t, s, "result = x", "21")
	if _, err := r.OpenSession(t.Context(), run.SessionOptions{Trust: policy.TrustThirdParty}); run.ClassOf(err) == "" {
		t.Error("a session for third-party code was opened")
	}
	if _, err := r.OpenSession(t.Context(), run.SessionOptions{Tier: policy.TierJail}); !errors.Is(err, run.ErrInvalid) {
		t.Errorf("a session on tier jail: %v", err)
	}
}

// The limits of a session are the defaults of its steps.
func TestLimitsOfSessions(t *testing.T) {
	r := newRunner(t, cordon.Options{})
	s := openSession(t, r, run.SessionOptions{Limits: policy.Limits{WallTime: 200 * time.Millisecond, Memory: 64 * policy.MiB}})
	res, err := s.Run(t.Context(), stepOf("while True: pass"))
	if err != nil || res.Outcome != run.TimedOut || !res.Step.Survived || !strings.Contains(res.Error, "200ms") {
		t.Errorf("%v %s %s", err, res.Outcome, res.Error)
	}
	res, err = s.Run(t.Context(), stepOf("x = bytearray(100 << 20)"))
	if err != nil || res.Outcome != run.OutOfMemory || !strings.Contains(res.Error, "64MiB") {
		t.Errorf("%v %s %s", err, res.Outcome, res.Error)
	}
	longer := stepOf("import time; time.sleep(0.3); result = 1")
	longer.Limits.WallTime = 5 * time.Second
	if res, err = s.Run(t.Context(), longer); err != nil || !res.OK() {
		t.Errorf("%v %s %s", err, res.Outcome, res.Error)
	}
}

// Interrupt ends the running step and not the session. Close also ends the steps that wait.
func TestInterruptAndCloseSession(t *testing.T) {
	r := newRunner(t, cordon.Options{})
	s := openSession(t, r, run.SessionOptions{})
	s.Interrupt() // there is no step
	gives(t, s, "x = 1\nresult = x", "1")
	endless := func() (begun chan struct{}, ended chan error) {
		begun, ended = make(chan struct{}), make(chan error, 1)
		req := stepOf("x += 1\nprint('x', flush=True)\nwhile True: pass")
		req.Streams.Out = closedByWrite(begun)
		go func() {
			res, err := s.Run(t.Context(), req)
			if err == nil && res.Outcome != run.Canceled {
				err = errors.New(res.Error)
			}
			ended <- err
		}()
		return begun, ended
	}
	begun, ended := endless()
	<-begun
	s.Interrupt()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	gives(t, s, "result = x", "2")

	begun, ended = endless()
	<-begun
	waiting := make(chan error, 1)
	go func() {
		_, err := s.Run(t.Context(), stepOf("while True: pass"))
		waiting <- err
	}()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("the running step: %v", err)
	}
	if err := <-waiting; !errors.Is(err, run.ErrGone) {
		t.Errorf("the waiting step: %v", err)
	}
}

// Under a policy that requires the language rules, sessions have them.
func TestRestrictedProcessSessions(t *testing.T) {
	r := newRunner(t, cordon.Options{Policy: policy.Policy{Require: []policy.Wall{policy.WallLanguage}}})
	s := openSession(t, r, run.SessionOptions{})
	gives(t, s, "x = [1]\nresult = x", "[1]")
	gives(t, s, "x.append(2)\nresult = x", "[1,2]")
	if res, err := s.Run(t.Context(), stepOf("import os")); err != nil || res.Outcome != run.Refused || !res.Step.Survived {
		t.Errorf("%v %s %s", err, res.Outcome, res.Error)
	}
	if res, err := s.Run(t.Context(), stepOf("x.__class__")); err != nil || res.OK() {
		t.Errorf("%v %s", err, res.Outcome)
	}
	gives(t, s, "result = len(x)", "2")
}
