package cordon_test

import (
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func TestThirdPartyRunsWhereThePolicyAllows(t *testing.T) {
	for _, tt := range []struct {
		name    string
		policy  policy.Policy
		trust   policy.Trust
		allowed policy.Tier
		refused bool
	}{
		{name: "user code", policy: policy.Policy{ThirdParty: policy.TierProcess}},
		{name: "no exception", trust: policy.TrustThirdParty, refused: true},
		{name: "a request", policy: policy.Policy{ThirdParty: policy.TierProcess}, trust: policy.TrustThirdParty, allowed: policy.TierProcess},
		{name: "all code", policy: policy.Policy{Trust: policy.TrustThirdParty, ThirdParty: policy.TierProcess}, allowed: policy.TierProcess},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRunner(t, cordon.Options{Policy: tt.policy})
			check := func(what string, result run.Result, err error) {
				t.Helper()
				if tt.refused {
					if run.ClassOf(err) != run.Unsupported || !strings.Contains(err.Error(), "third_party: process") {
						t.Errorf("%s: %v", what, err)
					}
					return
				}
				if err != nil || !result.OK() {
					t.Fatalf("%s: %s, %v", what, result.Outcome, err)
				}
				if e := result.Enforcement; e.Tier != policy.TierProcess || e.ThirdParty != tt.allowed {
					t.Errorf("%s: tier %q, third_party %q", what, e.Tier, e.ThirdParty)
				}
			}
			result, err := r.Run(t.Context(), run.Request{Script: run.Script{Source: "pass"}, Trust: tt.trust})
			check("script", result, err)

			hook, err := r.OpenHook(t.Context(), run.HookSpec{Script: "def f(): return 1", Trust: tt.trust})
			if err == nil {
				defer hook.Close()
				result, err = hook.CallFunction(t.Context(), "f")
			}
			check("hook", result, err)

			_, err = r.Run(t.Context(), run.Request{Script: run.Script{Source: "pass"}, Trust: tt.trust, Tier: policy.TierWasm})
			if tt.trust == policy.TrustThirdParty && err == nil {
				t.Error("third-party code ran on tier wasm")
			}
		})
	}
}
