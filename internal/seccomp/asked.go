package seccomp

import "sync"

// askedRules has the rules with the action Ask, by call.
var askedRules = sync.OnceValue(func() map[string][]Rule {
	rules := map[string][]Rule{}
	for _, g := range RulesOf(Unscoped) { // has all of them
		if g.Then == Ask {
			for _, r := range g.Rules {
				rules[r.Call] = append(rules[r.Call], r)
			}
		}
	}
	return rules
})

// Asked reports whether a call that the filter of a command without namespaces passed to the host is
// for the host to answer; otherwise it is denied.
func Asked(nr int, args [6]uint64) bool {
	for _, r := range askedRules()[Name(nr)] {
		if r.When.Holds(args) {
			return true
		}
	}
	return false
}
