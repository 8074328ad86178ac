// Package tuning names the optimizations of the process tier that change only how fast it
// is, so that the bench can leave each of them out and measure what it gives. They cost
// code: one that the bench does not show is to be deleted.
package tuning

// Set is some optimizations.
type Set uint8

// The optimizations.
const (
	// Bytecode compiles the bootstrap and the language rules ahead (internal/zygote/bytecode.go).
	Bytecode Set = 1 << iota
	// CodeCache compiles a script that comes again once (internal/zygote/codes.go).
	CodeCache
	// LargePages moves the interpreter's code into large pages (internal/zygote/code_linux.go).
	LargePages
	// Polling looks for the answer of a short run without sleeping
	// (internal/zygote/conversation_linux.go).
	Polling

	// All are all of them.
	All = Bytecode | CodeCache | LargePages | Polling
)

// Has says whether all of some are in the set.
func (s Set) Has(some Set) bool { return s&some == some }

// Named is an optimization with its name.
type Named struct {
	Name string
	Set
}

// Each gives all optimizations one by one.
func Each() []Named {
	return []Named{
		{"bytecode", Bytecode}, {"code cache", CodeCache}, {"large pages", LargePages}, {"polling", Polling},
	}
}
