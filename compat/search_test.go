package compat_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/internal/language"
	"github.com/cordon-sandbox/cordon/policy"
)

// searchConfig is the input of testdata/search/search.py.
type searchConfig struct {
	Source   string   `json:"source"`
	Modules  []string `json:"modules"`
	Builtins []string `json:"builtins"`
	Seconds  float64  `json:"seconds"`
	Seed     int64    `json:"seed"`
	Plant    bool     `json:"plant,omitempty"` // add the holes of holes.py
	Focus    string   `json:"focus,omitempty"` // a regular expression: which callables to prefer
}

type searchFinding struct{ Why, Script string }

type searchReport struct {
	Reached, Liars, Runs int
	Findings, Crashes    []searchFinding
}

// TestSearch passes objects that lie about themselves to everything that a restricted script
// can reach, in a plain interpreter: their methods must receive nothing that the rules do not
// allow, and nothing in the library may change. CORDON_TEST_FUZZ sets the duration, for each
// CPython and preset, and makes a different search each time; without it, the search is short
// and always the same. CORDON_TEST_SEARCH is a regular expression for callables to prefer.
func TestSearch(t *testing.T) {
	lasts, seed := 3*time.Second, int64(1)
	presets := policy.LanguagePresets()
	if text := os.Getenv("CORDON_TEST_FUZZ"); text != "" {
		var err error
		if lasts, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
		seed = time.Now().UnixNano() % 1_000_000
	} else {
		presets = presets[len(presets)-1:] // the widest
	}
	all := pythons(t)
	for _, preset := range presets {
		for _, p := range all {
			t.Run(string(preset)+"/"+p.name, func(t *testing.T) {
				skipOtherPythons(t, all, p)
				report := search(t, p, preset, searchConfig{Seconds: lasts.Seconds(), Seed: seed, Focus: os.Getenv("CORDON_TEST_SEARCH")})
				for _, f := range report.Findings {
					t.Errorf("%s, with the seed %d:\n%s", f.Why, seed, f.Script)
				}
				for _, f := range report.Crashes {
					t.Errorf("the interpreter died: %s, with the seed %d:\n%s", f.Why, seed, f.Script)
				}
				if report.Reached < 300 || report.Liars < 20 || report.Runs == 0 {
					t.Errorf("the search is too small: %d callables reached, %d liars accepted, %d runs", report.Reached, report.Liars, report.Runs)
				}
				t.Logf("%d callables, %d liars, %d runs, seed %d", report.Reached, report.Liars, report.Runs, seed)
			})
		}
	}
}

// TestSearchFindsHoles checks that the search finds added holes of known kinds.
func TestSearchFindsHoles(t *testing.T) {
	// The search ends when it has found them; the time allows for a very busy machine.
	report := search(t, pythons(t)[0], policy.LanguageStandard, searchConfig{Seconds: 300, Seed: 1, Plant: true, Focus: `^math\.[a-z]+_`})
	for _, hole := range []string{"hands_over_a_class", "hands_over_a_namespace", "gives_a_function", "executes_a_name", "keeps_a_text"} {
		if !slices.ContainsFunc(report.Findings, func(f searchFinding) bool { return strings.Contains(f.Script, "math."+hole) }) {
			t.Errorf("%s was not found in %d runs", hole, report.Runs)
		}
	}
}

func search(t *testing.T, p python, preset policy.LanguagePreset, config searchConfig) searchReport {
	t.Helper()
	allowed := policy.Policy{}.Allowed(preset)
	config.Source, config.Modules, config.Builtins = language.Source(), allowed.Modules, append([]string{}, allowed.Builtins...)
	input, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	program, err := filepath.Abs(filepath.Join(corpora, "search", "search.py"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), p.Path, "-I", "-B", program)
	cmd.Dir, cmd.Stdin = t.TempDir(), bytes.NewReader(input)
	var errors bytes.Buffer
	cmd.Stderr = &errors
	output, ended := cmd.Output()
	var report searchReport
	if err := json.Unmarshal(output, &report); err != nil {
		t.Fatalf("%v: %v: %s%s", ended, err, output, errors.Bytes())
	}
	return report
}
