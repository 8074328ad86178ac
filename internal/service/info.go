package service

import (
	"slices"

	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/internal/token"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Info says what somebody may do here, so that people and models can plan.
type Info struct {
	Version string `json:"version"`
	// Tiers are those that work here and that the caller may name.
	Tiers []policy.Tier `json:"tiers"`
	// Python is the version that scripts run with, and Packages what is installed beside
	// it; a restricted script may import Modules alone.
	Python   string   `json:"python"`
	Packages []string `json:"packages"`
	// Limits are what a run gets that asks for nothing, and Maxima the most that it may
	// ask for.
	Limits policy.Limits `json:"limits"`
	Maxima policy.Limits `json:"maxima"`
	// Restricted says that every script goes by the language rules.
	Restricted bool `json:"restricted"`
	// Modules are those that a restricted script may import.
	Modules []string `json:"modules"`
	// Commands says that commands may be run, and not scripts alone.
	Commands bool `json:"commands"`
	// Hosts can be reached from inside; none as a rule.
	Hosts       []string        `json:"hosts"`
	Enforcement run.Enforcement `json:"enforcement"`
}

// abilities are the Runner's, if it knows them.
func (s *Service) abilities() (a observe.Abilities, known bool) {
	if able, ok := s.Runner.(interface{ Abilities() observe.Abilities }); ok {
		return able.Abilities(), true
	}
	return a, false
}

// Info gives what is true for one caller.
func (s *Service) Info(who token.Caller) Info {
	p, most := s.policy, s.most(who)
	i := Info{
		Version: s.Version, Tiers: s.Runner.Tiers(), Limits: p.Limits.Capped(most), Maxima: most,
		Restricted: p.Restricts() || who.Ceiling.Restricted,
		Commands:   s.mayCommand(who),
		Modules:    []string{}, Hosts: []string{}, Enforcement: s.Runner.Enforcement(),
	}
	if allowed := who.Ceiling.Tiers; len(allowed) > 0 {
		i.Tiers = slices.DeleteFunc(slices.Clone(i.Tiers), func(t policy.Tier) bool { return !slices.Contains(allowed, t) })
		_, err := permitTier(who, run.Request{Command: run.Command{Args: []string{"any"}}})
		i.Commands = i.Commands && err == nil
	}
	abilities, known := s.abilities()
	i.Python, i.Packages = abilities.Python, append([]string{}, abilities.Packages...)
	i.Tiers = slices.DeleteFunc(slices.Clone(i.Tiers), func(t policy.Tier) bool {
		return t == policy.TierJail && !i.Commands || t == policy.TierWasm && known && !abilities.WasmScripts
	})
	i.Modules = append(i.Modules, p.Allowed(p.ScriptRules()).Modules...)
	i.Hosts = append(i.Hosts, p.AllowNet...)
	return i
}
