package policy

import (
	"fmt"
	"slices"
	"time"
)

// Language says what restricted code may use beside what its preset allows.
// What is added here is added to the wall's weak points: a module that reads
// files for its caller reads them for a guest too.
type Language struct {
	Modules  []string
	Builtins []string
}

// LanguagePreset names the modules that a kind of restricted code may import.
type LanguagePreset string

// The presets.
const (
	LanguageHook     LanguagePreset = "hook"     // hooks: a few modules, none of which keeps anything of a call
	LanguageStandard LanguagePreset = "standard" // restricted scripts
)

// LanguagePresets lists them.
func LanguagePresets() []LanguagePreset { return []LanguagePreset{LanguageHook, LanguageStandard} }

var languageModules = map[LanguagePreset][]string{
	LanguageHook: {"math", "random", "json", "re", "collections", "datetime", "itertools", "functools"},
	LanguageStandard: {
		"math", "cmath", "decimal", "fractions", "statistics",
		"json", "re", "string", "textwrap", "unicodedata", "difflib",
		"datetime", "calendar",
		"collections", "itertools", "functools", "operator", "enum", "dataclasses", "typing", "copy",
		"hashlib", "base64", "random", "uuid", "struct",
		"pprint",
	},
}

// Modules are those that code under the preset may import.
func (l LanguagePreset) Modules() []string { return slices.Clone(languageModules[l]) }

// Allowed gives the modules and builtins of a preset with those of the policy.
func (p Policy) Allowed(preset LanguagePreset) Language {
	return Language{
		Modules:  append(preset.Modules(), p.Language.Modules...),
		Builtins: slices.Clone(p.Language.Builtins),
	}
}

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
