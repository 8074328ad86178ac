package run

import (
	"github.com/cordon-sandbox/cordon/policy"
)

// HookSpec describes a hook: a script that is compiled once and called many times. The
// language rules apply to it, in addition to all the walls.
//
// A hook has one of two forms. Either it reads game_state and mod_config and puts its
// answer into result["output"], or it defines functions that are called by name. It
// can use the modules math and random without importing them.
type HookSpec struct {
	// Script is Python source.
	Script string `json:"script"`
	// Name is shown in tracebacks instead of "<hook>".
	Name string `json:"name,omitempty"`
	// Trust is the origin of the script. Empty means TrustUser: each call gets its
	// own process. Calls of a platform hook share processes, and only the language
	// rules separate one call from the next.
	Trust policy.Trust `json:"trust,omitempty"`
	// Limits are the limits of a call. Zero fields mean DefaultCallLimits, then
	// those of the policy.
	Limits policy.Limits `json:"limits,omitzero"`
	// Workers is how many calls may run at once; 0 means twice the cores.
	Workers int `json:"workers,omitempty"`
}

// Validate checks everything that needs no policy.
func (h HookSpec) Validate() error {
	if err := validateScript(h.Script, h.Name); err != nil {
		return err
	}
	if h.Workers < 0 {
		return invalid("workers", "%d: leave it out for the default, or give a positive one", h.Workers)
	}
	if _, err := policy.ParseTrust(string(h.Trust)); err != nil {
		return Wrap(Invalid, err)
	}
	return nil
}

// Check is a script to check by the language rules, without running it.
type Check struct {
	Script string `json:"script"`
	Name   string `json:"name,omitempty"`
	// Preset selects the allowed modules. Empty means the policy's preset for scripts.
	Preset policy.LanguagePreset `json:"preset,omitempty"`
}

// Validate checks everything that needs no interpreter.
func (c Check) Validate() error {
	if err := validateScript(c.Script, c.Name); err != nil {
		return err
	}
	if _, err := policy.ParseLanguagePreset(string(c.Preset)); err != nil {
		return Wrap(Invalid, err)
	}
	return nil
}
