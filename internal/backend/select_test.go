package backend

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

var availabilities = [][]policy.Tier{
	{},
	{policy.TierProcess},
	{policy.TierProcess, policy.TierGVisor},
	{policy.TierHook, policy.TierProcess, policy.TierJail},
	policy.Tiers(),
}

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

func selectScript(p policy.Policy, tier policy.Tier, trust policy.Trust, available []policy.Tier) (policy.Tier, error) {
	ts := tiersWith(available)
	return ts.choose(p, policy.GuestScript, tier, trust, ts.available(policy.GuestScript))
}

// TestSelectGolden compares every combination with a table that a reviewer can
// read, in select_golden_test.go.
func TestSelectGolden(t *testing.T) {
	var b strings.Builder
	fmt.Fprintf(&b, "%-12s %-12s %-8s | %s\n", "policy", "request", "tier", "available: none | process | process gvisor | hook process jail | all")
	for _, granted := range policy.Trusts() {
		for _, trust := range append([]policy.Trust{""}, policy.Trusts()...) {
			for _, tier := range append([]policy.Tier{""}, policy.Tiers()...) {
				fmt.Fprintf(&b, "%-12s %-12s %-8s |", granted, dash(trust), dash(tier))
				for _, available := range availabilities {
					got, err := selectScript(policy.Policy{Trust: granted}, tier, trust, available)
					cell := string(got)
					if err != nil {
						cell = string(run.ClassOf(err))
					}
					fmt.Fprintf(&b, " %-11s", cell)
				}
				b.WriteString("\n")
			}
		}
	}
	got, want := strings.Split(b.String(), "\n"), strings.Split(selectGolden, "\n")
	if len(got) != len(want) {
		t.Fatalf("%d lines instead of %d:\n%s", len(got), len(want), b.String())
	}
	for i := range got {
		if strings.TrimSpace(got[i]) != want[i] {
			t.Errorf("line %d\ngot  %s\nwant %s", i+1, got[i], want[i])
		}
	}
}

func dash[T ~string](s T) string {
	if s == "" {
		return "-"
	}
	return string(s)
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

		got, err := selectScript(policy.Policy{Trust: granted}, tier, trust, available)
		if err != nil {
			if got != "" || !errors.Is(err, run.ErrInvalid) && !errors.Is(err, run.ErrUnsupported) {
				t.Fatalf("%q with error %v", got, err)
			}
			return
		}
		// The tier must be allowed for the trust that the request claims and for the
		// trust that the policy grants.
		for _, origin := range []policy.Trust{granted.OrUser(), trust} {
			if origin == policy.TrustPlatform || origin == "" {
				continue
			}
			if !slices.Contains(strings.Fields(floors[origin]), string(got)) {
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
		{"", "jail", "", process, `tier "jail" is not available in this build or on this host: available: process`},
		{"", "", "third-party", process, `tier "jail" is not available in this build or on this host: available: process`},
		{"", "", "", nil, `tier "process" is not available in this build or on this host: available: none`},
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
