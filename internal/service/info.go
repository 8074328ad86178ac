package service

import (
	"slices"

	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/internal/token"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Info describes what a caller may do, so that people and models can plan.
type Info struct {
	Version string `json:"version"`
	// Tiers are the tiers that work on this host and that the caller may use.
	Tiers []policy.Tier `json:"tiers"`
	// Python is the version that scripts run with, and Packages are the packages installed
	// for it. A restricted script may import only Modules.
	Python   string   `json:"python"`
	Packages []string `json:"packages"`
	// Limits are the limits of a run that sets none, and Maxima the highest that it may
	// set.
	Limits policy.Limits `json:"limits"`
	Maxima policy.Limits `json:"maxima"`
	// Restricted means that every script must follow the language rules.
	Restricted bool `json:"restricted"`
	// Modules are the modules that a restricted script may import.
	Modules []string `json:"modules"`
	// Commands means that the caller may run commands as well as scripts.
	Commands bool `json:"commands"`
	// Hosts are the hosts that a run can reach; usually there are none.
	Hosts       []string        `json:"hosts"`
	Enforcement run.Enforcement `json:"enforcement"`
}

// abilities returns the Runner's abilities. known is false if the Runner does not report
// them.
func (s *Service) abilities() (a observe.Abilities, known bool) {
	if able, ok := s.Runner.(interface{ Abilities() observe.Abilities }); ok {
		return able.Abilities(), true
	}
	return a, false
}

// Info returns the Info for a caller.
func (s *Service) Info(who token.Caller) Info {
	p, maxima := s.policy, s.maxima(who)
	i := Info{
		Version: s.Version, Tiers: s.Runner.Tiers(), Limits: p.Limits.Capped(maxima), Maxima: maxima,
		Restricted: p.Restricts() || who.Ceiling.Restricted,
		Commands:   s.mayCommand(who),
		Modules:    []string{}, Hosts: []string{}, Enforcement: s.Runner.Enforcement(),
	}
	if allowed := who.Ceiling.Tiers; len(allowed) > 0 {
		i.Tiers = slices.DeleteFunc(slices.Clone(i.Tiers), func(t policy.Tier) bool { return !slices.Contains(allowed, t) })
		_, err := s.permitTier(who, run.Request{Command: run.Command{Args: []string{"any"}}})
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
