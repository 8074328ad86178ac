package backend

import (
	"slices"

	"github.com/cordon-sandbox/cordon/policy"
)

// ChosenPreload returns the modules that the operator chose to preload. It is not nil. The
// default list, which presets fill in, saves time only if several guests share it.
func ChosenPreload(p policy.Policy) []string {
	if p.Preload == nil || slices.Equal(p.Preload, policy.DefaultPreload()) {
		return []string{}
	}
	return p.Preload
}
