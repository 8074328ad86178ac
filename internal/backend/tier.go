package backend

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/cordon-sandbox/cordon/policy"
)

// Tier registers one tier: all that the Runner, the selection, the permits of callers and
// doctor need to know about it. internal/tiers has the list.
type Tier struct {
	Name policy.Tier
	// Runs is what runs there.
	Runs []policy.Guest
	// ByName is the part of Runs for which a request has to name the tier.
	ByName []policy.Guest
	// Trust is the least trusted code that the tier is strong enough for.
	Trust policy.Trust
	// Offers is what the tier has beyond runs.
	Offers []Feature
	// Within is the tier that starts this one; empty means that it has its own Start.
	Within policy.Tier
	// Lacks says why guests of a policy cannot run there on this host, as far as that is known
	// without starting anything. A nil function means that nothing is lacking.
	Lacks func(policy.Policy) error
	// Start starts it; nil means that another tier does, or that this build knows the name alone.
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
	Snapshots   Feature = "snapshots"   // SnapshotLoader
	Tools       Feature = "tools"       // scripts and modules can call functions of the host
	Files       Feature = "files"       // scripts have files in /work, and leave some there
	Determinism Feature = "determinism" // the same input gives the same bytes
	// ModuleRules are applied to Python. A policy that has some refuses all other tiers.
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

// Here are the names of those that also have what they need on this host, for some policy.
func (ts Tiers) Here() []policy.Tier {
	return slices.DeleteFunc(ts.Started(), func(name policy.Tier) bool { return ts.lacks(name, policy.Policy{}) != nil })
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
	return slices.Contains(ts.named(name).Offers, f)
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

// Starter is the tier with whose backend a tier is started.
func (ts Tiers) Starter(name policy.Tier) policy.Tier {
	return cmp.Or(ts.named(name).Within, name)
}

// MadeFor is the least trusted code that a tier is made for.
func (ts Tiers) MadeFor(name policy.Tier) policy.Trust { return ts.named(name).Trust }

func (ts Tiers) named(name policy.Tier) Tier {
	i := slices.IndexFunc(ts, func(t Tier) bool { return t.Name == name })
	if i < 0 {
		return Tier{}
	}
	return ts[i]
}

// lacks says why a tier cannot run guests of a policy here; nil means that it can.
func (ts Tiers) lacks(name policy.Tier, p policy.Policy) error {
	switch t := ts.named(ts.Starter(name)); {
	case t.Start == nil:
		return errors.New("it is not in this build")
	case t.Lacks != nil:
		return t.Lacks(p)
	}
	return nil
}

// available are the tiers that can run a kind of guest under a policy.
func (ts Tiers) available(kind policy.Guest, p policy.Policy) (names []policy.Tier) {
	for _, t := range ts {
		if slices.Contains(t.Runs, kind) && ts.lacks(t.Name, p) == nil {
			names = append(names, t.Name)
		}
	}
	return names
}

// enough are the tiers that run a kind of guest and are made for code that is trusted this much.
func (ts Tiers) enough(kind policy.Guest, trust policy.Trust) (names []policy.Tier) {
	for _, t := range ts {
		if slices.Contains(t.Runs, kind) && !t.Trust.Exceeds(trust) {
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
		if t.Trust.Exceeds(trust) || !slices.Contains(t.Runs, kind) || slices.Contains(t.ByName, kind) {
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

// GuestWord names a kind of guest for people, who open hooks and call them.
func GuestWord(kind policy.Guest) string {
	if kind == policy.GuestCall {
		return "hook"
	}
	return string(kind)
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
			runs = append(runs, GuestWord(kind)+"s")
		}
		words = append(words, string(t.Name)+" ("+strings.Join(runs, " and ")+")")
	}
	return strings.Join(words, ", ")
}
