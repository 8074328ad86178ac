package mcpserver

import (
	"slices"
	"testing"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// sandbox_info has each limit of scripts and commands. The tools take those that the table
// allows agents to set.
func TestToolsFollowTheTableOfLimits(t *testing.T) {
	info, described := testInfo(), infoOutput().Properties["limits"].Properties
	amounts, usage := amountsOf(info.Limits), usageOutput().Properties
	for _, limit := range policy.LimitTable() {
		if _, there := pythonInput(info, true).Properties[limit.Argument()]; there != slices.Contains(limit.Agents, policy.GuestScript) {
			t.Errorf("run_python takes %s: %v", limit.Argument(), there)
		}
		bounds := slices.Contains(limit.For, policy.GuestScript) || slices.Contains(limit.For, policy.GuestCommand)
		_, isDescribed := described[limit.Argument()]
		if _, there := amounts[limit.Argument()]; there != bounds || isDescribed != bounds {
			t.Errorf("sandbox_info has %s: %v, and describes it: %v", limit.Argument(), there, isDescribed)
		}
		measured := slices.ContainsFunc(run.MeasuredLimits(), func(m policy.Limit) bool { return m.Key == limit.Key })
		if _, there := usage[limit.NumberKey()]; there != measured {
			t.Errorf("usage has %s: %v", limit.NumberKey(), there)
		}
	}
}
