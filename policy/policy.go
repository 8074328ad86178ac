package policy

import (
	"fmt"
	"slices"
)

// Policy is what an operator allows. It is a value: make one, validate it,
// pass it on, never change it. The zero value runs scripts with the default
// limits, requires the default walls and grants nothing.
type Policy struct {
	// Name is the preset or file that it came from, for messages.
	Name string
	// Trust is the most that a request may claim for its code.
	Trust Trust
	// Limits are the defaults of a run; Maxima are how far a request may go.
	// Zero fields mean DefaultLimits and DefaultMaxima.
	Limits, Maxima Limits
	// OnOutputLimit says what happens to a guest that writes too much. Empty
	// means that a script's output is cut, and that a command is ended.
	OnOutputLimit OutputAction
	// Require adds walls to DefaultRequired. Prefer takes walls out of it:
	// they are put up where the host can, and missed without an error.
	Require, Prefer []Wall
	// Read lists absolute paths that guests may read, at the same path. Write
	// lists those that commands may change; scripts have their /tmp alone.
	Read, Write []string
	// AllowNet lists where guests may connect to, see ParseNetGrant.
	AllowNet []string
	// Egress says how AllowNet is enforced.
	Egress Egress
	// AllowInterpreters lets a command be a shell, Python or another program
	// that runs code from its arguments.
	AllowInterpreters bool
	// DangerousWorkspace lets a command work in a home directory or a directory
	// of the system.
	DangerousWorkspace bool
	// Jail is what builds the sandbox of a command.
	Jail JailBackend
	// Python is the interpreter; empty means the one cordon finds.
	Python string
	// PythonWasm is the bundle with CPython for the wasm tier; empty means the one
	// cordon finds.
	PythonWasm string
	// Deterministic gives modules a clock that stands still and randomness that is
	// always the same, so that the same input gives the same bytes.
	Deterministic bool
	// Preload lists modules imported once, before any guest starts.
	// Nil means DefaultPreload; an empty list means none.
	Preload []string
	// Language is what restricted code may use beside its preset.
	Language Language
}

// DefaultPreload holds what scripts import most, at little cost to each fork.
func DefaultPreload() []string {
	return []string{
		"collections", "datetime", "functools", "itertools", "json", "math", "random", "re",
	}
}

// Resolved fills in every default, so that what is printed is what is used.
// It fits well into a fingerprint too: two policies that mean the same walls
// and limits resolve to the same values.
func (p Policy) Resolved() Policy {
	p.Trust = p.Trust.OrUser()
	p.Maxima = p.Maxima.Or(DefaultMaxima())
	p.Limits = p.Limits.Or(DefaultLimits().Capped(p.Maxima))
	if p.Egress == "" {
		p.Egress = EgressStrict
	}
	if p.Jail == "" {
		p.Jail = JailNative
	}
	if p.Preload == nil {
		p.Preload = DefaultPreload()
	}
	p.Require = p.Required()
	return p
}

// Required lists the walls and needs that must hold under p.
func (p Policy) Required() []Wall {
	var required []Wall
	for _, w := range append(DefaultRequired(), p.Require...) {
		if !slices.Contains(required, w) && (!slices.Contains(p.Prefer, w) || slices.Contains(p.Require, w)) {
			required = append(required, w)
		}
	}
	return required
}

// Narrow gives the limits of one run: what the request asks for, within the
// maxima, and the policy's own defaults for the rest.
func (p Policy) Narrow(asked Limits) (Limits, error) {
	r := p.Resolved()
	if field, negative := asked.Negative(); negative {
		return Limits{}, fmt.Errorf("limits.%s is negative: leave it out for the default, or give a positive one", field)
	}
	if field, got, limit, above := asked.Above(r.Maxima); above {
		return Limits{}, fmt.Errorf("limits.%s is %v, above the policy's maximum of %v", field, got, limit)
	}
	narrowed := asked.Fill(r.Limits, r.Maxima)
	if field, err := narrowed.belowFloor(); err != nil {
		return Limits{}, fmt.Errorf("limits.%s: %w", field, err)
	}
	return narrowed, nil
}
