package seccomp

import (
	"errors"
	"fmt"
)

// Action is what a rule wants. Its zero value denies.
type Action int

const (
	// Deny hands the call to the host (Notify) or answers EPERM (Errno). It is
	// what happens to a call without a matching rule; no rule may name it.
	Deny Action = iota
	// Allow lets the kernel go on.
	Allow
	// NoSys answers ENOSYS, silently: the call is a probe for an interface
	// without which the caller manages, so it is no violation.
	NoSys
	// NotSupported answers EOPNOTSUPP, silently: as a file system does that lacks
	// the operation, which callers expect.
	NotSupported
	// Thread hands the call to the host to be counted (Notify) or allows it
	// (Errno).
	Thread
)

func (a Action) String() string {
	switch a {
	case Deny:
		return "deny"
	case Allow:
		return "allow"
	case NoSys:
		return "nosys"
	case NotSupported:
		return "not supported"
	case Thread:
		return "thread"
	}
	return fmt.Sprintf("action_%d", int(a))
}

// Group is a set of calls that are allowed for one reason.
type Group struct {
	Name  string
	Then  Action
	Rules []Rule
}

// Rule covers one call. A call may have several rules; any of them suffices.
type Rule struct {
	Call string
	When Condition // nil is an error, not "always"
}

// Condition is either [Always] or [Where].
type Condition interface {
	// Holds is the plain meaning of the condition, which tests compare with the
	// compiled program.
	Holds(args [6]uint64) bool
	validate() error
}

// Always spells out that arguments do not matter.
type Always struct{}

// Holds implements [Condition].
func (Always) Holds([6]uint64) bool { return true }

func (Always) validate() error { return nil }

// Where holds if all its checks do. Without a check it is an error.
type Where []Check

// Holds implements [Condition].
func (w Where) Holds(args [6]uint64) bool {
	for _, c := range w {
		if !c.holds(args) {
			return false
		}
	}
	return len(w) > 0
}

func (w Where) validate() error {
	if len(w) == 0 {
		return errors.New("no check: say Always to mean always")
	}
	seen := make(map[int]bool)
	for _, c := range w {
		switch {
		case c.Arg < 0 || c.Arg > 5:
			return fmt.Errorf("argument %d does not exist", c.Arg)
		case seen[c.Arg]:
			return fmt.Errorf("argument %d is checked twice", c.Arg)
		case c.Mask == 0:
			return fmt.Errorf("argument %d: the mask looks at nothing", c.Arg)
		case len(c.Values) == 0:
			return fmt.Errorf("argument %d: no value is allowed", c.Arg)
		}
		for _, v := range c.Values {
			if v&^c.Mask != 0 {
				return fmt.Errorf("argument %d: %#x has bits outside of mask %#x and never matches", c.Arg, v, c.Mask)
			}
		}
		seen[c.Arg] = true
	}
	return nil
}

// Check wants (args[Arg] & Mask) to be one of Values, over all 64 bits.
//
// Where the kernel cuts an argument to 32 bits (an ioctl request, a socket
// domain), the rules still compare 64: a value with rubbish above is then no
// match and is denied, whatever the kernel would have made of it. The opposite
// mistake, comparing 64 bits in a rule that denies, is CVE-2019-7303.
type Check struct {
	Arg    int
	Mask   uint64
	Values []uint64
}

func (c Check) holds(args [6]uint64) bool {
	for _, v := range c.Values {
		if args[c.Arg]&c.Mask == v {
			return true
		}
	}
	return false
}

const allBits = ^uint64(0)

// is wants an argument to be exactly one of values.
func is(arg int, values ...uint64) Check {
	return Check{Arg: arg, Mask: allBits, Values: values}
}

// ignoring wants an argument, apart from the free bits, to be one of values.
func ignoring(arg int, free uint64, values ...uint64) Check {
	return Check{Arg: arg, Mask: ^free, Values: values}
}

// calls allows each call whatever its arguments.
func calls(names ...string) []Rule {
	rules := make([]Rule, 0, len(names))
	for _, name := range names {
		rules = append(rules, Rule{Call: name, When: Always{}})
	}
	return rules
}

// Validate finds what would make rules mean something else than they say: a
// condition that is missing or empty, a name that no architecture knows (a
// typo), a call that is conditional and not, or two rules that want different
// things for the same arguments.
func Validate(groups []Group) error {
	type want struct {
		then Action
		when Condition
	}
	before := make(map[string][]want)
	for _, g := range groups {
		if g.Then != Allow && g.Then != NoSys && g.Then != NotSupported && g.Then != Thread {
			return fmt.Errorf("group %q: action %s cannot be asked for: what no rule matches is denied", g.Name, g.Then)
		}
		if len(g.Rules) == 0 {
			return fmt.Errorf("group %q: no rules", g.Name)
		}
		for _, r := range g.Rules {
			if r.When == nil {
				return fmt.Errorf("group %q: %s: no condition: say Always to mean always", g.Name, r.Call)
			}
			if err := r.When.validate(); err != nil {
				return fmt.Errorf("group %q: %s: %w", g.Name, r.Call, err)
			}
			if !known(r.Call) {
				return fmt.Errorf("group %q: no architecture has a call named %q", g.Name, r.Call)
			}
			for _, other := range before[r.Call] {
				here, conditional := r.When.(Where)
				there, otherConditional := other.when.(Where)
				switch {
				case !conditional || !otherConditional:
					return fmt.Errorf("group %q: %s: listed again, though one of its rules always holds", g.Name, r.Call)
				case other.then != g.Then && !disjoint(here, there):
					return fmt.Errorf("group %q: %s: %s here and %s elsewhere", g.Name, r.Call, g.Then, other.then)
				}
			}
			before[r.Call] = append(before[r.Call], want{g.Then, r.When})
		}
	}
	return nil
}

// disjoint says whether two conditions can be seen to never hold together: there
// is an argument at which every value of the one differs from every value of the
// other, in a bit that both look at. Then the order of rules decides nothing.
func disjoint(a, b Where) bool {
	for _, x := range a {
		for _, y := range b {
			if x.Arg == y.Arg && x.excludes(y) {
				return true
			}
		}
	}
	return false
}

func (c Check) excludes(other Check) bool {
	for _, v := range c.Values {
		for _, w := range other.Values {
			if (v^w)&c.Mask&other.Mask == 0 {
				return false
			}
		}
	}
	return true
}

func known(call string) bool {
	for _, arch := range Arches() {
		if _, ok := NumberOn(arch, call); ok {
			return true
		}
	}
	return false
}

// Decide is what the rules say about one call, without any BPF. It is slow and
// plain on purpose: it is the meaning that the compiled program is tested by.
func Decide(groups []Group, call string, args [6]uint64) Action {
	for _, g := range groups {
		for _, r := range g.Rules {
			if r.Call == call && r.When.Holds(args) {
				return g.Then
			}
		}
	}
	return Deny
}
