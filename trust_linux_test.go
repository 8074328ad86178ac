package cordon_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/internal/runsc"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func TestThirdPartyRunsWhereThePolicyAllows(t *testing.T) {
	t.Setenv(runsc.Variable, "/no/such/runsc")
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

// With gVisor, third-party scripts and commands run on it, also where the policy would allow
// less. If the policy gives commands the host's network, they run in the jail.
func TestThirdPartyRunsOnGVisor(t *testing.T) {
	t.Setenv(runsc.Variable, hosttest.NeedsExtra(t, hosttest.Runsc))
	script := run.Request{Script: run.Script{Source: "import os; result = os.uname().release"}, Trust: policy.TrustThirdParty}
	command := run.Request{Command: run.Command{Args: []string{"uname", "-r"}}, Trust: policy.TrustThirdParty}
	for _, tt := range []struct {
		policy          policy.Policy
		script, command policy.Tier // empty if it is refused
	}{
		{policy.Policy{}, policy.TierGVisor, policy.TierGVisor},
		{policy.Policy{ThirdParty: policy.TierProcess}, policy.TierGVisor, policy.TierGVisor},
		{policy.Policy{AllowNet: []string{"example.com:443"}}, policy.TierGVisor, policy.TierGVisor},
		{policy.Policy{Egress: policy.EgressPreflight, ThirdParty: policy.TierProcess}, policy.TierProcess, policy.TierJail},
		{policy.Policy{Egress: policy.EgressPreflight}, "", policy.TierJail},
	} {
		r := newRunner(t, cordon.Options{Policy: tt.policy})
		for _, one := range []struct {
			request run.Request
			want    policy.Tier
		}{{script, tt.script}, {command, tt.command}} {
			result, err := r.Run(t.Context(), one.request)
			if one.want == "" {
				if !errors.Is(err, run.ErrUnsupported) || !strings.Contains(err.Error(), "no network") {
					t.Errorf("%+v: %v", tt.policy, err)
				}
				continue
			}
			if err != nil || !result.OK() {
				t.Fatalf("%+v: %s %s, %v", tt.policy, result.Outcome, result.Error, err)
			}
			ownKernel := strings.Contains(string(result.Value)+result.Stdout, "gvisor")
			if e := result.Enforcement; e.Tier != one.want || (e.ThirdParty != "") != (one.want == policy.TierProcess) || ownKernel != (one.want == policy.TierGVisor) || e.Walls[policy.WallGVisor].Enforced() != ownKernel {
				t.Errorf("%+v: tier %q, third_party %q, kernel %q %q, %v", tt.policy, e.Tier, e.ThirdParty, result.Value, result.Stdout, e.Walls[policy.WallGVisor])
			}
		}
	}
}

// Scripts on gVisor have no files yet: a request with some says so, and which tier has them.
func TestFilesOnGVisor(t *testing.T) {
	t.Setenv(runsc.Variable, hosttest.NeedsExtra(t, hosttest.Runsc))
	r := newRunner(t, cordon.Options{})
	for _, s := range []run.Script{{Source: "pass", Artifacts: []string{"*"}}, {Source: "pass", Files: []run.File{{Name: "a"}}}} {
		_, err := r.Run(t.Context(), run.Request{Script: s, Tier: policy.TierGVisor})
		if !errors.Is(err, run.ErrUnsupported) || !strings.Contains(err.Error(), `files and artifacts are for tier "process", and this is "gvisor"`) {
			t.Errorf("%v", err)
		}
	}
}
