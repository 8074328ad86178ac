package egress

import (
	"strings"

	"github.com/cordon-sandbox/cordon/policy"
)

// Words describes, for the report of enforcement, what the wall does in this mode and
// with these grants.
func Words(mode policy.Egress, allowed []string) policy.WallStatus {
	switch {
	case mode == policy.EgressNone:
		return policy.MissingWall("the policy asks for none")
	case mode == policy.EgressPreflight:
		return policy.EnforcedWall("hosts in the arguments alone, before the start")
	case len(allowed) == 0:
		return policy.EnforcedWall("nothing can be reached")
	}
	return policy.EnforcedWall("by a proxy to " + strings.Join(allowed, ", "))
}
