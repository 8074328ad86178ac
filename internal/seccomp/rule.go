package seccomp

import (
	"errors"
	"fmt"
)

// Action is the effect of a rule. The zero value denies.
type Action int

const (
	// Deny passes the call to the host (Notify) or answers EPERM (Errno). It applies
	// to calls without a matching rule; no rule may name it.
	Deny Action = iota
	// Allow lets the kernel execute the call.
	Allow
	// NoSys answers ENOSYS without a report: the call probes for an interface that
	// the caller can do without, so it is no violation.
	NoSys
	// NotSupported answers EOPNOTSUPP without a report, as a file system without the
	// operation does. Callers expect it.
	NotSupported
	// Thread passes the call to the host, which counts it (Notify), or allows it
	// (Errno).
	Thread
	// Ask passes the call to the host, which answers it (Notify), or denies it (Errno).
	Ask
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
	case Ask:
		return "ask"
	}
	return fmt.Sprintf("action_%d", int(a))
}

// Group is a set of calls that are allowed for one reason.
type Group struct {
	Name  string
	Then  Action
	Rules []Rule
}

// Rule is about one call. If a call has several rules, one match is enough.
type Rule struct {
	Call string
	When Condition // nil is an error, not "always"
}

// Condition is either [Always] or [Where].
type Condition interface {
	// Holds evaluates the condition. Tests compare it with the compiled program.
	Holds(args [6]uint64) bool
	validate() error
}

// Always holds for any arguments.
type Always struct{}

// Holds implements [Condition].
func (Always) Holds([6]uint64) bool { return true }

func (Always) validate() error { return nil }

// Where holds if all its checks hold. An empty one is an error.
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
		return errors.New("no check: use Always to allow any arguments")
	}
	seen := make(map[int]bool)
	for _, c := range w {
		switch {
		case c.Arg < 0 || c.Arg > 5:
			return fmt.Errorf("argument %d does not exist", c.Arg)
		case seen[c.Arg]:
			return fmt.Errorf("argument %d is checked twice", c.Arg)
		case c.Mask == 0:
			return fmt.Errorf("argument %d: the mask is empty", c.Arg)
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

// Check requires (args[Arg] & Mask) to be one of Values, in all 64 bits.
//
// Where the kernel uses only 32 bits of an argument (an ioctl request, a socket
// domain), the rules still compare 64: a value with other upper bits does not match and
// is denied. The opposite mistake, comparing 64 bits in a rule that denies, is
// CVE-2019-7303.
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

// is requires an argument to be exactly one of values.
func is(arg int, values ...uint64) Check {
	return Check{Arg: arg, Mask: allBits, Values: values}
}

// ignoring requires an argument, without the free bits, to be one of values.
func ignoring(arg int, free uint64, values ...uint64) Check {
	return Check{Arg: arg, Mask: ^free, Values: values}
}

// calls returns rules that match each call with any arguments.
func calls(names ...string) []Rule {
	rules := make([]Rule, 0, len(names))
	for _, name := range names {
		rules = append(rules, Rule{Call: name, When: Always{}})
	}
	return rules
}

// Validate finds mistakes that would change the meaning of rules: a missing or empty
// condition, a call that no architecture has (a typo), a call with and without a
// condition, or two rules with different actions for the same arguments.
func Validate(groups []Group) error {
	type want struct {
		then Action
		when Condition
	}
	before := make(map[string][]want)
	for _, g := range groups {
		if g.Then != Allow && g.Then != NoSys && g.Then != NotSupported && g.Then != Thread && g.Then != Ask {
			return fmt.Errorf("group %q: no rule may have the action %s: calls without a rule are denied anyway", g.Name, g.Then)
		}
		if len(g.Rules) == 0 {
			return fmt.Errorf("group %q: no rules", g.Name)
		}
		for _, r := range g.Rules {
			if r.When == nil {
				return fmt.Errorf("group %q: %s: no condition: use Always to allow any arguments", g.Name, r.Call)
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

// disjoint reports whether two conditions provably never hold together: for some
// argument, every value of one differs from every value of the other in a bit that both
// check. Then the order of the rules does not matter.
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

// Decide evaluates the rules for one call without BPF. It is slow and simple on purpose:
// tests compare the compiled program with it.
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
