package tiers

import (
	"slices"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

var _ backend.SessionOpener = (*wasm.Backend)(nil)

func TestEveryTierIsRegisteredOnce(t *testing.T) {
	registered := map[policy.Tier]int{}
	for _, tier := range All() {
		registered[tier.Name]++
		for _, kind := range tier.ByName {
			if !slices.Contains(tier.Runs, kind) {
				t.Errorf("tier %q has to be named for a %s, which it does not run", tier.Name, kind)
			}
		}
		if tier.Start != nil && len(tier.Runs) == 0 {
			t.Errorf("tier %q is started and runs nothing", tier.Name)
		}
	}
	for _, name := range policy.Tiers() {
		if registered[name] != 1 {
			t.Errorf("tier %q is registered %d times", name, registered[name])
		}
		delete(registered, name)
	}
	if len(registered) > 0 {
		t.Errorf("policy does not know %v", registered)
	}
}

func TestTierOfARequestWithoutTier(t *testing.T) {
	for _, test := range []struct {
		kind  policy.Guest
		trust policy.Trust
		tier  policy.Tier
		class run.Class
	}{
		{policy.GuestScript, "", policy.TierProcess, ""},
		{policy.GuestScript, policy.TrustThirdParty, "", run.Unsupported},
		{policy.GuestCommand, "", policy.TierJail, ""},
		{policy.GuestCommand, policy.TrustThirdParty, policy.TierJail, ""},
		{policy.GuestModule, "", policy.TierWasm, ""},
		{policy.GuestModule, policy.TrustThirdParty, "", run.Unsupported},
	} {
		tier, err := All().Select(policy.Policy{}, test.kind, "", test.trust)
		if tier != test.tier || (err != nil) != (test.class != "") || err != nil && run.ClassOf(err) != test.class {
			t.Errorf("%s of trust %q: %q, %v", test.kind, test.trust, tier, err)
		}
	}
}

// A new tier for third-party scripts only needs its Start.
func TestGVisorServesStrangersOnceItStarts(t *testing.T) {
	all := All()
	i := slices.IndexFunc(all, func(t backend.Tier) bool { return t.Name == policy.TierGVisor })
	all[i].Start = all[0].Start
	if all[i].Start == nil {
		all[i].Start = all[1].Start
	}
	for _, test := range []struct {
		kind  policy.Guest
		trust policy.Trust
		want  policy.Tier
	}{
		{policy.GuestScript, policy.TrustThirdParty, policy.TierGVisor},
		{policy.GuestScript, policy.TrustUser, policy.TierProcess},
		{policy.GuestCommand, policy.TrustThirdParty, policy.TierJail},
	} {
		if tier, err := all.Select(policy.Policy{}, test.kind, "", test.trust); err != nil || tier != test.want {
			t.Errorf("%s of trust %q: %q, %v", test.kind, test.trust, tier, err)
		}
	}
}
