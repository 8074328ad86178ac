// Package tuning names the optimizations of the process tier that change only its speed, so
// that the bench can turn off each of them and measure its effect. An optimization without
// an effect in the bench must be deleted.
package tuning

// Set is a set of optimizations.
type Set uint8

// The optimizations.
const (
	// Bytecode compiles the bootstrap and the language rules ahead of time (internal/zygote/bytecode.go).
	Bytecode Set = 1 << iota
	// CodeCache keeps the compiled code of scripts that run again (internal/zygote/codes.go).
	CodeCache
	// LargePages moves the interpreter's code into large pages (internal/zygote/code_linux.go).
	LargePages
	// Polling waits for the answer of a short run without sleeping
	// (internal/zygote/conversation_linux.go).
	Polling
	// Limits sets the limits of a guest from outside (internal/zygote/rlimits_linux.go).
	Limits

	// All is the set of all optimizations.
	All = Bytecode | CodeCache | LargePages | Polling | Limits
)

// Has reports whether the set contains all of some.
func (s Set) Has(some Set) bool { return s&some == some }

// Named is an optimization with its name.
type Named struct {
	Name string
	Set
}

// Each returns all optimizations one by one.
func Each() []Named {
	return []Named{
		{"bytecode", Bytecode}, {"code cache", CodeCache}, {"large pages", LargePages}, {"polling", Polling}, {"limits", Limits},
	}
}
