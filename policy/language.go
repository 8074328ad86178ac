package policy

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Language lists what restricted code may use in addition to its preset. Each
// addition can weaken the wall: a module that reads files for its caller also reads
// them for a guest.
type Language struct {
	// Preset is that of restricted scripts; empty means LanguageStandard. Hooks
	// always use LanguageHook.
	Preset   LanguagePreset
	Modules  []string
	Builtins []string
}

// LanguagePreset names the modules that a kind of restricted code may import.
type LanguagePreset string

// The presets.
const (
	LanguageHook     LanguagePreset = "hook"     // hooks: a few modules, none of which keeps state of a call
	LanguageStandard LanguagePreset = "standard" // restricted scripts
	LanguageAgent    LanguagePreset = "agent"    // restricted scripts, with the modules that models commonly use
)

// LanguagePresets lists the presets.
func LanguagePresets() []LanguagePreset {
	return []LanguagePreset{LanguageHook, LanguageStandard, LanguageAgent}
}

// standardModules are the modules that restricted scripts may import.
var standardModules = []string{
	"math", "cmath", "decimal", "fractions", "statistics",
	"json", "re", "string", "textwrap", "unicodedata", "difflib",
	"datetime", "calendar",
	"collections", "itertools", "functools", "operator", "enum", "dataclasses", "typing", "copy",
	"hashlib", "base64", "random", "uuid", "struct",
	"pprint",
}

// languagePresets holds what each preset allows. Its builtins are additions to those
// that every script has. The rules replace getattr, setattr, delattr and eval, which
// check names and text at run time, and input.
var languagePresets = map[LanguagePreset]Language{
	LanguageHook:     {Modules: []string{"math", "random", "json", "re", "collections", "datetime", "itertools", "functools"}},
	LanguageStandard: {Modules: standardModules, Builtins: []string{"input"}},
	LanguageAgent: {
		Modules:  slices.Concat(standardModules, []string{"heapq", "bisect", "abc", "contextlib", "time", "sys"}),
		Builtins: []string{"input", "getattr", "setattr", "delattr", "eval"},
	},
}

// Modules lists the modules that code under the preset may import.
func (l LanguagePreset) Modules() []string { return slices.Clone(languagePresets[l].Modules) }

// Allowed returns the modules and builtins of a preset and those that the policy adds.
func (p Policy) Allowed(preset LanguagePreset) Language {
	return Language{
		Modules:  append(preset.Modules(), p.Language.Modules...),
		Builtins: slices.Concat(languagePresets[preset].Builtins, p.Language.Builtins),
	}
}

// ScriptRules returns the preset of restricted scripts.
func (p Policy) ScriptRules() LanguagePreset { return cmp.Or(p.Language.Preset, LanguageStandard) }

// Restricts reports whether the policy requires the language rules for every script.
func (p Policy) Restricts() bool { return slices.Contains(p.Require, WallLanguage) }

// ParseLanguagePreset parses a preset's name. An empty one means LanguageStandard.
func ParseLanguagePreset(name string) (LanguagePreset, error) {
	if name == "" {
		return LanguageStandard, nil
	}
	if l := LanguagePreset(name); slices.Contains(LanguagePresets(), l) {
		return l, nil
	}
	return "", fmt.Errorf("language preset %q does not exist: the presets are %s", name, join(LanguagePresets()))
}

// DefaultCallLimits returns the limits of a call of a hook that differ from the
// policy's, where neither the hook nor the policy sets them.
func DefaultCallLimits() Limits {
	return Limits{WallTime: 5 * time.Second, CPUTime: 5 * time.Second}
}
