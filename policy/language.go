package policy

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Language says what restricted code may use beside what its preset allows.
// What is added here is added to the wall's weak points: a module that reads
// files for its caller reads them for a guest too.
type Language struct {
	// Preset is what restricted scripts go by; empty means LanguageStandard. Hooks
	// have their own.
	Preset   LanguagePreset
	Modules  []string
	Builtins []string
}

// LanguagePreset names the modules that a kind of restricted code may import.
type LanguagePreset string

// The presets.
const (
	LanguageHook     LanguagePreset = "hook"     // hooks: a few modules, none of which keeps anything of a call
	LanguageStandard LanguagePreset = "standard" // restricted scripts
	LanguageAgent    LanguagePreset = "agent"    // restricted scripts, with what models reach for when they write some
)

// LanguagePresets lists them.
func LanguagePresets() []LanguagePreset {
	return []LanguagePreset{LanguageHook, LanguageStandard, LanguageAgent}
}

// standardModules are those of restricted scripts.
var standardModules = []string{
	"math", "cmath", "decimal", "fractions", "statistics",
	"json", "re", "string", "textwrap", "unicodedata", "difflib",
	"datetime", "calendar",
	"collections", "itertools", "functools", "operator", "enum", "dataclasses", "typing", "copy",
	"hashlib", "base64", "random", "uuid", "struct",
	"pprint",
}

// languagePresets are what each preset allows; its builtins are those beside the
// ones that every script has. The rules have their own getattr, setattr, delattr and
// eval, which look at names and text when they run, and their own input.
var languagePresets = map[LanguagePreset]Language{
	LanguageHook:     {Modules: []string{"math", "random", "json", "re", "collections", "datetime", "itertools", "functools"}},
	LanguageStandard: {Modules: standardModules, Builtins: []string{"input"}},
	LanguageAgent: {
		Modules:  slices.Concat(standardModules, []string{"heapq", "bisect", "abc", "contextlib", "time", "sys"}),
		Builtins: []string{"input", "getattr", "setattr", "delattr", "eval"},
	},
}

// Modules are those that code under the preset may import.
func (l LanguagePreset) Modules() []string { return slices.Clone(languagePresets[l].Modules) }

// Allowed gives the modules and builtins of a preset with those of the policy.
func (p Policy) Allowed(preset LanguagePreset) Language {
	return Language{
		Modules:  append(preset.Modules(), p.Language.Modules...),
		Builtins: slices.Concat(languagePresets[preset].Builtins, p.Language.Builtins),
	}
}

// ScriptRules is the preset that restricted scripts go by.
func (p Policy) ScriptRules() LanguagePreset { return cmp.Or(p.Language.Preset, LanguageStandard) }

// Restricts reports whether every script must go by the language rules.
func (p Policy) Restricts() bool { return slices.Contains(p.Require, WallLanguage) }

// ParseLanguagePreset reads a preset's name; the empty one means
// LanguageStandard.
func ParseLanguagePreset(name string) (LanguagePreset, error) {
	if name == "" {
		return LanguageStandard, nil
	}
	if l := LanguagePreset(name); slices.Contains(LanguagePresets(), l) {
		return l, nil
	}
	return "", fmt.Errorf("language preset %q does not exist: the presets are %s", name, join(LanguagePresets()))
}

// DefaultCallLimits is what a call of a hook gets where neither the hook nor
// the policy says otherwise: the rest are the policy's limits.
func DefaultCallLimits() Limits {
	return Limits{WallTime: Duration(5 * time.Second), CPUTime: Duration(5 * time.Second)}
}
