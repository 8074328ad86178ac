package portable

import (
	"slices"
	"testing"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func TestRequired(t *testing.T) {
	preset, err := policy.Preset("command")
	if err != nil {
		t.Fatal(err)
	}
	strict, err := policy.Preset("strict")
	if err != nil {
		t.Fatal(err)
	}
	preferring := policy.Policy{Prefer: []policy.Wall{policy.WallFilesystem, policy.WallRlimit}}
	for name, c := range map[string]struct {
		p    policy.Policy
		want []policy.Wall
	}{
		"nothing said":          {policy.Policy{}, needs},
		"a preset":              {preset, needs},
		"preferred":             {preferring, []policy.Wall{policy.WallNetwork, policy.WallEnvironment}},
		"preferred, resolved":   {preferring.Resolved(), []policy.Wall{policy.WallNetwork, policy.WallEnvironment}},
		"one of Linux's walls":  {policy.Policy{Require: []policy.Wall{policy.WallSeccomp}}, append(slices.Clone(needs), policy.WallSeccomp)},
		"a preset with more":    {strict, append(slices.Clone(needs), policy.WallUser, policy.WallMount, policy.WallPID, policy.WallNet, policy.WallLandlock)},
		"required by a wall":    {policy.Policy{Require: []policy.Wall{policy.WallAppContainer}}, append(slices.Clone(needs), policy.WallAppContainer)},
		"the rules of language": {policy.Policy{Require: []policy.Wall{policy.WallLanguage}}, needs},
	} {
		if got := required(c.p); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, not %v", name, got, c.want)
		}
	}
}

// Without a wall before the network the proxy decides nothing.
func TestEgressNeedsAWall(t *testing.T) {
	for words, want := range map[string]bool{"enforced (files, and no network)": true, "missing: why": false} {
		e := run.Enforcement{Tier: policy.TierJail, Walls: map[policy.Wall]string{policy.WallAppContainer: words}}
		network{mode: policy.EgressStrict}.report(&e)
		if got := e.Walls[policy.WallEgress]; Stands(got) != want {
			t.Errorf("app_container is %s, egress is %s", words, got)
		}
	}
}
