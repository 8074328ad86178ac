package backend

import (
	"slices"
	"strings"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// allowed lists, for each origin of code, the tiers that are strong enough,
// the lowest one first.
//
// A hook is for platform code alone: it stands behind the walls of a process,
// but one worker serves many calls, and what one call leaves there the next
// one meets.
//
// wasm is enough for user code, because such a guest has no system calls at
// all. It is not enough for third-party code: it runs inside the Runner's own
// process, so a single bug in the WASM compiler gives a stranger everything
// that cordon holds, with no kernel wall behind it.
var allowed = map[policy.Trust][]policy.Tier{
	policy.TrustPlatform:   {policy.TierHook, policy.TierWasm, policy.TierProcess, policy.TierJail, policy.TierGVisor},
	policy.TrustUser:       {policy.TierProcess, policy.TierWasm, policy.TierJail, policy.TierGVisor},
	policy.TrustThirdParty: {policy.TierJail, policy.TierGVisor},
}

// chosen lists what cordon takes for a script when nobody names a tier, the
// first that is there. A script is neither a hook call nor a WASM module, so
// those two are never chosen; and user code does not move to a jail in
// silence where the process tier is missing, because a jail runs commands.
var chosen = map[policy.Trust][]policy.Tier{
	policy.TrustPlatform:   {policy.TierProcess},
	policy.TrustUser:       {policy.TierProcess},
	policy.TrustThirdParty: {policy.TierJail, policy.TierGVisor},
}

// forCommands lists the tiers that run commands, the lowest one first. They are
// enough for everybody's.
var forCommands = []policy.Tier{policy.TierJail, policy.TierGVisor}

// SelectCommand picks the tier for one command, as Select does for a script.
func SelectCommand(p policy.Policy, tier policy.Tier, trust policy.Trust, available []policy.Tier) (policy.Tier, error) {
	if tier != "" && slices.Contains(policy.Tiers(), tier) && !slices.Contains(forCommands, tier) {
		return "", run.Errorf(run.Invalid, "tier %q runs scripts: a command needs %q", tier, forCommands[0])
	}
	return choose(p, tier, trust, available, func(policy.Trust) (chosen, allowed []policy.Tier) { return forCommands, forCommands })
}

// forModules lists the tiers that run modules. Somebody else's need more than one wall,
// and there is none behind the only one.
var forModules = []policy.Tier{policy.TierWasm}

// SelectModule picks the tier for one module, as Select does for a script.
func SelectModule(p policy.Policy, tier policy.Tier, trust policy.Trust, available []policy.Tier) (policy.Tier, error) {
	if tier != "" && slices.Contains(policy.Tiers(), tier) && !slices.Contains(forModules, tier) {
		return "", run.Errorf(run.Invalid, "tier %q does not run modules: leave it out, or say %q", tier, forModules[0])
	}
	if trust == policy.TrustThirdParty || p.Trust == policy.TrustThirdParty {
		return "", run.Errorf(run.Unsupported, "third-party code cannot be a module: it would run inside of cordon's own process")
	}
	return choose(p, tier, trust, available, func(policy.Trust) (chosen, allowed []policy.Tier) { return forModules, forModules })
}

// Select picks the tier for one script: pure, from what the policy grants,
// what the request asks for and what this build can do on this host.
//
// An empty trust claims nothing. It means user code, or less where the policy
// grants less, so that an operator can lower the trust of every request
// without a change to any.
func Select(p policy.Policy, tier policy.Tier, trust policy.Trust, available []policy.Tier) (policy.Tier, error) {
	return choose(p, tier, trust, available, func(t policy.Trust) (_, _ []policy.Tier) { return chosen[t], allowed[t] })
}

func choose(p policy.Policy, tier policy.Tier, trust policy.Trust, available []policy.Tier, tiersFor func(policy.Trust) (chosen, allowed []policy.Tier)) (policy.Tier, error) {
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

	first, enough := tiersFor(trust)
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
