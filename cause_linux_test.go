package cordon_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/internal/runsc"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// A passed deadline and a cancellation have different messages in a guest's Result, and
// different errors for a request that never began.
func TestDeadlineIsNotCancellation(t *testing.T) {
	r := newRunner(t, cordon.Options{})
	hook := openHook(t, r, run.HookSpec{Script: "while True: pass"})
	for name, call := range map[string]func(context.Context) (run.Result, error){
		"script": func(ctx context.Context) (run.Result, error) {
			return r.Run(ctx, run.Request{Script: run.Script{Source: "while True: pass"}})
		},
		"command": func(ctx context.Context) (run.Result, error) {
			return r.Run(ctx, run.Request{Command: run.Command{Args: []string{"sleep", "60"}}})
		},
		"hook": func(ctx context.Context) (run.Result, error) { return hook.Call(ctx, nil, nil) },
	} {
		for want, limit := range map[string]func() (context.Context, context.CancelFunc){
			"the caller's deadline passed": func() (context.Context, context.CancelFunc) { return context.WithTimeout(t.Context(), 2*time.Second) },
			"the caller canceled the run": func() (context.Context, context.CancelFunc) {
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(2*time.Second, cancel)
				return ctx, cancel
			},
		} {
			ctx, cancel := limit()
			res, err := call(ctx)
			began := err == nil && res.Outcome == run.Canceled && strings.Contains(res.Error, want)
			if !began && (err == nil || !errors.Is(err, ctx.Err())) {
				t.Errorf("%s: %s %q, %v; want %q", name, res.Outcome, res.Error, err, want)
			}
			cancel()
		}
	}
}

// The error says what third-party scripts need, and that the jail runs only commands.
func TestThirdPartyScripts(t *testing.T) {
	t.Setenv(runsc.Variable, "/no/such/runsc")
	r := newRunner(t, cordon.Options{})
	for tier, words := range map[policy.Tier]string{"": `it needs tier "gvisor"`, policy.TierJail: "it runs no scripts"} {
		_, err := r.Run(t.Context(), run.Request{Script: run.Script{Source: "1"}, Trust: policy.TrustThirdParty, Tier: tier})
		if !errors.Is(err, run.ErrUnsupported) || !strings.Contains(err.Error(), words) {
			t.Errorf("%q: %v", tier, err)
		}
	}
	if _, err := r.Run(t.Context(), run.Request{Command: run.Command{Args: []string{"true"}}, Trust: policy.TrustThirdParty}); err != nil {
		t.Errorf("a command: %v", err)
	}
}
