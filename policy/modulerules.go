package policy

import (
	"errors"
	"maps"
	"slices"
	"strings"
)

// AnyModule is the name of the rule for modules that have no rule of their own.
const AnyModule = "*"

// ModuleRule narrows, for one imported module of a script, what the policy grants. In
// each list, nil means what the policy grants, and an empty list means nothing.
type ModuleRule struct {
	// AllowNet lists the destinations that the module may connect to.
	AllowNet []string
	// Read lists the paths that the module may read, of those in the policy's Read. The
	// interpreter's files, the packages in its directories and /tmp are not concerned.
	Read []string
}

// ModuleRuleFor returns the rule for a module, and the name of the rule: that of the
// module or of the nearest package that contains it, else AnyModule. The name is empty if
// there is none, and the policy alone applies.
func (p Policy) ModuleRuleFor(module string) (name string, rule ModuleRule) {
	for name = module; name != ""; {
		if rule, has := p.ModuleRules[name]; has {
			return name, rule
		}
		name = name[:max(strings.LastIndexByte(name, '.'), 0)]
	}
	if rule, has := p.ModuleRules[AnyModule]; has {
		return AnyModule, rule
	}
	return "", ModuleRule{}
}

// moduleRuleKey is the key of a rule in a policy file.
func moduleRuleKey(name string) string { return "module_rules." + name }

func checkModuleRules(p Policy, found *problems) {
	granted, err := p.NetGrants()
	if err != nil {
		granted = nil // reported by the check of allow_net
	}
	for _, name := range slices.Sorted(maps.Keys(p.ModuleRules)) {
		rule, key := p.ModuleRules[name], moduleRuleKey(name)
		switch {
		case name == "__main__":
			found.add(key, errors.New("is the script itself, not a module: the policy is its rule"))
		case name != AnyModule && !isModuleName(name):
			found.addItem(key, name, `%s is not a module name: write one like requests or google.cloud, or "*" for all others`, quote(name))
		case rule.AllowNet == nil && rule.Read == nil:
			found.add(key, errors.New("has no rule: write allow_net or read, with [] for nothing"))
		}
		for _, text := range rule.AllowNet {
			grant, problem := ParseNetGrant(text)
			switch {
			case problem != nil:
				found.addItem(key+".allow_net", text, "%w", problem)
			case err == nil && !grant.within(granted):
				found.addItem(key+".allow_net", text, "%s is not in the policy's allow_net: a module rule can only narrow it", quote(text))
			}
		}
		for _, path := range rule.Read {
			if problem := checkPath(path); problem != nil {
				found.addItem(key+".read", path, "%w", problem)
			} else if !slices.ContainsFunc(p.Read, func(root string) bool { return path == root || strings.HasPrefix(path, root+"/") }) {
				found.addItem(key+".read", path, "%s is not in the policy's read: a module rule can only narrow it", quote(path))
			}
		}
	}
}

// DocumentModuleRule is a ModuleRule in a document. Its lists are pointers because an
// empty list means nothing and a missing one means what the policy grants.
type DocumentModuleRule struct {
	AllowNet *[]string `json:"allow_net,omitempty" yaml:"allow_net,omitempty,flow"`
	Read     *[]string `json:"read,omitempty" yaml:"read,omitempty,flow"`
}

func moduleRules(rules map[string]DocumentModuleRule) map[string]ModuleRule {
	made := map[string]ModuleRule{}
	for name, rule := range rules {
		made[name] = ModuleRule{AllowNet: listOf(rule.AllowNet), Read: listOf(rule.Read)}
	}
	return made
}

func documentModuleRules(rules map[string]ModuleRule) map[string]DocumentModuleRule {
	if len(rules) == 0 {
		return nil
	}
	made := map[string]DocumentModuleRule{}
	for name, rule := range rules {
		made[name] = DocumentModuleRule{AllowNet: pointerTo(rule.AllowNet), Read: pointerTo(rule.Read)}
	}
	return made
}

// listOf copies a list. The copy of an empty one is not nil.
func listOf(list *[]string) []string {
	if list == nil {
		return nil
	}
	return append([]string{}, *list...)
}

func pointerTo(list []string) *[]string {
	if list == nil {
		return nil
	}
	return &list
}
