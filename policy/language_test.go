package policy

import (
	"slices"
	"strings"
	"testing"
)

func TestLanguagePresets(t *testing.T) {
	// The lists are contracts: existing hooks rely on them.
	hook := strings.Fields("math random json re collections datetime itertools functools")
	if got := LanguageHook.Modules(); !slices.Equal(got, hook) {
		t.Errorf("hook: %v", got)
	}
	standard := strings.Fields(`math cmath decimal fractions statistics json re string textwrap unicodedata difflib
		datetime calendar collections itertools functools operator enum dataclasses typing copy
		hashlib base64 random uuid struct pprint`)
	if got := LanguageStandard.Modules(); !slices.Equal(got, standard) {
		t.Errorf("standard: %v", got)
	}
	LanguageHook.Modules()[0] = "os"
	if LanguageHook.Modules()[0] == "os" {
		t.Error("a preset can be changed from outside")
	}
	for _, tt := range []struct{ name, want string }{{"", "standard"}, {"hook", "hook"}, {"standard", "standard"}} {
		if got, err := ParseLanguagePreset(tt.name); err != nil || string(got) != tt.want {
			t.Errorf("%q is %q, %v", tt.name, got, err)
		}
	}
	if _, err := ParseLanguagePreset("strict"); err == nil || !strings.Contains(err.Error(), "the presets are hook, standard") {
		t.Errorf("%v", err)
	}
}

func TestPolicyLanguage(t *testing.T) {
	p, err := Document{
		Language: DocumentLanguage{Modules: []string{"heapq"}, Builtins: []string{"input"}},
		Walls:    DocumentWalls{Require: []string{"language"}},
	}.Policy()
	if err != nil {
		t.Fatal(err)
	}
	allowed := p.Allowed(LanguageHook)
	if !slices.Contains(allowed.Modules, "heapq") || !slices.Contains(allowed.Modules, "math") || !slices.Equal(allowed.Builtins, []string{"input"}) {
		t.Errorf("%+v", allowed)
	}
	if !p.Restricts() || (Policy{}).Restricts() || !p.Resolved().Restricts() {
		t.Error("a policy that requires the rules does not, or another does")
	}
	again, err := FromPolicy(p).Policy()
	if err != nil || !slices.Equal(again.Language.Modules, p.Language.Modules) || !again.Restricts() {
		t.Errorf("written and read again: %+v, %v", again, err)
	}
}
