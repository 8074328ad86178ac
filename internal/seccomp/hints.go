package seccomp

import (
	"strings"
	"sync"

	"github.com/cordon-sandbox/cordon/internal/hints"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// advice is the hint for a family of calls. internal/hints has its words.
type advice struct {
	hint  run.HintCode
	calls string // names, separated by spaces; checked by a test
}

// hintTables is the advices of each profile by call. Built once, on first use.
var hintTables = sync.OnceValue(func() map[Profile]map[string]run.HintCode {
	tables := make(map[Profile]map[string]run.HintCode)
	for profile, advices := range map[Profile][]advice{Script: scriptAdvices, Networked: scriptAdvices, Command: commandAdvices, Watched: watchedAdvices, Shared: sharedAdvices, Unscoped: unscopedAdvices} {
		tables[profile] = make(map[string]run.HintCode)
		for _, a := range advices {
			for _, call := range strings.Fields(a.calls) {
				tables[profile][call] = a.hint
			}
		}
	}
	return tables
})

// Violation is the attempt to make a call that the filter of a profile denies.
func Violation(profile Profile, number int, args [6]uint64) run.Violation {
	v := run.Violation{Wall: policy.WallSeccomp}
	v.Op, v.Detail = Describe(number, args)
	return hints.Give(v, hintFor(profile, v.Op), nil)
}

// hintFor is the hint for a call, by the name that [Describe] returned.
func hintFor(profile Profile, op string) run.HintCode {
	if hint, ok := hintTables()[profile][op]; ok {
		return hint
	}
	if profile == Script || profile == Networked {
		return hints.ScriptOther
	}
	return hints.CommandOther
}
