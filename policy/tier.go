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

// Tiers in the order of their names on the command line.
func Tiers() []Tier { return []Tier{TierWasm, TierHook, TierProcess, TierJail, TierGVisor} }

// ParseTier reads a tier's name; the empty one is the zero value.
func ParseTier(name string) (Tier, error) {
	if t := Tier(name); t == "" || slices.Contains(Tiers(), t) {
		return t, nil
	}
	return "", fmt.Errorf("tier %q does not exist: the tiers are %s", name, join(Tiers()))
}

// Trust says where the code of a request comes from. The zero value means
// TrustUser.
type Trust string

// Origins, from the most to the least trusted.
const (
	TrustPlatform   Trust = "platform"    // written by whoever operates cordon
	TrustUser       Trust = "user"        // written by a user or a model
	TrustThirdParty Trust = "third-party" // packages from strangers
)

// Trusts from the most to the least trusted.
func Trusts() []Trust { return []Trust{TrustPlatform, TrustUser, TrustThirdParty} }

// ParseTrust reads an origin; the empty one is the zero value.
func ParseTrust(name string) (Trust, error) {
	if t := Trust(name); t == "" || slices.Contains(Trusts(), t) {
		return t, nil
	}
	return "", fmt.Errorf("trust %q does not exist: the origins are %s", name, join(Trusts()))
}

// OrUser resolves the zero value.
func (t Trust) OrUser() Trust {
	if t == "" {
		return TrustUser
	}
	return t
}

// Exceeds reports whether t claims more trust than most grants.
func (t Trust) Exceeds(most Trust) bool {
	return slices.Index(Trusts(), t.OrUser()) < slices.Index(Trusts(), most.OrUser())
}

// OutputAction says what happens to a guest that writes more than its limit.
type OutputAction string

// The zero value means OutputTruncate.
const (
	OutputTruncate OutputAction = "truncate" // the rest is counted and dropped
	OutputKill     OutputAction = "kill"     // the run ends at once
)

// ParseOutputAction reads an action; the empty one is the zero value.
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
