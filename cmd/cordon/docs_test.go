package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cordon-sandbox/cordon/policy"
)

var (
	documentedScript = regexp.MustCompile("(?m)^```python\n(# (\\w+\\.py)\n(?s:.*?))^```$")
	documentedCheck  = regexp.MustCompile("(?m)^```\n\\$ cordon check (\\w+\\.py)\n((?s:.*?))^```$")
)

// TestDocumentedChecks checks docs/language.md: each mistake has the findings that the
// page shows, and each fixed script has none.
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
	fixed := 0
	for _, m := range documentedScript.FindAllStringSubmatch(string(page), -1) {
		script, name := m[1], m[2]
		fmt.Fprintf(&files, "-- %s --\n%s", name, script)
		if findings, ok := wanted[name]; ok {
			fmt.Fprintf(&commands, "! exec cordon check %s\ncmp stdout %s.findings\n", name, name)
			fmt.Fprintf(&files, "-- %s.findings --\n%s", name, findings)
			continue
		}
		fixed++
		fmt.Fprintf(&commands, "exec cordon check %s\n", name)
	}
	if len(wanted) < 5 || fixed < 5 {
		t.Errorf("%d mistakes and %d fixed scripts", len(wanted), fixed)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "language.txtar"), []byte(commands.String()+files.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{Dir: dir})
}

var (
	documentedRow  = regexp.MustCompile(`(?m)^\| 137 \| (.*) \|$`)
	helpRow        = regexp.MustCompile(`(?m)^  137 +(.*\n {12}.*)$`)
	documentedSize = regexp.MustCompile(`"(?:sent|received)": "([^"]*)"`)
)

// docs/cli.md and the help give the same causes for the code that has the most.
func TestDocumentedCauses(t *testing.T) {
	page, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	row, help := documentedRow.FindStringSubmatch(string(page)), helpRow.FindStringSubmatch(exitHelp)
	if row == nil || help == nil {
		t.Fatalf("docs/cli.md: %q; help: %q", row, help)
	}
	for _, cause := range []string{"memory", "CPU time", "output", "disk", "processes", "fuel", "hammering"} {
		for name, text := range map[string]string{"docs/cli.md": row[1], "the help": help[1]} {
			if !strings.Contains(text, cause) {
				t.Errorf("%s does not say that 137 can mean %s: %s", name, cause, text)
			}
		}
	}
}

// Traffic is reported to the byte, so a page with rounded sizes does not show real
// output.
func TestDocumentedSizes(t *testing.T) {
	page, err := os.ReadFile("../../docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	sizes := documentedSize.FindAllStringSubmatch(string(page), -1)
	if len(sizes) < 2 {
		t.Errorf("%d sizes", len(sizes))
	}
	for _, m := range sizes {
		if size, err := policy.ParseBytes(m[1]); err != nil || size.String() != m[1] {
			t.Errorf("%s: cordon writes %s, %v", m[0], size, err)
		}
	}
}
