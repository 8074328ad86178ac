package tiers

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

var update = flag.Bool("update", false, "rewrite testdata")

// TestTrustTable compares what trust decides with tables that a reviewer can read. The first
// is of requests that name no tier, the second of those that name one.
func TestTrustTable(t *testing.T) {
	var table strings.Builder
	row := func(cells ...string) {
		for i, cell := range cells {
			cells[i] = fmt.Sprintf("%-13s", cmp.Or(cell, "-"))
		}
		fmt.Fprintln(&table, strings.TrimRight(strings.Join(cells, " "), " "))
	}
	row("gvisor", "policy", "third_party", "request", "| script", "hook", "command", "module")
	each := func(granted, claimed []policy.Trust, do func(gvisor string, p policy.Policy, trust policy.Trust, ts backend.Tiers)) {
		for _, gvisor := range []string{"no", "yes"} {
			for _, p := range granted {
				for _, exception := range []policy.Tier{"", policy.TierProcess} {
					for _, trust := range claimed {
						do(gvisor, policy.Policy{Trust: p, ThirdParty: exception}, trust, build(gvisor == "yes"))
					}
				}
			}
		}
	}
	each(policy.Trusts(), append([]policy.Trust{""}, policy.Trusts()...), func(gvisor string, p policy.Policy, trust policy.Trust, ts backend.Tiers) {
		cells := []string{gvisor, string(p.Trust), string(p.ThirdParty), string(trust)}
		for _, kind := range []policy.Guest{policy.GuestScript, policy.GuestCall, policy.GuestCommand, policy.GuestModule} {
			cells = append(cells, decision(ts, backend.Ask{System: "linux", Policy: p, Guest: kind, Trust: trust}))
		}
		cells[4] = "| " + cells[4]
		row(cells...)
	})
	fmt.Fprintln(&table)
	row("gvisor", "third_party", "request", "tier", "| script", "command", "module")
	each([]policy.Trust{policy.TrustPlatform}, []policy.Trust{policy.TrustUser, policy.TrustThirdParty}, func(gvisor string, p policy.Policy, trust policy.Trust, ts backend.Tiers) {
		for _, tier := range policy.Tiers() {
			cells := []string{gvisor, string(p.ThirdParty), string(trust), string(tier)}
			for _, kind := range []policy.Guest{policy.GuestScript, policy.GuestCommand, policy.GuestModule} {
				cells = append(cells, decision(ts, backend.Ask{System: "linux", Policy: p, Guest: kind, Tier: tier, Trust: trust}))
			}
			cells[4] = "| " + cells[4]
			row(cells...)
		}
	})

	const file = "testdata/trust.txt"
	if *update {
		if err := os.WriteFile(file, []byte(table.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	golden, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got, want := strings.Split(table.String(), "\n"), strings.Split(string(golden), "\n")
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("%s differs from line %d on; go test ./internal/tiers -update writes it:\n%s", file, i+1, table.String())
		}
	}
}

// build returns the tiers, also with gvisor as if this build had it.
func build(gvisor bool) backend.Tiers {
	ts := All()
	for i := range ts {
		if ts[i].Name == policy.TierGVisor && gvisor {
			ts[i].Start = func(context.Context, backend.Options) (backend.Backend, error) { return nil, nil }
		}
	}
	return ts
}

// decision is a tier, with a star if only third_party allows it, or the class of a refusal.
func decision(ts backend.Tiers, a backend.Ask) string {
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
		policy.GuestScript: {"cannot be a script", "cordon exec --allow-interpreters", `"third_party: process"`},
		policy.GuestCall:   {"cannot be a hook", `"third_party: process"`},
		policy.GuestModule: {"cannot be a module", "cordon's own process"},
	} {
		_, err := All().Select(backend.Ask{System: "linux", Guest: kind, Trust: policy.TrustThirdParty})
		for _, word := range words {
			if err == nil || !strings.Contains(err.Error(), word) {
				t.Errorf("%v does not say %s", err, word)
			}
		}
	}
}
