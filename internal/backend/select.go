package backend

import (
	"slices"
	"strings"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Select picks the tier for one request: pure, from what the policy grants, what the
// request asks for and what this build can do on this host.
//
// An empty trust claims nothing. It means user code, or less where the policy
// grants less, so that an operator can lower the trust of every request
// without a change to any.
func (ts Tiers) Select(p policy.Policy, kind policy.Guest, tier policy.Tier, trust policy.Trust) (policy.Tier, error) {
	if err := ts.fits(kind, tier); err != nil {
		return "", err
	}
	available := ts.available(kind)
	if trust == policy.TrustThirdParty || p.Trust == policy.TrustThirdParty {
		if err := ts.fitsStrangers(kind, tier, available); err != nil {
			return "", err
		}
	}
	chosen, err := ts.choose(p, kind, tier, trust, available)
	if err == nil && len(p.ModuleRules) > 0 && !ts.Offers(chosen, ModuleRules) {
		return "", run.Errorf(run.Unsupported, "the policy has module_rules, which apply to Python scripts on tier %q, and this is a %s on tier %q: use a policy without them for it",
			ts.Offering(ModuleRules), kind, chosen)
	}
	return chosen, err
}

// fits refuses a tier that does not run commands or modules. One that does not run scripts
// is not available for them.
func (ts Tiers) fits(kind policy.Guest, tier policy.Tier) error {
	able := ts.For(kind)
	if tier == "" || kind == policy.GuestScript || !slices.Contains(policy.Tiers(), tier) || slices.Contains(able, tier) {
		return nil
	}
	if kind == policy.GuestCommand {
		return run.Errorf(run.Invalid, "tier %q runs scripts: a command needs %q", tier, able[0])
	}
	return run.Errorf(run.Invalid, "tier %q does not run modules: leave it out, or say %q", tier, able[0])
}

// fitsStrangers explains why third-party code cannot be run as what it is, where no
// tier that is strong enough for it runs this kind.
func (ts Tiers) fitsStrangers(kind policy.Guest, tier policy.Tier, available []policy.Tier) error {
	enough := ts.enough(policy.TrustThirdParty)
	if slices.ContainsFunc(available, func(t policy.Tier) bool { return slices.Contains(enough, t) }) {
		return nil
	}
	switch {
	case kind == policy.GuestModule:
		return run.Errorf(run.Unsupported, "third-party code cannot be a module: it would run inside of cordon's own process")
	case kind == policy.GuestScript && (tier == "" || tier == policy.TierJail):
		return run.Errorf(run.Unsupported, "third-party code cannot be a script: it needs a jail, which runs commands. "+
			"Run it as a command, with Python as the program (cordon exec --allow-interpreters -- python3 FILE), or trust it as a user's, if it is")
	}
	return nil
}

func (ts Tiers) choose(p policy.Policy, kind policy.Guest, tier policy.Tier, trust policy.Trust, available []policy.Tier) (policy.Tier, error) {
	if _, err := policy.ParseTrust(string(p.Trust)); err != nil {
		return "", run.Wrap(run.Invalid, err)
	}
	if _, err := policy.ParseTrust(string(trust)); err != nil {
		return "", run.Wrap(run.Invalid, err)
	}
	if _, err := policy.ParseTier(string(tier)); err != nil {
		return "", run.Wrap(run.Invalid, err)
	}

	granted := p.Trust.OrUser()
	if trust == "" {
		trust = policy.TrustUser
		if trust.Exceeds(granted) {
			trust = granted
		}
	}
	if trust.Exceeds(granted) {
		return "", run.Errorf(run.Invalid,
			"trust %q is more than the policy grants: it trusts code no further than %q", trust, granted)
	}

	first, enough := ts.chosen(kind, trust), ts.enough(trust)
	if tier == "" {
		for _, t := range first {
			if slices.Contains(available, t) {
				return t, nil
			}
		}
		return "", unavailable(first[0], available)
	}
	if !slices.Contains(enough, tier) {
		return "", run.Errorf(run.Invalid,
			"tier %q is below what %s code needs: the lowest allowed is %q", tier, trust, enough[0])
	}
	if !slices.Contains(available, tier) {
		return "", unavailable(tier, available)
	}
	return tier, nil
}

func unavailable(tier policy.Tier, available []policy.Tier) error {
	names := make([]string, len(available))
	for i, t := range available {
		names[i] = string(t)
	}
	if len(names) == 0 {
		names = []string{"none"}
	}
	return run.Errorf(run.Unsupported,
		"tier %q is not available in this build or on this host: available: %s", tier, strings.Join(names, ", "))
}
