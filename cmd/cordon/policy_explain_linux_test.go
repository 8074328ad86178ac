package main

import (
	"reflect"
	"testing"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/internal/tiers"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// What is explained is what a Result then reports.
func TestExplainedWallsAreThoseOfARun(t *testing.T) {
	p := policy.Policy{Trust: policy.TrustPlatform, ThirdParty: policy.TierProcess}
	runner, err := cordon.NewRunner(cordon.Options{Policy: p})
	if err != nil {
		t.Fatal(err)
	}
	defer runner.Close()
	e := explainer{policy: p, tiers: tiers.All(), started: map[policy.Tier]startedTier{}}
	for _, trust := range policy.Trusts() {
		for kind, try := range map[policy.Guest]func() (run.Result, error){
			policy.GuestScript: func() (run.Result, error) {
				return runner.Run(t.Context(), run.Request{Script: run.Script{Source: "pass"}, Trust: trust})
			},
			policy.GuestCall: func() (run.Result, error) {
				hook, err := runner.OpenHook(t.Context(), run.HookSpec{Script: "def f(): pass", Trust: trust})
				if err != nil {
					return run.Result{}, err
				}
				defer hook.Close()
				return hook.CallFunction(t.Context(), "f")
			},
			policy.GuestCommand: func() (run.Result, error) {
				return runner.Run(t.Context(), run.Request{Command: run.Command{Args: []string{"true"}}, Trust: trust})
			},
		} {
			explained := e.explain(t.Context(), kind, trust)
			result, err := try()
			if err != nil {
				t.Errorf("%s of %s: %v", kind, trust, err)
			} else if explained.Enforcement == nil || !reflect.DeepEqual(*explained.Enforcement, result.Enforcement) {
				t.Errorf("%s of %s\nexplained %+v\nreported  %+v", kind, trust, explained.Enforcement, result.Enforcement)
			}
		}
	}
}
