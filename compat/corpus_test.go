package compat_test

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/language"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// The three corpora of the language rules. A file is a list of cells:
//
//	#: name
//	#: what it is, in a sentence
//	#: since 3.11        (or "until 3.11"; or "escaped text": \r stands for CR)
//	#: preset agent      (of the language rules, if it is not standard)
//	#: rule metaclass    (for a refusal: which rule refuses; "before it runs" if it must)
//	…the script…
//	#= {"expected": "result"}
const corpora = "../internal/language/testdata"

// newestClaimed is the newest minor version on which attempts must work in a plain interpreter.
const newestClaimed = 13

// The minimum sizes of the corpora.
const (
	fewestAttempts = 100
	fewestBenign   = 60
	fewestRefusals = 60
)

// cell is one script of a corpus.
type cell struct {
	name         string
	script       string
	want         string // the result of a benign script, as JSON
	since, until int    // minor versions
	rule         string // the rule that refuses it
	before       bool   // refused before any of it runs
	preset       policy.LanguagePreset
}

// runnersByPreset starts a Runner for each preset of the cells and returns a function that
// selects one.
func runnersByPreset(t *testing.T, p python, cells []cell) func(cell) tierRunner {
	t.Helper()
	runners := map[policy.LanguagePreset]tierRunner{}
	for _, c := range cells {
		if _, ok := runners[c.preset]; !ok {
			runners[c.preset] = p.runner(t, policy.Policy{Language: policy.Language{Preset: c.preset}})
		}
	}
	return func(c cell) tierRunner { return runners[c.preset] }
}

func (c cell) fits(p python) bool { return p.minor() >= c.since && p.minor() <= c.until }

func readCorpus(t *testing.T, name string, fewest int) []cell {
	files, err := filepath.Glob(filepath.Join(corpora, name, "*.py"))
	if err != nil {
		t.Fatal(err)
	}
	var cells []cell
	seen := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range parseCells(t, file, string(text)) {
			if seen[c.name] {
				t.Errorf("%s: two cells are called %s", file, c.name)
			}
			seen[c.name] = true
			cells = append(cells, c)
		}
	}
	if len(cells) < fewest {
		t.Errorf("%d cells in %s, want at least %d", len(cells), name, fewest)
	}
	return cells
}

func parseCells(t *testing.T, file, text string) []cell {
	var cells []cell
	heading, escaped := false, false
	for line := range strings.SplitAfterSeq(text, "\n") {
		comment, isHeading := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "#: ")
		switch {
		case isHeading && !heading:
			cells = append(cells, cell{name: comment, until: 99})
			escaped = false
		case isHeading:
			last := &cells[len(cells)-1]
			escaped = escaped || comment == "escaped text"
			readVersion(t, file, comment, "since 3.", &last.since)
			readVersion(t, file, comment, "until 3.", &last.until)
			if rule, ok := strings.CutPrefix(comment, "rule "); ok {
				last.rule = rule
			}
			if preset, ok := strings.CutPrefix(comment, "preset "); ok {
				last.preset = policy.LanguagePreset(preset)
			}
			last.before = last.before || comment == "before it runs"
		case len(cells) == 0: // the head of the file
		default:
			last := &cells[len(cells)-1]
			if want, ok := strings.CutPrefix(line, "#= "); ok {
				last.want = want
			}
			if escaped {
				line = unescape(line)
			}
			last.script += line
		}
		heading = isHeading
	}
	return cells
}

var escapes = regexp.MustCompile(`\\(x[0-9a-f]{2}|u[0-9a-f]{4}|[rnftv\\])`)

// unescape decodes the escapes that Python and Go strings share.
func unescape(line string) string {
	return escapes.ReplaceAllStringFunc(line, func(escape string) string {
		r, _, _, err := strconv.UnquoteChar(escape, 0)
		if err != nil {
			return escape
		}
		return string(r)
	})
}

func readVersion(t *testing.T, file, comment, prefix string, into *int) {
	text, ok := strings.CutPrefix(comment, prefix)
	if !ok {
		return
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %q: %v", file, comment, err)
	}
	*into = n
}

// TestAttempts tries to break the language rules on every CPython: each attempt is refused,
// raises, or gains nothing. Each one works in at least one plain interpreter: an attempt that
// never works proves nothing.
func TestAttempts(t *testing.T) {
	cells := readCorpus(t, "attempts", fewestAttempts)
	potent := map[string]bool{}
	all := pythons(t)
	for _, p := range all {
		workingAttempts(t, p, cells, potent)
		t.Run(p.name, func(t *testing.T) {
			skipOtherPythons(t, all, p)
			testAttempts(t, p, cells)
		})
	}
	checkAttemptsWork(t, cells, potent)
}

func testAttempts(t *testing.T, p python, cells []cell) {
	runner := runnersByPreset(t, p, cells)
	var refused atomic.Int32
	eachCell(t, p, cells, func(c cell) error {
		res, err := runner(c).Run(t.Context(), run.Request{Script: run.Script{Source: c.script, Variables: []string{"escaped"}, Restricted: true}})
		switch {
		case err != nil:
			return err
		case string(res.Variables["escaped"]) == "true":
			return errors.New("got out")
		case res.Outcome == run.Signaled || res.Outcome == run.Trapped || res.Outcome == run.InvalidOutput:
			return fmt.Errorf("%s: %s", res.Outcome, res.Error)
		case res.Outcome == run.Refused:
			refused.Add(1)
		}
		return nil
	})
	t.Logf("%d attempts, %d refused before they ran", len(cells), refused.Load())
}

// checkAttemptsWork checks that each attempt works on most of the interpreters that it names: a
// single interpreter may have been fixed since.
func checkAttemptsWork(t *testing.T, cells []cell, potent map[string]bool) {
	claimed, weak := 0, 0
	all := pythons(t)
	for _, c := range cells {
		fitting := slices.DeleteFunc(slices.Clone(all), func(p python) bool { return !c.fits(p) || p.minor() > newestClaimed })
		if len(fitting) == 0 {
			continue
		}
		if claimed++; potent[c.name] {
			continue
		}
		weak++
		if len(fitting) >= 3 {
			t.Errorf("%s does not work even without the rules", c.name)
		}
	}
	if weak > claimed/20 {
		t.Errorf("%d of %d attempts do not work even without the rules", weak, claimed)
	}
}

//go:embed testdata/working.py
var workingProgram string

// workingAttempts adds the names of the cells that succeed without the rules. They run as files,
// each in its own process.
func workingAttempts(t *testing.T, p python, cells []cell, working map[string]bool) {
	t.Helper()
	scripts := map[string]string{}
	for _, c := range cells {
		if c.fits(p) && !working[c.name] {
			scripts[c.name] = c.script
		}
	}
	input, err := json.Marshal(scripts)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), p.Path, "-I", "-c", workingProgram)
	cmd.Dir, cmd.Stdin = t.TempDir(), bytes.NewReader(input)
	output, err := cmd.Output()
	var names []string
	if err == nil {
		err = json.Unmarshal(output, &names)
	}
	if err != nil {
		t.Fatalf("%s: %v: %.500s", p, err, output)
	}
	for _, name := range names {
		working[name] = true
	}
}

// TestRefusals tests each rule alone: another rule would often stop the same attempt and hide
// that this one is missing. The cells cover every rule in the documentation of the rules.
func TestRefusals(t *testing.T) {
	cells := readCorpus(t, "refusals", fewestRefusals)
	all := pythons(t)
	for _, p := range all {
		t.Run(p.name, func(t *testing.T) {
			skipOtherPythons(t, all, p)
			testRefusals(t, p, cells)
		})
	}
	page, err := os.ReadFile("../docs/language.md")
	if err != nil {
		t.Fatal(err)
	}
	named := rulesOn(string(page))
	if len(named) < 20 {
		t.Errorf("the page names %d rules", len(named))
	}
	for _, rule := range named {
		if !slices.ContainsFunc(cells, func(c cell) bool { return c.rule == rule }) {
			t.Errorf("no cell is refused by %s", rule)
		}
	}
}

func testRefusals(t *testing.T, p python, cells []cell) {
	runner := runnersByPreset(t, p, cells)
	eachCell(t, p, cells, func(c cell) error {
		res, err := runner(c).Run(t.Context(), run.Request{Script: run.Script{Source: c.script, Restricted: true}})
		if err != nil {
			return err
		}
		if c.rule == "syntax" && res.Outcome == run.Malformed {
			return nil
		}
		spoke := slices.ContainsFunc(res.Violations, func(v run.Violation) bool { return v.Wall == policy.WallLanguage && v.Op == c.rule })
		if !spoke || c.before && res.Outcome != run.Refused {
			return fmt.Errorf("%s: %s, want %s", res.Outcome, res.Error, c.rule)
		}
		return nil
	})
}

// rulesOn returns the first column of the table of rules on a page.
func rulesOn(page string) (rules []string) {
	_, table, _ := strings.Cut(page, "\n| rule | refuses |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	for line := range strings.SplitSeq(table, "\n") {
		column, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		for _, quoted := range regexp.MustCompile("`([a-z-]+)`").FindAllStringSubmatch(column, -1) {
			rules = append(rules, quoted[1])
		}
	}
	return rules
}

// TestWallsBehind tests checks that no script reaches because other checks come first.
func TestWallsBehind(t *testing.T) {
	for _, p := range pythons(t) {
		out, err := exec.CommandContext(t.Context(), p.Path, "-I", corpora+"/behind.py", rulesFile(t)).CombinedOutput()
		if err != nil || string(out) != "all stand\n" {
			t.Errorf("%s: %v\n%s", p, err, out)
		}
	}
}

// rulesFile writes the rules as one program, for interpreters outside a sandbox.
func rulesFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rules.py")
	if err := os.WriteFile(path, []byte(language.Source()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestBenign checks that ordinary code runs under the rules.
func TestBenign(t *testing.T) {
	cells := readCorpus(t, "benign", fewestBenign)
	for _, p := range mainPythons(t) {
		t.Run(p.name, func(t *testing.T) {
			testBenign(t, p, cells)
		})
	}
}

func testBenign(t *testing.T, p python, cells []cell) {
	runner := runnersByPreset(t, p, cells)
	eachCell(t, p, cells, func(c cell) error {
		res, err := runner(c).Run(t.Context(), run.Request{Script: run.Script{Source: c.script, Context: map[string]any{}, Restricted: true}})
		if err != nil {
			return err
		}
		if !res.OK() {
			return fmt.Errorf("%s: %s\n%s", res.Outcome, res.Error, res.Stderr)
		}
		if c.want == "" {
			return fmt.Errorf("no line with the expected result")
		}
		t.Run(c.name, func(t *testing.T) { sameJSON(t, "result", string(res.Value), c.want) })
		return nil
	})
}

// eachCell runs the cells that this interpreter supports, concurrently.
func eachCell(t *testing.T, p python, cells []cell, try func(cell) error) {
	var running sync.WaitGroup
	places := make(chan struct{}, 4)
	for _, c := range cells {
		if !c.fits(p) {
			continue
		}
		places <- struct{}{}
		running.Go(func() {
			defer func() { <-places }()
			if err := try(c); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		})
	}
	running.Wait()
}
