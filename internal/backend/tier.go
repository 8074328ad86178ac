package backend

import (
	"context"
	"slices"
	"strings"

	"github.com/cordon-sandbox/cordon/policy"
)

// Tier registers one tier: all that the Runner, the selection, the permits of callers and
// doctor need to know about it. internal/tiers has the list.
type Tier struct {
	Name policy.Tier
	// Runs is what a request can run there.
	Runs []policy.Guest
	// ByName is the part of Runs for which a request has to name the tier.
	ByName []policy.Guest
	// Trust is the least trusted code that the tier is strong enough for.
	Trust policy.Trust
	// Offers is what the tier has beyond runs.
	Offers []Feature
	// Start starts it; nil means that this build knows the name alone.
	Start func(ctx context.Context, o Options) (Backend, error)
}

// Options are what the Runner gives to a tier that starts.
type Options struct {
	Policy policy.Policy
	// Idle is how many sandboxes wait for a guest; 0 means the tier's default.
	Idle int
	// Load counts the runs of all tiers of a Runner.
	Load *Load
	// OneShot says that there will be one run.
	OneShot bool
	// Language is by which rules the first run goes.
	Language policy.LanguagePreset
	// Workspaces are directories that commands will write to.
	Workspaces []string
}

// Feature names what only some tiers offer. A tier that offers one implements its interface.
type Feature string

// The features.
const (
	Hooks       Feature = "hooks"       // OpenHook
	Checks      Feature = "checks"      // Check
	Modules     Feature = "modules"     // OpenModule
	Sessions    Feature = "sessions"    // SessionOpener
	Tools       Feature = "tools"       // scripts and modules can call functions of the host
	Determinism Feature = "determinism" // the same input gives the same bytes
	// ModuleRules are applied to scripts. A policy that has some refuses all other tiers.
	ModuleRules Feature = "module_rules"
)

// Tiers are the registered tiers, the weakest first. Where two serve, the first is taken.
type Tiers []Tier

// Started are the names of the tiers that this build can start.
func (ts Tiers) Started() (names []policy.Tier) {
	for _, t := range ts {
		if t.Start != nil {
			names = append(names, t.Name)
		}
	}
	return names
}

// For are the names of the tiers that run a kind of request, started or not.
func (ts Tiers) For(kind policy.Guest) (names []policy.Tier) {
	for _, t := range ts {
		if slices.Contains(t.Runs, kind) {
			names = append(names, t.Name)
		}
	}
	return names
}

// Offers says whether a tier has a feature.
func (ts Tiers) Offers(name policy.Tier, f Feature) bool {
	i := slices.IndexFunc(ts, func(t Tier) bool { return t.Name == name })
	return i >= 0 && slices.Contains(ts[i].Offers, f)
}

// Offering is the first tier that can be started and has a feature; empty if none has.
func (ts Tiers) Offering(f Feature) policy.Tier {
	for _, t := range ts {
		if t.Start != nil && slices.Contains(t.Offers, f) {
			return t.Name
		}
	}
	return ""
}

// available are the tiers that can be started and run a kind of request.
func (ts Tiers) available(kind policy.Guest) (names []policy.Tier) {
	for _, t := range ts {
		if t.Start != nil && slices.Contains(t.Runs, kind) {
			names = append(names, t.Name)
		}
	}
	return names
}

// enough are the tiers that are strong enough for code.
func (ts Tiers) enough(trust policy.Trust) (names []policy.Tier) {
	for _, t := range ts {
		if !t.Trust.Exceeds(trust) {
			names = append(names, t.Name)
		}
	}
	return names
}

// chosen are the tiers from which cordon chooses when a request names none: of those that
// are strong enough, the ones made for the most trusted code. User code does not move to a
// stronger tier in silence where its own is missing.
func (ts Tiers) chosen(kind policy.Guest, trust policy.Trust) (names []policy.Tier) {
	var level policy.Trust
	for _, t := range ts {
		if t.Trust.Exceeds(trust) || len(t.Runs) == 0 || slices.Contains(t.ByName, kind) {
			continue
		}
		if kind != policy.GuestScript && !slices.Contains(t.Runs, kind) {
			continue
		}
		if level == "" {
			level = t.Trust
		}
		if t.Trust == level {
			names = append(names, t.Name)
		}
	}
	return names
}

// Describe lists the tiers that this build can start, with what they run.
func (ts Tiers) Describe() string {
	var words []string
	for _, t := range ts {
		if t.Start == nil {
			continue
		}
		var runs []string
		for _, kind := range t.Runs {
			runs = append(runs, string(kind)+"s")
		}
		words = append(words, string(t.Name)+" ("+strings.Join(runs, " and ")+")")
	}
	return strings.Join(words, ", ")
}
