package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// readmeWords is the longest README.md. Reference material goes to docs/.
const readmeWords = 900

func TestREADMEIsShort(t *testing.T) {
	if n := countWords(document(t, "README.md")); n > readmeWords {
		t.Errorf("README.md has %d words, more than %d: move reference material to docs/", n, readmeWords)
	}
}

var letter = regexp.MustCompile(`[\pL\pN]`)

// countWords counts the words of a text: bars of tables and dashes do not count.
func countWords(text string) int {
	n := 0
	for _, field := range strings.Fields(text) {
		if letter.MatchString(field) {
			n++
		}
	}
	return n
}

func TestCountWords(t *testing.T) {
	if n := countWords("# A page\n| one | 2 |\n| --- | --- |\n- `three` – four\n"); n != 6 {
		t.Errorf("%d words; want 6", n)
	}
}

var (
	documentLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	fencedBlock  = regexp.MustCompile("(?ms)^```.*?^```$")
	heading      = regexp.MustCompile(`(?m)^#+ (.*)$`)
	notInAnchors = regexp.MustCompile(`[^\pL\pN _-]`)
)

// anchorsIn returns the anchors of a page's headings, as GitHub generates them.
func anchorsIn(text string) map[string]bool {
	anchors := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		name := notInAnchors.ReplaceAllString(strings.ToLower(m[1]), "")
		anchors[strings.ReplaceAll(name, " ", "-")] = true
	}
	return anchors
}

// withoutCode removes fenced blocks, where brackets are not links.
func withoutCode(text string) string { return fencedBlock.ReplaceAllString(text, "") }

// Links between the documents lead to existing files and headings, and the index of docs/
// lists every page.
func TestLinksInDocuments(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	top, err := filepath.Glob(filepath.Join(root, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	links := 0
	for _, page := range append(pages, top...) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range documentLink.FindAllStringSubmatch(withoutCode(string(text)), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			links++
			name, anchor, _ := strings.Cut(m[1], "#")
			target := page
			if name != "" {
				target = filepath.Join(filepath.Dir(page), name)
			}
			found, err := os.ReadFile(target)
			if info, statErr := os.Stat(target); statErr == nil && info.IsDir() {
				continue
			}
			if err != nil {
				t.Errorf("%s links to %s: %v", page, m[1], err)
			} else if anchor != "" && !anchorsIn(string(found))[anchor] {
				t.Errorf("%s links to %s, which has no such heading", page, m[1])
			}
		}
	}
	if links < 50 {
		t.Fatalf("found only %d links", links)
	}
	index := document(t, "docs/README.md")
	for _, page := range pages {
		if name := filepath.Base(page); name != "README.md" && !strings.Contains(index, "]("+name+")") {
			t.Errorf("docs/README.md does not name %s", name)
		}
	}
}
