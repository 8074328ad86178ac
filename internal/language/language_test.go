package language

import (
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A file that is not listed would be a rule that is not applied.
func TestPartsListEveryFile(t *testing.T) {
	there, err := fs.Glob(files, "python/*.py")
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range there {
		there[i] = strings.TrimPrefix(name, "python/")
	}
	listed := slices.Sorted(slices.Values(parts))
	if slices.Sort(there); !slices.Equal(there, listed) {
		t.Errorf("files %v, parts %v", there, listed)
	}
}

var (
	ruleInCode  = regexp.MustCompile(`(?:Finding|refuse|RuleViolation)\("([a-z-]+)"`)
	ruleInTable = regexp.MustCompile("`([a-z-]+)`")
)

func TestEveryRuleIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/language.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for line := range strings.Lines(string(page)) {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			for _, m := range ruleInTable.FindAllStringSubmatch(cells[1], -1) {
				documented[m[1]] = true
			}
		}
	}
	rules := 0
	for _, name := range parts {
		source, err := fs.ReadFile(files, "python/"+name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range ruleInCode.FindAllStringSubmatch(string(source), -1) {
			if rules++; !documented[m[1]] {
				t.Errorf("%s has the rule %s, which is not in a table of docs/language.md", name, m[1])
			}
		}
	}
	if rules < 20 {
		t.Errorf("found only %d rules", rules)
	}
}
