package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var (
	documentedScript = regexp.MustCompile("(?m)^```python\n(# (\\w+\\.py)\n(?s:.*?))^```$")
	documentedCheck  = regexp.MustCompile("(?m)^```\n\\$ cordon check (\\w+\\.py)\n((?s:.*?))^```$")
)

// TestDocumentedChecks holds docs/language.md to what cordon says: each mistake
// has the findings that the page shows, and each mended script has none.
func TestDocumentedChecks(t *testing.T) {
	page, err := os.ReadFile("../../docs/language.md")
	if err != nil {
		t.Fatal(err)
	}
	wanted := map[string]string{}
	for _, m := range documentedCheck.FindAllStringSubmatch(string(page), -1) {
		wanted[m[1]] = m[2]
	}
	var commands, files strings.Builder
	mended := 0
	for _, m := range documentedScript.FindAllStringSubmatch(string(page), -1) {
		script, name := m[1], m[2]
		fmt.Fprintf(&files, "-- %s --\n%s", name, script)
		if findings, ok := wanted[name]; ok {
			fmt.Fprintf(&commands, "! exec cordon check %s\ncmp stdout %s.findings\n", name, name)
			fmt.Fprintf(&files, "-- %s.findings --\n%s", name, findings)
			continue
		}
		mended++
		fmt.Fprintf(&commands, "exec cordon check %s\n", name)
	}
	if len(wanted) < 5 || mended < 5 {
		t.Errorf("%d mistakes and %d mended scripts", len(wanted), mended)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "language.txtar"), []byte(commands.String()+files.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{Dir: dir})
}
