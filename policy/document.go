package policy

import (
	"slices"
	"strings"
)

// Document is what a policy file or flags say, before anybody has checked it:
// text with units, and empty or nil for what is not said. What it says wins
// over its preset; what it does not say is the preset's, or the default.
type Document struct {
	// Preset is the policy to start from, by name.
	Preset string `json:"preset,omitempty" yaml:"preset,omitempty"`
	Trust  string `json:"trust,omitempty" yaml:"trust,omitempty"`
	Python string `json:"python,omitempty" yaml:"python,omitempty"`
	// Preload is a pointer because an empty list says "none" and a missing
	// one says nothing.
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
	// AllowInterpreters and DangerousWorkspace are pointers because a document
	// may take back what its preset allows.
	AllowInterpreters  *bool `json:"allow_interpreters,omitempty" yaml:"allow_interpreters,omitempty"`
	DangerousWorkspace *bool `json:"dangerous_workspace,omitempty" yaml:"dangerous_workspace,omitempty"`
	// Deterministic takes the clock and randomness away from modules.
	Deterministic *bool  `json:"deterministic,omitempty" yaml:"deterministic,omitempty"`
	PythonWasm    string `json:"python_wasm,omitempty" yaml:"python_wasm,omitempty"`
	// Language adds to what restricted code may use.
	Language DocumentLanguage `json:"language,omitzero" yaml:"language,omitempty"`
}

// DocumentLanguage names the preset of restricted scripts, and modules and builtins
// that restricted code may use beside those of its preset.
type DocumentLanguage struct {
	Preset   string   `json:"preset,omitempty" yaml:"preset,omitempty"`
	Modules  []string `json:"modules,omitempty" yaml:"modules,omitempty,flow"`
	Builtins []string `json:"builtins,omitempty" yaml:"builtins,omitempty,flow"`
}

// DocumentWalls say which walls must hold and which only should.
type DocumentWalls struct {
	Require []string `json:"require,omitempty" yaml:"require,omitempty,flow"`
	Prefer  []string `json:"prefer,omitempty" yaml:"prefer,omitempty,flow"`
}

// Policy checks the document and gives the policy that it means, or every
// problem at once as joined FieldErrors.
func (d Document) Policy() (Policy, error) {
	var found problems
	var p Policy
	if d.Preset != "" {
		base, err := Preset(d.Preset)
		found.add("preset", err)
		p = base
	}
	if d.Trust != "" {
		p.Trust = Trust(d.Trust)
	}
	if d.Python != "" {
		p.Python = d.Python
	}
	if d.Preload != nil {
		// Not Clone alone: of an empty list it could give nil, the default.
		p.Preload = append([]string{}, *d.Preload...)
	}
	if d.OnOutputLimit != "" {
		p.OnOutputLimit = OutputAction(d.OnOutputLimit)
	}
	for _, list := range []struct{ said, meant *[]string }{
		{&d.Read, &p.Read}, {&d.Write, &p.Write}, {&d.AllowNet, &p.AllowNet},
	} {
		if len(*list.said) > 0 {
			*list.meant = slices.Clone(*list.said)
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

	p.Maxima = d.Maxima.limits("maxima", &found).Or(p.Maxima)
	// A maximum that the document lowers takes the preset's default with it,
	// as it does with cordon's own.
	p.Limits = d.Limits.limits("limits", &found).Or(p.Limits.Capped(p.Maxima.Or(DefaultMaxima())))

	// What the document says of a wall replaces what the preset said of it.
	p.Require = override(p.Require, d.Walls.Prefer, d.Walls.Require)
	p.Prefer = override(p.Prefer, d.Walls.Require, d.Walls.Prefer)

	return p, found.withoutEchoes(p.problems()).err()
}

// override drops from base what the document put on the other list, and adds
// what it put on this one.
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

// withoutEchoes adds later problems, except where an earlier one may be their
// cause: a maximum that could not be read must not be compared with a limit.
func (ps problems) withoutEchoes(later problems) problems {
	all := slices.Clone(ps)
	for _, e := range later {
		if !slices.ContainsFunc(ps, func(earlier *FieldError) bool { return Echoes(e.Field, earlier.Field) }) {
			all = append(all, e)
		}
	}
	return all
}

// Echoes reports whether a problem with field may be there only because cause
// could not be read. Whoever reads documents needs it to tell the one from
// the other.
func Echoes(field, cause string) bool {
	group, name, _ := strings.Cut(field, ".")
	causeGroup, causeName, _ := strings.Cut(cause, ".")
	compared := []string{"limits", "maxima", "preset"}
	if slices.Contains(compared, group) && slices.Contains(compared, causeGroup) {
		return causeName == "" || causeName == name
	}
	return field == cause
}

// FromPolicy says p in full, every default filled in, so that what is printed
// is what is used and means the same under a later cordon's defaults.
func FromPolicy(p Policy) Document {
	p = p.Resolved()
	preload := append([]string{}, p.Preload...)
	return Document{
		Trust:         string(p.Trust),
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
		// What is not allowed need not be said.
		AllowInterpreters: trueOrNil(p.AllowInterpreters), DangerousWorkspace: trueOrNil(p.DangerousWorkspace),
		Deterministic: trueOrNil(p.Deterministic), PythonWasm: p.PythonWasm,

		Language: DocumentLanguage{Preset: string(p.Language.Preset), Modules: slices.Clone(p.Language.Modules), Builtins: slices.Clone(p.Language.Builtins)},
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
