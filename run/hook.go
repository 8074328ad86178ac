package run

import (
	"github.com/cordon-sandbox/cordon/policy"
)

// HookSpec says what to open as a hook: a script that is compiled once and called many times. It goes by the
// language rules, on top of all the walls.
//
// It has one of two forms. Either it reads game_state and mod_config, and leaves
// its answer in result["output"]; or it defines functions, which are called by
// their names. The modules math and random are there without an import.
type HookSpec struct {
	// Script is Python source.
	Script string `json:"script"`
	// Name is shown in tracebacks instead of "<hook>".
	Name string `json:"name,omitempty"`
	// Trust says where the script comes from. Empty means a user: each call gets a
	// process of its own. Calls of a platform hook share processes, and only the
	// language rules stand between one call and the next.
	Trust policy.Trust `json:"trust,omitempty"`
	// Limits are those of a call; zero fields mean DefaultCallLimits, and then
	// the policy's own.
	Limits policy.Limits `json:"limits,omitzero"`
	// Workers is how many calls may run at once; 0 means twice the cores.
	Workers int `json:"workers,omitempty"`
}

// Validate checks what can be checked without a policy.
func (h HookSpec) Validate() error {
	if err := validateScript(h.Script, h.Name); err != nil {
		return err
	}
	if h.Workers < 0 {
		return Errorf(Invalid, "workers is %d: leave it out for the default, or give a positive one", h.Workers)
	}
	if _, err := policy.ParseTrust(string(h.Trust)); err != nil {
		return Wrap(Invalid, err)
	}
	return nil
}

// Check is a script for the language rules to judge.
type Check struct {
	Script string `json:"script"`
	Name   string `json:"name,omitempty"`
	// Preset is whose modules are allowed; empty means that of the policy for scripts.
	Preset policy.LanguagePreset `json:"preset,omitempty"`
}

// Validate checks what can be checked without an interpreter.
func (c Check) Validate() error {
	if err := validateScript(c.Script, c.Name); err != nil {
		return err
	}
	if _, err := policy.ParseLanguagePreset(string(c.Preset)); err != nil {
		return Wrap(Invalid, err)
	}
	return nil
}
