package policy

import (
	"fmt"
	"slices"
	"strings"
)

// Tier names a kind of isolation. The zero value lets cordon choose.
type Tier string

// The tiers, from the cheapest to the strongest.
const (
	TierWasm    Tier = "wasm"
	TierHook    Tier = "hook"
	TierProcess Tier = "process"
	TierJail    Tier = "jail"
	TierGVisor  Tier = "gvisor"
)

// Tiers lists the tiers in the order in which the command line names them.
func Tiers() []Tier { return []Tier{TierWasm, TierHook, TierProcess, TierJail, TierGVisor} }

// ParseTier parses a tier's name. An empty one gives the zero value.
func ParseTier(name string) (Tier, error) {
	if t := Tier(name); t == "" || slices.Contains(Tiers(), t) {
		return t, nil
	}
	return "", fmt.Errorf("tier %q does not exist: the tiers are %s", name, join(Tiers()))
}

// Trust is the origin of a request's code. The zero value means TrustUser.
type Trust string

// Origins, from the most to the least trusted.
const (
	TrustPlatform   Trust = "platform"    // written by the operator of cordon
	TrustUser       Trust = "user"        // written by a user or a model
	TrustThirdParty Trust = "third-party" // written by strangers, such as packages
)

// Trusts lists the origins, the most trusted first.
func Trusts() []Trust { return []Trust{TrustPlatform, TrustUser, TrustThirdParty} }

// ParseTrust parses an origin. An empty name gives the zero value.
func ParseTrust(name string) (Trust, error) {
	if t := Trust(name); t == "" || slices.Contains(Trusts(), t) {
		return t, nil
	}
	return "", fmt.Errorf("trust %q does not exist: the origins are %s", name, join(Trusts()))
}

// OrUser returns t, or TrustUser for the zero value.
func (t Trust) OrUser() Trust {
	if t == "" {
		return TrustUser
	}
	return t
}

// Exceeds reports whether t is more trusted than most.
func (t Trust) Exceeds(most Trust) bool {
	return slices.Index(Trusts(), t.OrUser()) < slices.Index(Trusts(), most.OrUser())
}

// OutputAction is what happens to a guest that writes more than its output limit.
type OutputAction string

// The zero value means OutputTruncate.
const (
	OutputTruncate OutputAction = "truncate" // the rest is counted and dropped
	OutputKill     OutputAction = "kill"     // the run ends at once
)

// ParseOutputAction parses an action. An empty name gives the zero value.
func ParseOutputAction(name string) (OutputAction, error) {
	switch a := OutputAction(name); a {
	case "", OutputTruncate, OutputKill:
		return a, nil
	}
	return "", fmt.Errorf("on_output_limit %q does not exist: write truncate or kill", name)
}

func join[T ~string](names []T) string {
	s := make([]string, len(names))
	for i, n := range names {
		s[i] = string(n)
	}
	return strings.Join(s, ", ")
}
