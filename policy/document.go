package policy

import (
	"fmt"
	"slices"
	"strings"
)

// documentVersion is the version of policy files.
const documentVersion = 1

// Document is the unchecked form of a policy, as a file or flags give it. Amounts
// are text with units. An empty or nil field takes its value from the preset, or
// from the defaults if no preset is named.
type Document struct {
	// Version is the version of this format: 1, which may be left out.
	Version int `json:"v,omitempty" yaml:"v,omitempty"`
	// Preset names the policy to start from.
	Preset string `json:"preset,omitempty" yaml:"preset,omitempty"`
	Trust  string `json:"trust,omitempty" yaml:"trust,omitempty"`
	// ThirdParty is the tier that third-party scripts and hooks may have: process.
	ThirdParty string `json:"third_party,omitempty" yaml:"third_party,omitempty"`
	Python     string `json:"python,omitempty" yaml:"python,omitempty"`
	// Preload is a pointer because an empty list means "none" and a missing
	// one means the preset's.
	Preload       *[]string      `json:"preload,omitempty" yaml:"preload,omitempty,flow"`
	Limits        DocumentLimits `json:"limits,omitzero" yaml:"limits,omitempty"`
	Maxima        DocumentLimits `json:"maxima,omitzero" yaml:"maxima,omitempty"`
	OnOutputLimit string         `json:"on_output_limit,omitempty" yaml:"on_output_limit,omitempty"`
	Walls         DocumentWalls  `json:"walls,omitzero" yaml:"walls,omitempty"`
	Read          []string       `json:"read,omitempty" yaml:"read,omitempty"`
	Write         []string       `json:"write,omitempty" yaml:"write,omitempty"`
	AllowNet      []string       `json:"allow_net,omitempty" yaml:"allow_net,omitempty"`
	Egress        string         `json:"egress,omitempty" yaml:"egress,omitempty"`
	Jail          string         `json:"jail,omitempty" yaml:"jail,omitempty"`
	// AllowInterpreters and DangerousWorkspace are pointers because false
	// revokes what the preset allows.
	AllowInterpreters  *bool `json:"allow_interpreters,omitempty" yaml:"allow_interpreters,omitempty"`
	DangerousWorkspace *bool `json:"dangerous_workspace,omitempty" yaml:"dangerous_workspace,omitempty"`
	// Deterministic gives modules a fixed clock and fixed randomness.
	Deterministic *bool  `json:"deterministic,omitempty" yaml:"deterministic,omitempty"`
	PythonWasm    string `json:"python_wasm,omitempty" yaml:"python_wasm,omitempty"`
	// Language extends what restricted code may use.
	Language DocumentLanguage `json:"language,omitzero" yaml:"language,omitempty"`
	// ModuleRules narrow what imported modules may use, by the name of the module.
	ModuleRules map[string]DocumentModuleRule `json:"module_rules,omitempty" yaml:"module_rules,omitempty"`
}

// DocumentLanguage names the preset of restricted scripts, and the modules and
// builtins that restricted code may use in addition to its preset's.
type DocumentLanguage struct {
	Preset   string   `json:"preset,omitempty" yaml:"preset,omitempty"`
	Modules  []string `json:"modules,omitempty" yaml:"modules,omitempty,flow"`
	Builtins []string `json:"builtins,omitempty" yaml:"builtins,omitempty,flow"`
}

// DocumentWalls lists the walls that are required and those that are only preferred.
type DocumentWalls struct {
	Require []string `json:"require,omitempty" yaml:"require,omitempty,flow"`
	Prefer  []string `json:"prefer,omitempty" yaml:"prefer,omitempty,flow"`
}

// Policy checks the document and returns its policy, or all problems at once as
// joined FieldErrors.
func (d Document) Policy() (Policy, error) {
	var found problems
	var p Policy
	if d.Version != 0 && d.Version != documentVersion {
		found.add("v", fmt.Errorf("is %d: this cordon reads version %d", d.Version, documentVersion))
	}
	if d.Preset != "" {
		base, err := Preset(d.Preset)
		found.add("preset", err)
		p = base
	}
	if d.Trust != "" {
		p.Trust = Trust(d.Trust)
	}
	if d.ThirdParty != "" {
		p.ThirdParty = Tier(d.ThirdParty)
	}
	if d.Python != "" {
		p.Python = d.Python
	}
	if d.Preload != nil {
		// slices.Clone may turn an empty list into nil, which means the default.
		p.Preload = append([]string{}, *d.Preload...)
	}
	if d.OnOutputLimit != "" {
		p.OnOutputLimit = OutputAction(d.OnOutputLimit)
	}
	for _, list := range []struct{ from, to *[]string }{
		{&d.Read, &p.Read}, {&d.Write, &p.Write}, {&d.AllowNet, &p.AllowNet},
	} {
		if len(*list.from) > 0 {
			*list.to = slices.Clone(*list.from)
		}
	}
	if d.Egress != "" {
		p.Egress = Egress(d.Egress)
	}
	if d.Jail != "" {
		p.Jail = JailBackend(d.Jail)
	}
	if d.AllowInterpreters != nil {
		p.AllowInterpreters = *d.AllowInterpreters
	}
	if d.DangerousWorkspace != nil {
		p.DangerousWorkspace = *d.DangerousWorkspace
	}
	if d.Deterministic != nil {
		p.Deterministic = *d.Deterministic
	}
	if d.PythonWasm != "" {
		p.PythonWasm = d.PythonWasm
	}
	if d.Language.Preset != "" {
		p.Language.Preset = LanguagePreset(d.Language.Preset)
	}
	if len(d.Language.Modules) > 0 {
		p.Language.Modules = slices.Clone(d.Language.Modules)
	}
	if len(d.Language.Builtins) > 0 {
		p.Language.Builtins = slices.Clone(d.Language.Builtins)
	}
	if len(d.ModuleRules) > 0 {
		p.ModuleRules = moduleRules(d.ModuleRules)
	}

	p.Maxima = d.Maxima.limits("maxima", &found).Or(p.Maxima)
	// A maximum in the document also lowers the preset's default, as it
	// lowers cordon's own defaults.
	p.Limits = d.Limits.limits("limits", &found).Or(p.Limits.Capped(p.Maxima.Or(DefaultMaxima())))

	// For each wall, the document overrides the preset.
	p.Require = override(p.Require, d.Walls.Prefer, d.Walls.Require)
	p.Prefer = override(p.Prefer, d.Walls.Require, d.Walls.Prefer)

	return p, found.withoutEchoes(p.problems()).err()
}

// override removes from base the walls that the document has in the other list, and
// adds those that it has in this one.
func override(base []Wall, other, own []string) []Wall {
	var walls []Wall
	for _, w := range base {
		if !slices.Contains(other, string(w)) {
			walls = append(walls, w)
		}
	}
	for _, name := range own {
		if w := Wall(name); !slices.Contains(walls, w) {
			walls = append(walls, w)
		}
	}
	return walls
}

// withoutEchoes adds later problems, except those that an earlier one may have
// caused: a limit must not be compared with a maximum that could not be parsed.
func (ps problems) withoutEchoes(later problems) problems {
	all := slices.Clone(ps)
	for _, e := range later {
		if !slices.ContainsFunc(ps, func(earlier *FieldError) bool { return Echoes(e.Field, earlier.Field) }) {
			all = append(all, e)
		}
	}
	return all
}

// Echoes reports whether a problem with field may be only a consequence of a
// cause that could not be parsed. Readers of documents use it to report the cause
// alone.
func Echoes(field, cause string) bool {
	group, name, _ := strings.Cut(field, ".")
	causeGroup, causeName, _ := strings.Cut(cause, ".")
	compared := []string{"limits", "maxima", "preset"}
	if slices.Contains(compared, group) && slices.Contains(compared, causeGroup) {
		return causeName == "" || causeName == name
	}
	return field == cause
}

// FromPolicy returns p as a document with every default filled in, so that it
// means the same to a later version with other defaults.
func FromPolicy(p Policy) Document {
	p = p.Resolved()
	preload := append([]string{}, p.Preload...)
	return Document{
		Version:       documentVersion,
		Trust:         string(p.Trust),
		ThirdParty:    string(p.ThirdParty),
		Python:        p.Python,
		Preload:       &preload,
		Limits:        documentLimits(p.Limits),
		Maxima:        documentLimits(p.Maxima),
		OnOutputLimit: string(p.OnOutputLimit),
		Walls:         DocumentWalls{Require: texts(p.Require), Prefer: texts(p.Prefer)},
		Read:          slices.Clone(p.Read),
		Write:         slices.Clone(p.Write),
		AllowNet:      slices.Clone(p.AllowNet),
		Egress:        string(p.Egress),
		Jail:          string(p.Jail),
		// False is the default.
		AllowInterpreters: trueOrNil(p.AllowInterpreters), DangerousWorkspace: trueOrNil(p.DangerousWorkspace),
		Deterministic: trueOrNil(p.Deterministic), PythonWasm: p.PythonWasm,

		Language: DocumentLanguage{Preset: string(p.Language.Preset), Modules: slices.Clone(p.Language.Modules), Builtins: slices.Clone(p.Language.Builtins)},

		ModuleRules: documentModuleRules(p.ModuleRules),
	}
}

func trueOrNil(b bool) *bool {
	if !b {
		return nil
	}
	return &b
}

func texts(walls []Wall) []string {
	var s []string
	for _, w := range walls {
		s = append(s, string(w))
	}
	return s
}
