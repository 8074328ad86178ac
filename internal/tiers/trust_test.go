package tiers

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/golden"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// TestTrustTable compares what trust decides with a file that a reviewer can read. It has two
// tables for each build and each policy: of requests that name no tier, and of those that do.
func TestTrustTable(t *testing.T) {
	var file strings.Builder
	row := func(cells ...string) {
		var line string
		for _, cell := range cells {
			line += fmt.Sprintf("%-12s", cmp.Or(cell, "-"))
		}
		fmt.Fprintln(&file, strings.TrimRight(line, " "))
	}
	for _, gvisor := range []bool{false, true} {
		for _, exception := range []policy.Tier{"", policy.TierProcess} {
			ts := build(gvisor)
			fmt.Fprintf(&file, "# gvisor: %v, third_party: %s\n\n", gvisor, cmp.Or(exception, "-"))
			row("policy", "request", "script", "hook", "command", "module")
			for _, granted := range policy.Trusts() {
				for _, trust := range append([]policy.Trust{""}, policy.Trusts()...) {
					ask := backend.Ask{Policy: policy.Policy{Trust: granted, ThirdParty: exception}, Trust: trust}
					row(string(granted), string(trust), decision(ts, ask, policy.GuestScript), decision(ts, ask, policy.GuestCall),
						decision(ts, ask, policy.GuestCommand), decision(ts, ask, policy.GuestModule))
				}
			}
			fmt.Fprintln(&file)
			row("tier", "request", "script", "command", "module")
			for _, tier := range policy.Tiers() {
				for _, trust := range []policy.Trust{policy.TrustUser, policy.TrustThirdParty} {
					ask := backend.Ask{Policy: policy.Policy{ThirdParty: exception}, Tier: tier, Trust: trust}
					row(string(tier), string(trust), decision(ts, ask, policy.GuestScript),
						decision(ts, ask, policy.GuestCommand), decision(ts, ask, policy.GuestModule))
				}
			}
			fmt.Fprintln(&file)
		}
	}
	golden.Check(t, "testdata/trust.txt", file.String())
}

// build returns the tiers, as if runsc were installed or not.
func build(gvisor bool) backend.Tiers {
	ts := All()
	for i := range ts {
		if ts[i].Name == policy.TierGVisor {
			ts[i].Lacks = func(policy.Policy) error {
				if gvisor {
					return nil
				}
				return errors.New("runsc is not installed")
			}
		}
	}
	return ts
}

// decision is a tier, with a star if only third_party allows it, or the class of a refusal.
func decision(ts backend.Tiers, a backend.Ask, kind policy.Guest) string {
	a.System, a.Guest = "linux", kind
	chosen, err := ts.Select(a)
	switch {
	case err != nil:
		return string(run.ClassOf(err))
	case chosen.ThirdParty != "":
		return string(chosen.Tier) + "*"
	}
	return string(chosen.Tier)
}

func TestStrangersAreRefusedElsewhere(t *testing.T) {
	const theirs, ours = policy.TrustThirdParty, policy.TrustUser
	for _, tt := range []struct {
		system         string
		granted, trust policy.Trust
		refused        bool
	}{
		{"linux", "", theirs, false},
		{"linux", theirs, "", false},
		{"darwin", "", theirs, true},
		{"windows", "", theirs, true},
		{"darwin", theirs, "", true}, // who claims nothing is trusted no further than the policy says
		{"windows", theirs, theirs, true},
		{"darwin", "", "", false},
		{"windows", "", ours, false},
		{"darwin", policy.TrustPlatform, ours, false},
	} {
		for _, kind := range []policy.Guest{policy.GuestScript, policy.GuestCall, policy.GuestCommand} {
			p := policy.Policy{Trust: tt.granted, ThirdParty: policy.TierProcess}
			_, err := All().Select(backend.Ask{System: tt.system, Policy: p, Guest: kind, Trust: tt.trust})
			if (err != nil) != tt.refused {
				t.Errorf("%s, %s, policy %q, request %q: %v", kind, tt.system, tt.granted, tt.trust, err)
			}
			if err == nil {
				continue
			}
			for _, word := range []string{"Linux virtual machine", "deploy/lima.yaml", "tier wasm"} {
				if run.ClassOf(err) != run.Unsupported || !strings.Contains(err.Error(), word) {
					t.Errorf("%v does not tell of %s", err, word)
				}
			}
		}
	}
}

func TestRefusalOfStrangersNamesWhatHelps(t *testing.T) {
	for kind, words := range map[policy.Guest][]string{
		policy.GuestScript: {"cannot be a script", "runsc is not installed", `"third_party: process"`},
		policy.GuestCall:   {"cannot be a hook", `"third_party: process"`},
		policy.GuestModule: {"cannot be a module", "cordon's own process"},
	} {
		_, err := build(false).Select(backend.Ask{System: "linux", Guest: kind, Trust: policy.TrustThirdParty})
		for _, word := range words {
			if err == nil || !strings.Contains(err.Error(), word) {
				t.Errorf("%v does not say %s", err, word)
			}
		}
	}
}
