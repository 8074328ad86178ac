package policy

import (
	"errors"
	"fmt"
	"slices"
)

// Policy is what an operator allows. It is a value: make one, validate it, and do
// not change it afterward. The zero value runs scripts with the default limits,
// requires the default walls and grants nothing.
type Policy struct {
	// Name is the preset or file that the policy came from, for messages.
	Name string
	// Trust is the highest trust that a request may claim for its code.
	Trust Trust
	// ThirdParty is TierProcess if third-party scripts and hooks may run on that tier, behind
	// the walls for users' code. If it is empty, they need a tier that is made for them.
	ThirdParty Tier
	// Limits are the defaults of a run. Maxima are the highest limits that a
	// request may ask for. Zero fields mean DefaultLimits and DefaultMaxima.
	Limits, Maxima Limits
	// OnOutputLimit says what happens to a guest that writes too much. If it is
	// empty, the output of a script is cut, and a command is killed.
	OnOutputLimit OutputAction
	// Require adds walls to DefaultRequired. Prefer removes walls from it:
	// they are used where the host supports them, and missing ones are no error.
	Require, Prefer []Wall
	// Read lists absolute paths that guests may read, at the same path. Write
	// lists those that commands may change; scripts can write only to their /tmp.
	Read, Write []string
	// AllowNet lists the destinations that guests may connect to, see ParseNetGrant.
	AllowNet []string
	// Egress says how AllowNet is enforced.
	Egress Egress
	// AllowInterpreters allows a command that is a shell, Python or another
	// program that runs code from its arguments.
	AllowInterpreters bool
	// DangerousWorkspace allows a home directory or a system directory as the
	// workspace of a command.
	DangerousWorkspace bool
	// Jail selects what builds the sandbox of a command.
	Jail JailBackend
	// Python is the interpreter; empty means the one cordon finds.
	Python string
	// PythonWasm is the bundle with CPython for the wasm tier; empty means the one
	// cordon finds.
	PythonWasm string
	// Deterministic gives modules a fixed clock and fixed randomness, so that the
	// same input gives the same output.
	Deterministic bool
	// Preload lists modules imported once, before any guest starts.
	// Nil means DefaultPreload; an empty list means none.
	Preload []string
	// Language is what restricted code may use in addition to its preset.
	Language Language
	// ModuleRules narrow what imported modules of scripts may use, by the name of the
	// module or AnyModule. They hold for careless packages, not for hostile ones.
	ModuleRules map[string]ModuleRule
}

// DefaultPreload lists the modules that scripts import most often and that cost each
// fork little.
func DefaultPreload() []string {
	return []string{
		"collections", "collections.abc", "datetime", "functools", "itertools", "json", "math", "random", "re",
	}
}

// Resolved returns p with every default filled in, so that what is printed is what
// is used. Policies with the same walls and limits resolve to equal values, which
// makes the result suitable for a fingerprint.
func (p Policy) Resolved() Policy {
	p.Trust = p.Trust.OrUser()
	p.Maxima = p.Maxima.Or(DefaultMaxima())
	p.Limits = p.Limits.Or(DefaultLimits().Capped(p.Maxima))
	if p.Egress == "" {
		p.Egress = EgressStrict
	}
	if p.Jail == "" {
		p.Jail = JailAuto
	}
	if p.Preload == nil {
		p.Preload = DefaultPreload()
	}
	p.Require = p.Required()
	return p
}

// Required lists the walls and needs without which nothing runs under p.
func (p Policy) Required() []Wall {
	var required []Wall
	for _, w := range append(DefaultRequired(), p.Require...) {
		if !slices.Contains(required, w) && (!slices.Contains(p.Prefer, w) || slices.Contains(p.Require, w)) {
			required = append(required, w)
		}
	}
	return required
}

// Narrow returns the limits of one run: those that the request asks for, which must
// be within the maxima, and the policy's defaults for the rest.
func (p Policy) Narrow(asked Limits) (Limits, error) {
	r := p.Resolved()
	if field, negative := asked.Negative(); negative {
		return Limits{}, &FieldError{Field: "limits." + field, Err: errors.New("a negative limit: leave it out for the default, or give a positive one")}
	}
	if field, got, limit, above := asked.Above(r.Maxima); above {
		return Limits{}, &FieldError{Field: "limits." + field, Err: fmt.Errorf("%v is above the policy's maximum of %v", got, limit)}
	}
	narrowed := asked.Fill(r.Limits, r.Maxima)
	if field, err := narrowed.belowFloor(); err != nil {
		return Limits{}, &FieldError{Field: "limits." + field, Err: err}
	}
	return narrowed, nil
}
