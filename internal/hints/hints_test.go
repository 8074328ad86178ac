package hints

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/golden"
	"github.com/cordon-sandbox/cordon/internal/language"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// example has a value for each key of a hint's data.
var example = Data{
	"path": "/data", "available": "/tmp", "limit": "threads", "unit": "threads", "host": "example.com:443", "scratch": "/tmp", "name": "json",
	"rule": "requests", "key": "names", "value": "example.com:443",
}

// Each code has words for each reader, and no reader gets advice that only another can
// follow.
func TestEveryCodeHasWordsForEveryReader(t *testing.T) {
	for _, code := range Codes() {
		v := Give(run.Violation{}, code, example)
		if v.HintCode != code || v.Hint != Word(v, Embedder) {
			t.Errorf("%s: %+v", code, v)
		}
		for reader, banned := range map[Reader][]string{
			Embedder:    {"--read", "--write", "--allow", "operator"},
			CommandLine: {"operator"},
			Agent:       {"--read", "--write", "--allow", "policy", "read:", "allow_net", "doctor"},
		} {
			words := Word(v, reader)
			if words == "" || strings.ContainsAny(words, "{}\n") {
				t.Errorf("%s for reader %d: %q", code, reader, words)
			}
			for _, b := range banned {
				if strings.Contains(words, b) {
					t.Errorf("%s for reader %d: %q has %q", code, reader, words, b)
				}
			}
		}
	}
}

func TestGrantOfPathSaysFirstWhatElseToDo(t *testing.T) {
	for key, want := range map[string]string{
		"expand":    "write the path out, and ask the operator to grant /data",
		"workspace": "use a file in the workspace /w, or ask the operator to grant /data",
		"other":     "ask the operator to grant /data",
	} {
		if got := Word(Give(run.Violation{}, run.HintGrantPath, Data{"path": "/data", key: "/w"}), Agent); got != want {
			t.Errorf("%s: %q", key, got)
		}
	}
}

// Values are data: a guest that puts a key into one changes no other part.
func TestValuesAreNoTemplates(t *testing.T) {
	v := Give(run.Violation{}, run.HintAllowHost, Data{"host": "{host}{path}"})
	if !strings.Contains(v.Hint, "add {host}{path} to") {
		t.Error(v.Hint)
	}
}

func TestUnknownCodeKeepsItsText(t *testing.T) {
	if got := Word(run.Violation{Hint: "use json", HintCode: "newer"}, Agent); got != "use json" {
		t.Errorf("%q", got)
	}
	if got := WordFindings([]run.Finding{{Hint: "use json", HintCode: "newer"}}, Agent); got[0].Hint != "use json" {
		t.Errorf("%q", got)
	}
}

func TestNoCodeIsInTwoParts(t *testing.T) {
	sum := 0
	for _, part := range parts() {
		sum += len(part)
	}
	if sum != len(Codes()) {
		t.Errorf("%d rows for %d codes", sum, len(Codes()))
	}
}

// The codes of the language rules are given inside the sandbox, in Python.
func TestLanguageRulesGiveTheirCodes(t *testing.T) {
	source := language.Source()
	for code := range languageRules {
		if !strings.Contains(source, `"`+string(code)+`"`) {
			t.Errorf("no rule gives %s", code)
		}
	}
	instead := regexp.MustCompile(`(?s)\nINSTEAD = \{.*?\n\}`).FindString(source)
	given := regexp.MustCompile(`: "([^"]*)"`).FindAllStringSubmatch(instead, -1)
	if len(given) < 30 {
		t.Fatalf("the table of the rules has %d hints", len(given))
	}
	for _, match := range given {
		if f := (run.Finding{}); !Rule(&f, run.HintCode(match[1]), nil) || f.Hint == "" {
			t.Errorf("%s has no words", match[1])
		}
	}
	if f := (run.Finding{}); Rule(&f, run.HintGrantPath, nil) || f.HintCode != "" {
		t.Errorf("a guest gives a hint of another wall: %+v", f)
	}
}

// Each code of a system call is in a table of internal/seccomp.
func TestSeccompGivesItsCodes(t *testing.T) {
	var tables strings.Builder
	err := fs.WalkDir(os.DirFS("../seccomp"), ".", func(path string, _ fs.DirEntry, err error) error {
		if ok, _ := filepath.Match("hints*.go", path); !ok || err != nil {
			return err
		}
		text, err := os.ReadFile("../seccomp/" + path)
		tables.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []table{scriptCalls, commandCalls} {
		for code := range part {
			if code != ScriptOther && code != CommandOther && !strings.Contains(tables.String(), `"`+string(code)+`"`) {
				t.Errorf("no call has the hint %s", code)
			}
		}
	}
}

// docs/hints.md lists the codes with their words.
func TestDocument(t *testing.T) {
	const path, mark = "../../docs/hints.md", "| code | words |\n| --- | --- |\n"
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, _, marked := strings.Cut(string(old), mark)
	if !marked {
		t.Fatalf("%s has no table", path)
	}
	var rows strings.Builder
	for _, code := range Codes() {
		row := wordings()[code]
		said := []string{row[Embedder]}
		for _, reader := range []Reader{CommandLine, Agent} {
			if !slices.Contains(said, row[reader]) {
				said = append(said, row[reader])
			}
		}
		fmt.Fprintf(&rows, "| `%s` | %s |\n", code, strings.Join(said, "<br>"))
	}
	golden.Check(t, path, head+mark+rows.String())
}

func TestFindingsOfAResult(t *testing.T) {
	rule := run.Violation{Wall: policy.WallLanguage, Op: "import-star", Detail: "no", Line: 3, Column: 8, Count: 1, HintCode: "name_imports", HintData: Data{"name": "json"}, Allowed: []string{"json"}}
	got := Findings(run.Result{Violations: []run.Violation{{Wall: policy.WallSeccomp, Op: "socket"}, rule}}, Agent)
	want := []run.Finding{{Rule: "import-star", Reason: "no", Line: 3, Column: 8, Hint: "name what you need: from json import a, b", HintCode: "name_imports", HintData: Data{"name": "json"}, Allowed: []string{"json"}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}
