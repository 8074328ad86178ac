package tiers

import (
	"slices"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm"
	"github.com/cordon-sandbox/cordon/policy"
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
