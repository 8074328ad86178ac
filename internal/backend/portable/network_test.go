package portable

import (
	"testing"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Without a network wall the proxy enforces nothing.
func TestEgressNeedsNetworkWall(t *testing.T) {
	for words, want := range map[string]bool{"enforced (files, and no network)": true, "missing: why": false} {
		e := run.Enforcement{Tier: policy.TierJail, Walls: map[policy.Wall]string{policy.WallAppContainer: words}}
		network{mode: policy.EgressStrict}.report(&e)
		if got := e.Walls[policy.WallEgress]; Stands(got) != want {
			t.Errorf("app_container is %s, egress is %s", words, got)
		}
	}
}
