package backend

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Ask is a question about one guest: which tier runs it?
type Ask struct {
	// System is the operating system, as runtime.GOOS names it.
	System string
	Policy policy.Policy
	Guest  policy.Guest
	// Tier is the one that the request names. If it is empty, cordon chooses.
	Tier policy.Tier
	// Trust is what the request claims. An empty one claims nothing: it means user code, or
	// less where the policy grants less, so that an operator can lower the trust of every
	// request without a change to any.
	Trust policy.Trust
}

// Choice is the tier of a guest, and why.
type Choice struct {
	Tier policy.Tier
	// Trust is the origin for which the tier was chosen.
	Trust policy.Trust
	// ThirdParty is the policy's third_party, if the tier is allowed only by that.
	ThirdParty policy.Tier
}

// Select chooses the tier of a guest: pure, from what the policy grants, what the request
// asks for and what this build can do. It is the only place where trust decides.
func (ts Tiers) Select(a Ask) (Choice, error) {
	if err := ts.fits(a.Guest, a.Tier); err != nil {
		return Choice{}, err
	}
	if python := a.Guest == policy.GuestScript || a.Guest == policy.GuestCall; a.Policy.Restricts() && !python {
		return Choice{}, run.Errorf(run.Invalid, "the policy requires the language rules of all code, and only scripts and hooks can go by them")
	}
	trust, err := a.origin()
	if err != nil {
		return Choice{}, err
	}
	chosen := Choice{Trust: trust}
	if chosen.Tier, err = ts.choose(a, trust); err != nil {
		return Choice{}, err
	}
	if !slices.Contains(ts.enough(a.Guest, trust), chosen.Tier) {
		chosen.ThirdParty = a.Policy.ThirdParty
	}
	if len(a.Policy.ModuleRules) > 0 && !ts.Offers(chosen.Tier, ModuleRules) {
		return Choice{}, run.Errorf(run.Unsupported, "the policy has module_rules, which apply to Python on tier %q, and this is a %s on tier %q: use a policy without them for it",
			ts.Offering(ModuleRules), GuestWord(a.Guest), chosen.Tier)
	}
	return chosen, nil
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

// origin checks the names, and returns what the guest is trusted as.
func (a Ask) origin() (policy.Trust, error) {
	for _, trust := range []policy.Trust{a.Policy.Trust, a.Trust} {
		if _, err := policy.ParseTrust(string(trust)); err != nil {
			return "", run.Wrap(run.Invalid, err)
		}
	}
	if _, err := policy.ParseTier(string(a.Tier)); err != nil {
		return "", run.Wrap(run.Invalid, err)
	}
	granted := a.Policy.Trust.OrUser()
	if a.Guest == policy.GuestCall && granted != policy.TrustThirdParty {
		granted = policy.TrustPlatform // the operator opens hooks: see Runner.OpenHook
	}
	switch trust := a.Trust.OrUser(); {
	case !trust.Exceeds(granted):
		return trust, nil
	case a.Trust == "":
		return granted, nil
	}
	return "", run.Errorf(run.Invalid,
		"trust %q is more than the policy grants: it trusts code no further than %q", a.Trust, granted)
}

// choose prefers the weakest tier that is made for such code, since it is the fastest. Third-party
// code gets the strongest one, and the policy's exception only where there is none.
func (ts Tiers) choose(a Ask, trust policy.Trust) (policy.Tier, error) {
	able := ts.For(a.Guest)
	wanted, allowed := ts.chosen(a.Guest, trust), ts.enough(a.Guest, trust)
	strangers := trust == policy.TrustThirdParty
	if strangers {
		if a.System != "linux" {
			return "", refuseStrangers(a.System)
		}
		slices.Reverse(wanted)
		if exception := a.Policy.ThirdParty; slices.Contains(able, exception) {
			wanted, allowed = append(wanted, exception), slices.Insert(allowed, 0, exception)
		}
	}
	if a.Tier != "" {
		if slices.Contains(able, a.Tier) && !slices.Contains(allowed, a.Tier) {
			return "", tooWeak(a.Tier, trust, allowed, ts.available(a.Guest, a.Policy))
		}
		wanted = []policy.Tier{a.Tier}
	}
	for _, t := range wanted {
		if slices.Contains(able, t) && ts.lacks(t, a.Policy) == nil {
			return t, nil
		}
	}
	available := ts.available(a.Guest, a.Policy)
	if strangers && a.Tier == "" && !intersect(allowed, available) {
		return "", ts.noneForStrangers(a.Guest, a.Policy)
	}
	return "", ts.unavailable(wanted[0], a, available)
}

func tooWeak(tier policy.Tier, trust policy.Trust, allowed, available []policy.Tier) error {
	if !intersect(allowed, available) {
		return run.Errorf(run.Invalid, "tier %q is below what %s code needs, and no other tier is enough for it here", tier, trust)
	}
	return run.Errorf(run.Invalid, "tier %q is below what %s code needs: the lowest allowed is %q", tier, trust, allowed[0])
}

func intersect(a, b []policy.Tier) bool {
	return slices.ContainsFunc(a, func(t policy.Tier) bool { return slices.Contains(b, t) })
}

// refuseStrangers refuses third-party code on systems whose walls are not enough for it:
// what Seatbelt and job objects leave open (mach services, the whole of the system call
// table, other processes' names) is more than a stranger may have.
func refuseStrangers(system string) error {
	return run.Errorf(run.Unsupported, "third-party code is refused here: the walls of %s are not strong enough for it. "+
		"A Linux virtual machine is, with cordon inside (deploy/lima.yaml has one for macOS; on Windows, WSL 2 is one); "+
		"Python and modules that you trust like a user's can run on tier wasm, which is the same on every system", systemNames[system])
}

// systemNames are for people.
var systemNames = map[string]string{"darwin": "macOS", "windows": "Windows"}

// noneForStrangers says why third-party code cannot run as what it is, and what can be done.
func (ts Tiers) noneForStrangers(kind policy.Guest, p policy.Policy) error {
	if kind == policy.GuestModule {
		return run.Errorf(run.Unsupported, "third-party code cannot be a module: it would run inside of cordon's own process")
	}
	word := GuestWord(kind)
	reason := "no tier that runs " + word + "s is made for it"
	for _, t := range ts {
		if t.Trust == policy.TrustThirdParty && slices.Contains(t.Runs, kind) {
			reason = fmt.Sprintf("it needs tier %q, which is not available: %v", t.Name, ts.lacks(t.Name, p))
		}
	}
	return run.Errorf(run.Unsupported, "third-party code cannot be a %s: %s. "+
		`If the walls for users' code are enough, write "third_party: process" into the policy`, word, reason)
}

func (ts Tiers) unavailable(tier policy.Tier, a Ask, available []policy.Tier) error {
	names := make([]string, len(available))
	for i, t := range available {
		names[i] = string(t)
	}
	if len(names) == 0 {
		names = []string{"none"}
	}
	reason := "it runs no " + GuestWord(a.Guest) + "s"
	if err := ts.lacks(tier, a.Policy); err != nil {
		reason = err.Error()
	}
	return run.Errorf(run.Unsupported, "tier %q is not available: %s; available: %s", tier, reason, strings.Join(names, ", "))
}
