package portable

import (
	"testing"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Without a network wall the proxy enforces nothing.
func TestEgressNeedsNetworkWall(t *testing.T) {
	for status, want := range map[policy.WallStatus]bool{policy.EnforcedWall("files, and no network"): true, policy.MissingWall("why"): false} {
		e := run.Enforcement{Tier: policy.TierJail, Walls: map[policy.Wall]policy.WallStatus{policy.WallAppContainer: status}}
		network{mode: policy.EgressStrict}.report(&e)
		if got := e.Walls[policy.WallEgress]; got.Enforced() != want {
			t.Errorf("app_container is %s, egress is %s", status, got)
		}
	}
}
