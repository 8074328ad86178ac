package seccomp

import (
	"strings"
	"sync"
)

// advice is one sentence for a family of calls: what the denial means, and what
// to do instead. Its reader is often a model that will otherwise try the next
// library or tool with the same need.
type advice struct {
	hint  string
	calls string // names, separated by spaces; checked by a test
}

// hintTables is the advices of each profile by call. Built once, on first use.
var hintTables = sync.OnceValue(func() map[Profile]map[string]string {
	tables := make(map[Profile]map[string]string)
	for profile, advices := range map[Profile][]advice{Script: scriptAdvices, Command: commandAdvices, Watched: watchedAdvices} {
		tables[profile] = make(map[string]string)
		for _, a := range advices {
			for _, call := range strings.Fields(a.calls) {
				tables[profile][call] = a.hint
			}
		}
	}
	return tables
})

// Hint is one plain sentence for the person or model whose script or command was
// blocked: what it means and what to do instead. op is what [Describe] returned.
func Hint(profile Profile, op string) string {
	if hint, ok := hintTables()[profile][op]; ok {
		return hint
	}
	if profile == Script {
		return scriptOtherHint
	}
	return commandOtherHint
}
