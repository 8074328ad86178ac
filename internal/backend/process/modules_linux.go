package process

import (
	"github.com/cordon-sandbox/cordon/internal/egress"
	"github.com/cordon-sandbox/cordon/internal/zygote"
	"github.com/cordon-sandbox/cordon/policy"
)

// watchesModules reports whether the policy has rules for imported modules.
func (b *Backend) watchesModules() bool { return len(b.options.Policy.ModuleRules) > 0 }

// moduleRules returns the rules for the audit hook in the guests, or nil.
func (b *Backend) moduleRules() *zygote.Modules {
	if !b.watchesModules() {
		return nil
	}
	return &zygote.Modules{Granted: b.options.Policy.Read, Rules: b.options.Policy.ModuleRules, Proxy: egress.GuestAddress}
}

// networkRule returns the destinations of a module, or nil if the policy's apply.
func (b *Backend) networkRule(module string) *egress.Rule {
	name, rule := b.options.Policy.ModuleRuleFor(module)
	if rule.AllowNet == nil {
		return nil
	}
	return &egress.Rule{Name: name, Grants: b.moduleGrants[name]}
}

// moduleGrants parses the destinations of all rules.
func moduleGrants(rules map[string]policy.ModuleRule) (map[string][]policy.NetGrant, error) {
	parsed := map[string][]policy.NetGrant{}
	for name, rule := range rules {
		grants, err := policy.Policy{AllowNet: rule.AllowNet}.NetGrants()
		if err != nil {
			return nil, err
		}
		parsed[name] = grants
	}
	return parsed, nil
}
