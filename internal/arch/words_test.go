package arch

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// wordRule bans a word or a phrase. CONTRIBUTING.md ("Words") has the short form of
// this table.
type wordRule struct {
	name    string
	hints   []string       // lower case; text without any of them is skipped, because find is slow
	find    *regexp.Regexp // matched against text whose identifiers are split into words
	ignore  *regexp.Regexp // ordinary English that find also matches; nil: nothing
	below   []string       // the directories that the rule applies to; nil: all
	instead string
}

// wordRules are matched against lines as plain returns them.
var wordRules = []wordRule{
	{name: "door", hints: []string{"door"}, find: regexp.MustCompile(`(?i)\bdoors?\b`), instead: "frontend"},
	{name: "road", hints: []string{"road"}, find: regexp.MustCompile(`(?i)\broads?\b`), instead: "path"},
	{name: "twin", hints: []string{"twin"}, find: regexp.MustCompile(`(?i)\btwins?\b`), instead: "environment variable, or what it is a copy of"},
	{name: "folder", hints: []string{"folder"}, find: regexp.MustCompile(`(?i)\bfolders?\b`), instead: "directory"},
	{name: "processor time", hints: []string{"processor"}, find: regexp.MustCompile(`(?i)\bprocessor (time|seconds)\b`), instead: "CPU time"},
	{name: "figures", hints: []string{"figure"}, find: regexp.MustCompile(`(?i)\bfigures?\b`), instead: "metrics, statistics, numbers"},
	{name: "mend", hints: []string{"mend"}, find: regexp.MustCompile(`(?i)\bmend(s|ed|er|ers|ing|able)?\b`), instead: "fix, rewrite, replace"},
	{name: "settle", hints: []string{"settle"}, find: regexp.MustCompile(`(?i)\b(un)?settle(s|d|r)?\b`), instead: "a verb that says what happens: validate, releaseSlot, waitForRefill"},
	{name: "look, as a function", hints: []string{"look"}, find: regexp.MustCompile(`(?:^|[^ \w]|\b(?:func|def) (?:\(\w+ [\w*.\[\]]+\) )?)look\(|\blook (?:=|:=) (?:func|lambda)\b`), instead: "a verb that says what happens: stat, sample, parseHello"},
	{name: "place, for a sandbox", hints: []string{"place"}, find: regexp.MustCompile(`(?i)\bplaces?\b`),
		ignore: regexp.MustCompile(`(?i)\b(in|into|one|its|first|second|another|same|their|take|takes|taking|took|any|some|no|which|work) places?\b`),
		below:  []string{"internal/backend/jail"}, instead: "sandbox"},
	{name: "the place of", hints: []string{"place"}, find: regexp.MustCompile(`(?i)\b(takes?|taking|took|in) the place of\b`), instead: "replaces, instead of"},
	{name: "is told", hints: []string{"told"}, find: regexp.MustCompile(`(?i)\b(is|are|was|were|be|been|being|gets?|got|nor|not|and|or|never|it) told\b`), ignore: regexp.MustCompile(`(?i)\btold (apart|from)\b`), instead: "is reported, learns"},
	{name: "has X do Y", hints: []string{"has ", "have ", "had ", "having "}, find: regexp.MustCompile(`\b(?i:has|have|had|having) (it|them|(the|a|an|its|their|each|every|another) \w+) ` +
		`(be|do|go|run|wait|write|read|take|end|keep|hold|say|look|start|stop|make|send|killed|executed|judged|ended|stopped|started|closed)\b`),
		ignore:  regexp.MustCompile(`(?i)\b(have the same|has an? small|has an? clear) \w+`),
		instead: "makes X do Y, or X does Y"},
	{name: "who, as a noun", hints: []string{"who"}, find: regexp.MustCompile(`\bWho\b|\b(?i:of|to|from|by|only|also|first|away) who\b| who has\b`),
		ignore:  regexp.MustCompile(`\bWho\b[^.:;]*\?`),
		instead: "the caller, the operator, whoever"},
	{name: "his", hints: []string{"he ", "his", "him", "whom"}, find: regexp.MustCompile(`\b(?i:he|his|him|whom)\b`), instead: "their, its, or the noun"},
}

// wordExceptions are files, or phrases on a line, that may have such words. An unneeded
// exception is an error.
var wordExceptions = []struct{ file, phrase, why string }{
	{"internal/arch/words_test.go", "", "the list itself"},
	{"CONTRIBUTING.md", "| frontend, path, sandbox", "the list for people"},
	{"CONTRIBUTING.md", "| is reported, learns", "the list for people"},
	{"CONTRIBUTING.md", "| kills the guest", "the list for people"},
	{"CONTRIBUTING.md", "| concurrent callers wait", "the list for people"},
	{"CONTRIBUTING.md", "| `validate`", "the list for people"},
	{"internal/language/testdata/", "", "code of other people, and code written to look like it"},
	{"scripts/node/package-lock.json", "", "names of packages and hashes"},
	{"internal/script/python/plots.py", "", "matplotlib's names"},
	{"LICENSE", "", "the words of the license"},
}

// TestPlainWords reads all text of the checkout: comments, messages, documents,
// identifiers and file names.
func TestPlainWords(t *testing.T) {
	needed := map[int]bool{}
	files := 0
	texts(t, func(name string, text []byte) {
		files++
		for _, f := range append(findWords(name, []byte(name)), findWords(name, text)...) {
			if x := wordException(name, f.line); x >= 0 {
				needed[x] = true
			} else {
				t.Errorf("%s:%d: %q (%s): write: %s", name, f.number, f.text, f.rule.name, f.rule.instead)
			}
		}
	})
	if files < 500 {
		t.Fatalf("found only %d files", files)
	}
	for n, x := range wordExceptions {
		if !needed[n] {
			t.Errorf("the exception for %s %q is not needed", x.file, x.phrase)
		}
	}
}

type wordFinding struct {
	rule   wordRule
	number int    // of the line
	line   string // as written
	text   string
}

// findWords matches the rules against each line together with the next, where a phrase may
// continue.
func findWords(file string, text []byte) []wordFinding {
	var found []wordFinding
	rules := rulesFor(file, bytes.ToLower(text))
	if len(rules) == 0 {
		return nil
	}
	lines := strings.Split(string(text), "\n")
	for n, line := range lines {
		both := strings.ToLower(line)
		if n+1 < len(lines) {
			both += "\n" + strings.ToLower(lines[n+1])
		}
		for _, rule := range rules {
			if !slices.ContainsFunc(rule.hints, func(h string) bool { return strings.Contains(both, h) }) {
				continue
			}
			words, next := plain(line), ""
			if n+1 < len(lines) {
				next = plain(lines[n+1])
			}
			rest := words + " " + next
			if rule.ignore != nil {
				// Blanks of the same length keep the positions.
				rest = rule.ignore.ReplaceAllStringFunc(rest, func(s string) string { return strings.Repeat(" ", len(s)) })
			}
			for _, at := range rule.find.FindAllStringIndex(rest, -1) {
				if at[0] < len(words) {
					found = append(found, wordFinding{rule, n + 1, line, strings.TrimSpace(rest[at[0]:at[1]])})
				}
			}
		}
	}
	return found
}

// rulesFor returns the rules that can find something in a file.
func rulesFor(file string, lower []byte) []wordRule {
	var rules []wordRule
	for _, rule := range wordRules {
		if rule.below != nil && !slices.ContainsFunc(rule.below, func(dir string) bool { return strings.HasPrefix(file, dir+"/") }) {
			continue
		}
		if slices.ContainsFunc(rule.hints, func(h string) bool { return bytes.Contains(lower, []byte(h)) }) {
			rules = append(rules, rule)
		}
	}
	return rules
}

var (
	marker  = regexp.MustCompile(`^\s*(?://+|#+|\*+|>)?\s*`)
	camel   = regexp.MustCompile(`([a-z0-9])([A-Z])`)
	acronym = regexp.MustCompile(`([A-Z])([A-Z][a-z])`)
)

// plain returns a line without its comment marker, and with identifiers split into words.
func plain(line string) string {
	line = marker.ReplaceAllString(line, "")
	line = acronym.ReplaceAllString(camel.ReplaceAllString(line, "$1 $2"), "$1 $2")
	return strings.TrimSpace(strings.ReplaceAll(line, "_", " "))
}

func wordException(file, line string) int {
	for n, x := range wordExceptions {
		if (file == x.file || strings.HasSuffix(x.file, "/") && strings.HasPrefix(file, x.file)) && strings.Contains(line, x.phrase) {
			return n
		}
	}
	return -1
}

// texts calls f for each text file of the checkout. It walks the directories, since the
// checkout need not be a git repository, and skips what .gitignore lists.
func texts(t *testing.T, f func(name string, text []byte)) {
	t.Helper()
	checkout := os.DirFS(root)
	made := []string{".git", ".cache", "bin", "dist", "__pycache__"}
	err := fs.WalkDir(checkout, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case slices.Contains(made, entry.Name()) && entry.IsDir():
			return fs.SkipDir
		case !entry.Type().IsRegular() || slices.Contains([]string{".test", ".prof", ".out"}, path.Ext(name)) || path.Base(name) == "go.sum":
			return nil
		}
		text, err := fs.ReadFile(checkout, name)
		if err != nil {
			return err
		}
		if utf8.Valid(text) && !bytes.ContainsRune(text, 0) {
			f(name, text)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestFindWords(t *testing.T) {
	for _, c := range []struct {
		file, text string
		want       []string
	}{
		{"a.go", "// has the guest killed", []string{"has X do Y"}},
		{"a.go", "func TestWhoComesWaits(t *testing.T) {", []string{"who, as a noun"}},
		{"a.go", "var trust_folder, roadMap, HTTPDoor int", []string{"door", "road", "folder"}},
		{"a.go", "// the end is\n\t// told as that", []string{"is told"}},
		{"a.go", "func (w *watch) look() {\n\tw.look()\n}", []string{"look, as a function", "look, as a function"}},
		{"a.py", "def look(thing):", []string{"look, as a function"}},
		{"a.go", "// look (again) at it, and look at places", nil},
		{"internal/backend/jail/a.go", "type place struct { // made in place, or in one place", []string{"place, for a sandbox"}},
		{"a.md", "## Who may ask?", nil},
		{"a.md", "It says who asks. The backdoor, the broadcast and the recommended twine stay.", nil},
		{"a.md", "as long as his context lasts, by the first who wants it", []string{"who, as a noun", "his"}},
	} {
		var got []string
		for _, f := range findWords(c.file, []byte(c.text)) {
			got = append(got, f.rule.name)
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%q: %q; want %q", c.text, got, c.want)
		}
	}
}
