package seccomp

import (
	"strings"
	"testing"
)

func TestRulesAreValid(t *testing.T) {
	for _, profile := range Profiles() {
		if err := Validate(RulesOf(profile)); err != nil {
			t.Errorf("%s: %v", profile, err)
		}
		for _, call := range Hot(profile) {
			if !known(call) {
				t.Errorf("%s: hot: no architecture has a call named %q", profile, call)
			}
		}
	}
}

// An empty, missing or misspelled part of a rule is an error. It must not mean "allow
// everything".
func TestValidateRefuses(t *testing.T) {
	one := func(when Condition) []Group {
		return []Group{{"g", Allow, []Rule{{"read", when}}}}
	}
	tests := []struct {
		name   string
		groups []Group
		want   string
	}{
		{"no condition", one(nil), "use Always"},
		{"empty condition", one(Where{}), "use Always"},
		{"nil condition", one(Where(nil)), "use Always"},
		{"no values", one(Where{is(0)}), "no value is allowed"},
		{"no mask", one(Where{{Arg: 0, Values: []uint64{0}}}), "the mask is empty"},
		{"value outside of mask", one(Where{ignoring(0, 1, 1)}), "never matches"},
		{"seventh argument", one(Where{is(6, 0)}), "does not exist"},
		{"negative argument", one(Where{is(-1, 0)}), "does not exist"},
		{"argument twice", one(Where{is(1, 0), is(1, 2)}), "checked twice"},
		{"typo", []Group{{"g", Allow, calls("raed")}}, "no architecture"},
		{"no action", []Group{{"g", Deny, calls("read")}}, "no rule may have the action"},
		{"unknown action", []Group{{"g", 77, calls("read")}}, "no rule may have the action"},
		{"no rules", []Group{{"g", Allow, nil}}, "no rules"},
		{"twice", []Group{{"g", Allow, calls("read", "read")}}, "listed again"},
		{"widened elsewhere", append(one(Where{is(0, 1)}), Group{"h", Allow, calls("read")}), "listed again"},
		{"two actions", append(one(Where{is(0, 1)}), Group{"h", NoSys, []Rule{{"read", Where{is(0, 2, 1)}}}}), "elsewhere"},
		{"two actions, other arguments", append(one(Where{is(0, 1)}), Group{"h", NoSys, []Rule{{"read", Where{is(1, 2)}}}}), "elsewhere"},
		{"two actions, one in the free bits", append(one(Where{ignoring(0, 2, 1)}), Group{"h", NoSys, []Rule{{"read", Where{is(0, 3)}}}}), "elsewhere"},
		{"two actions, masks apart", append(one(Where{{0, 1, []uint64{1}}}), Group{"h", NoSys, []Rule{{"read", Where{{0, 2, []uint64{2}}}}}}), "elsewhere"},
		{"two actions, always", append(one(Always{}), Group{"h", NoSys, []Rule{{"read", Where{is(0, 2)}}}}), "listed again"},
	}
	for _, test := range tests {
		err := Validate(test.groups)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want one with %q", test.name, err, test.want)
		}
	}
}

// A call may have two actions if no arguments match both.
func TestValidateAllowsDisjointRules(t *testing.T) {
	for name, pair := range map[string][2]Where{
		"values":        {{is(0, 1, 2)}, {is(0, 3)}},
		"one argument":  {{is(0, 1), is(1, 5)}, {is(0, 1), is(1, 6)}},
		"a flag":        {{is(0, 1), ignoring(1, 7, 0)}, {is(0, 1), {1, 8, []uint64{8}}}},
		"another order": {{is(2, 9), is(1, 5)}, {is(0, 1), is(1, 6)}},
	} {
		groups := []Group{{"a", Allow, []Rule{{"read", pair[0]}}}, {"b", NoSys, []Rule{{"read", pair[1]}}}}
		if err := Validate(groups); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEmptyMatchesNothing(t *testing.T) {
	if (Where{}).Holds([6]uint64{}) || (Where{is(0)}).Holds([6]uint64{}) {
		t.Error("an empty condition holds")
	}
	if got := Decide(nil, "read", [6]uint64{}); got != Deny {
		t.Errorf("without rules: %s", got)
	}
	var zero Action
	if zero != Deny {
		t.Error("the zero action does not deny")
	}
}

func TestNames(t *testing.T) {
	tests := []struct {
		arch string
		nr   int
		name string
	}{
		{"amd64", 0, "read"}, {"amd64", 59, "execve"}, {"amd64", 262, "newfstatat"}, {"amd64", 435, "clone3"},
		{"arm64", 63, "read"}, {"arm64", 221, "execve"}, {"arm64", 79, "newfstatat"}, {"arm64", 435, "clone3"},
	}
	for _, test := range tests {
		if got := NameOn(test.arch, test.nr); got != test.name {
			t.Errorf("%s %d: %s, want %s", test.arch, test.nr, got, test.name)
		}
		if got, ok := NumberOn(test.arch, test.name); !ok || got != test.nr {
			t.Errorf("%s %s: %d, %v, want %d", test.arch, test.name, got, ok, test.nr)
		}
	}
	for _, nr := range []int{-1, 350, 9999, 1 << 40} { // 350 is unused
		if got := NameOn("amd64", nr); !strings.HasPrefix(got, "syscall_") {
			t.Errorf("%d: %s", nr, got)
		}
	}
	if got := NameOn("vax", 1); got != "syscall_1" {
		t.Errorf("vax: %s", got)
	}
	for _, name := range []string{"", "raed", "arch_specific_syscall"} {
		if nr, ok := NumberOn("arm64", name); ok {
			t.Errorf("%q is number %d", name, nr)
		}
	}
}

func TestDigest(t *testing.T) {
	a, b := Digest([]byte{1}), Digest([]byte{2})
	if a == b || len(a) != 16 || a != Digest([]byte{1}) {
		t.Errorf("digests %q and %q", a, b)
	}
}
