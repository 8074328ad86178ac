package egress

import (
	"strings"

	"github.com/cordon-sandbox/cordon/policy"
)

// Words describes, for the report of enforcement, what the wall does in this mode and
// with these grants.
func Words(mode policy.Egress, allowed []string) string {
	switch {
	case mode == policy.EgressNone:
		return "missing: the policy asks for none"
	case mode == policy.EgressPreflight:
		return "enforced (hosts in the arguments alone, before the start)"
	case len(allowed) == 0:
		return "enforced (nothing can be reached)"
	}
	return "enforced (by a proxy to " + strings.Join(allowed, ", ") + ")"
}
