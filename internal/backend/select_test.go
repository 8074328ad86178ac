package backend

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// tiersWith returns a build in which every tier runs scripts, and only the available ones
// can be started.
func tiersWith(available []policy.Tier) (ts Tiers) {
	scripts := []policy.Guest{policy.GuestScript}
	for _, t := range []Tier{
		{Name: policy.TierHook, Runs: scripts, ByName: scripts, Trust: policy.TrustPlatform},
		{Name: policy.TierProcess, Runs: scripts, Trust: policy.TrustUser},
		{Name: policy.TierWasm, Runs: scripts, ByName: scripts, Trust: policy.TrustUser},
		{Name: policy.TierJail, Runs: scripts, Trust: policy.TrustThirdParty},
		{Name: policy.TierGVisor, Runs: scripts, Trust: policy.TrustThirdParty},
	} {
		if slices.Contains(available, t.Name) {
			t.Start = func(context.Context, Options) (Backend, error) { return nil, nil }
		}
		ts = append(ts, t)
	}
	return ts
}

func selectScript(p policy.Policy, tier policy.Tier, trust policy.Trust, available []policy.Tier) (Choice, error) {
	return tiersWith(available).Select(Ask{System: "linux", Policy: p, Guest: policy.GuestScript, Tier: tier, Trust: trust})
}

// floors repeats, independently of the code, which tiers each origin may have.
var floors = map[policy.Trust]string{
	policy.TrustPlatform:   "wasm hook process jail gvisor",
	policy.TrustUser:       "wasm process jail gvisor",
	policy.TrustThirdParty: "jail gvisor",
}

func TestSelectNeverGoesBelowTheFloor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		granted := rapid.SampledFrom(append([]policy.Trust{""}, policy.Trusts()...)).Draw(t, "granted")
		trust := rapid.SampledFrom(append([]policy.Trust{"", "god"}, policy.Trusts()...)).Draw(t, "trust")
		tier := rapid.SampledFrom(append([]policy.Tier{"", "moon"}, policy.Tiers()...)).Draw(t, "tier")
		available := rapid.SliceOf(rapid.SampledFrom(policy.Tiers())).Draw(t, "available")

		exception := rapid.SampledFrom([]policy.Tier{"", policy.TierProcess}).Draw(t, "exception")

		chosen, err := selectScript(policy.Policy{Trust: granted, ThirdParty: exception}, tier, trust, available)
		got := chosen.Tier
		if err != nil {
			if chosen != (Choice{}) || !errors.Is(err, run.ErrInvalid) && !errors.Is(err, run.ErrUnsupported) {
				t.Fatalf("%v with error %v", chosen, err)
			}
			return
		}
		// The tier must be allowed for the trust that the request claims and for the
		// trust that the policy grants.
		for _, origin := range []policy.Trust{granted.OrUser(), trust} {
			if origin == policy.TrustPlatform || origin == "" {
				continue
			}
			if slices.Contains(strings.Fields(floors[origin]), string(got)) == (chosen.ThirdParty != "") && origin == policy.TrustThirdParty {
				t.Fatalf("%s code got %q by the exception %q", origin, got, chosen.ThirdParty)
			}
			if !slices.Contains(strings.Fields(floors[origin]), string(got)) && (chosen.ThirdParty == "" || got != exception) {
				t.Fatalf("%s code got %q", origin, got)
			}
		}
		switch {
		case !slices.Contains(available, got):
			t.Fatalf("%q is not available", got)
		case tier != "" && got != tier:
			t.Fatalf("%q was requested, %q chosen", tier, got)
		case trust == "god" || tier == "moon":
			t.Fatalf("a name that does not exist gave %q", got)
		case tier == "" && (got == policy.TierHook || got == policy.TierWasm):
			t.Fatalf("a script was sent to %q", got)
		}
	})
}

func TestSelectWords(t *testing.T) {
	process := []policy.Tier{policy.TierProcess}
	for _, tt := range []struct {
		granted   policy.Trust
		tier      policy.Tier
		trust     policy.Trust
		available []policy.Tier
		words     string
	}{
		{"", "", "platform", process, `trust "platform" is more than the policy grants: it trusts code no further than "user"`},
		{"third-party", "jail", "user", policy.Tiers(), `trust "user" is more than the policy grants: it trusts code no further than "third-party"`},
		{"", "hook", "", policy.Tiers(), `tier "hook" is below what user code needs: the lowest allowed is "process"`},
		{"", "wasm", "third-party", policy.Tiers(), `tier "wasm" is below what third-party code needs: the lowest allowed is "jail"`},
		{"", "jail", "", process, `tier "jail" is not available: it is not in this build; available: process`},
		{"", "gvisor", "third-party", []policy.Tier{policy.TierJail}, `tier "gvisor" is not available: it is not in this build; available: jail`},
		{"", "", "", nil, `tier "process" is not available: it is not in this build; available: none`},
		{"", "moon", "", process, `tier "moon" does not exist: the tiers are wasm, hook, process, jail, gvisor`},
		{"", "", "god", process, `trust "god" does not exist: the origins are platform, user, third-party`},
		{"god", "", "", process, `trust "god" does not exist: the origins are platform, user, third-party`},
	} {
		_, err := selectScript(policy.Policy{Trust: tt.granted}, tt.tier, tt.trust, tt.available)
		if err == nil || err.Error() != tt.words {
			t.Errorf("error %v\nwant  %s", err, tt.words)
		}
	}
}
