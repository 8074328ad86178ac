//go:build linux && (amd64 || arm64)

package seccomp_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/cordon-sandbox/cordon/internal/seccomp"
)

// interesting has the values that rules compare with. Random arguments are chosen near
// them.
var interesting = func() []uint64 {
	values := []uint64{0, 1, 2, 9, ^uint64(0), 0xffffffff, 1 << 31, 1 << 32, 1 << 63, seccomp.ControlFD}
	for _, profile := range seccomp.Profiles() {
		for _, r := range conditionalRules(profile) {
			for _, check := range r.When.(seccomp.Where) {
				values = append(values, check.Values...)
			}
		}
	}
	return values
}()

// drawArgs draws arguments: values of rules, and values with one bit flipped.
func drawArgs(t *rapid.T) (args [6]uint64) {
	for i := range args {
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0, 1:
			args[i] = rapid.SampledFrom(interesting).Draw(t, "value")
		case 2:
			args[i] = rapid.SampledFrom(interesting).Draw(t, "value") ^ 1<<rapid.IntRange(0, 63).Draw(t, "bit")
		case 3:
			args[i] = rapid.Uint64().Draw(t, "any")
		}
	}
	return args
}

// agree compares the compiled program with Decide.
func agree(t testing.TB, m machine, groups []seccomp.Group, nr uint32, args [6]uint64) {
	t.Helper()
	got := m.ask(t, nr, m.audit, args)
	want := m.want(seccomp.Decide(groups, seccomp.NameOn(m.arch, int(nr)), args))
	if m.arch == "amd64" && nr&0x40000000 != 0 {
		want = killed
	}
	if got != want {
		t.Fatalf("%s: number %d (%s) %#x: program says %v, rules say %v",
			m, nr, seccomp.NameOn(m.arch, int(nr)), args, got, want)
	}
}

func TestProgramAgreesWithRules(t *testing.T) { inEachProfile(t, programAgreesWithRules) }

func programAgreesWithRules(t *testing.T, profile seccomp.Profile) {
	all, groups, conditional := machines(t, profile), seccomp.RulesOf(profile), conditionalRules(profile)
	// Every number, with arguments of zero.
	for _, m := range all {
		for nr := range uint32(1000) {
			agree(t, m, groups, nr, [6]uint64{})
		}
	}
	// Each value of each rule once: random choice might miss one.
	for _, r := range conditional {
		for _, args := range meeting(r.When.(seccomp.Where)) {
			if seccomp.Decide(groups, r.Call, args) == seccomp.Deny {
				t.Fatalf("%s%#x satisfies a rule and is denied", r.Call, args)
			}
			for _, m := range all {
				if nr, ok := seccomp.NumberOn(m.arch, r.Call); ok {
					agree(t, m, groups, uint32(nr), args)
					for bit := range 64 {
						for arg := range args {
							near := args
							near[arg] ^= 1 << bit
							agree(t, m, groups, uint32(nr), near)
						}
					}
				}
			}
		}
	}
	// Any number; and every conditional call with arguments that are random,
	// that satisfy the rule, and that differ from it in one bit.
	rapid.Check(t, func(rt *rapid.T) {
		args, other := drawArgs(rt), rapid.Uint32().Draw(rt, "number")
		for _, m := range all {
			agree(t, m, groups, other, args)
		}
		for _, r := range conditional {
			good := satisfy(rt, r.When.(seccomp.Where), args)
			near := good
			near[rapid.IntRange(0, 5).Draw(rt, "arg")] ^= 1 << rapid.IntRange(0, 63).Draw(rt, "bit")
			for _, m := range all {
				if nr, ok := seccomp.NumberOn(m.arch, r.Call); ok {
					agree(t, m, groups, uint32(nr), args)
					agree(t, m, groups, uint32(nr), good)
					agree(t, m, groups, uint32(nr), near)
				}
			}
		}
	})
}

// meeting returns arguments that satisfy a condition: every value of each check, with the
// first value of the others.
func meeting(where seccomp.Where) [][6]uint64 {
	var first [6]uint64
	for _, check := range where {
		first[check.Arg] = check.Values[0]
	}
	var all [][6]uint64
	for _, check := range where {
		for _, v := range check.Values {
			args := first
			args[check.Arg] = v
			all = append(all, args)
		}
	}
	return all
}

// satisfy changes the arguments that a condition checks, so that it holds.
func satisfy(t *rapid.T, where seccomp.Where, args [6]uint64) [6]uint64 {
	for _, check := range where {
		args[check.Arg] = args[check.Arg]&^check.Mask | rapid.SampledFrom(check.Values).Draw(t, "value")
	}
	return args
}

func FuzzProgramAgreesWithRules(f *testing.F) {
	var all []machine
	groups := map[seccomp.Profile][]seccomp.Group{}
	for _, profile := range seccomp.Profiles() {
		all = append(all, machines(f, profile)...)
		groups[profile] = seccomp.RulesOf(profile)
	}
	f.Add(uint32(56), uint64(0x3d0f00), uint64(0), uint64(0), uint64(0), uint64(0), uint64(0))
	f.Add(uint32(16), uint64(0), uint64(0x5412|1<<32), uint64(0), uint64(0), uint64(0), uint64(0))
	f.Add(uint32(157), uint64(1), uint64(9), uint64(0), uint64(0), uint64(0), uint64(0))
	f.Fuzz(func(t *testing.T, nr uint32, a, b, c, d, e, g uint64) {
		for _, m := range all {
			agree(t, m, groups[m.profile], nr, [6]uint64{a, b, c, d, e, g})
		}
	})
}

func TestIsThreadAgreesWithRules(t *testing.T) {
	clone, _ := seccomp.Number("clone")
	groups := seccomp.RulesOf(seccomp.Script)
	rapid.Check(t, func(rt *rapid.T) {
		args := drawArgs(rt)
		got := seccomp.IsThread(clone, args)
		if want := seccomp.Decide(groups, "clone", args) == seccomp.Thread; got != want {
			rt.Fatalf("clone%#x: %v, the rules say %v", args, got, want)
		}
		if seccomp.IsThread(clone+1, args) {
			rt.Fatalf("number %d is no clone", clone+1)
		}
	})
	if !seccomp.IsThread(clone, [6]uint64{threadGlibc}) || !seccomp.IsThread(clone, [6]uint64{threadMusl}) {
		t.Error("pthread_create is not recognised")
	}
}

// The host counts only threads of scripts, so a command's filter must not pass them to it.
func TestCommandsHaveNoThreadRule(t *testing.T) {
	for _, g := range append(seccomp.RulesOf(seccomp.Command), seccomp.RulesOf(seccomp.Watched)...) {
		if g.Then == seccomp.Thread {
			t.Errorf("group %q: a thread is to be counted", g.Name)
		}
	}
}
