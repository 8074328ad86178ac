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

var documentedRun = regexp.MustCompile("(?m)^```\n(\\$ cordon run (?s:.*?))^```$")

// TestDocumentedFiles runs the examples of docs/scripts.md: each prints what the page shows.
func TestDocumentedFiles(t *testing.T) {
	page, err := os.ReadFile("../../docs/scripts.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	script := "exec sh examples.sh\ncmp stdout shown\n-- sales.csv --\nyear,cents\n2023,100\n2024,4000\n2024,200\n"
	for _, m := range documentedScript.FindAllStringSubmatch(string(page), -1) {
		script += fmt.Sprintf("-- %s --\n%s", m[2], m[1])
	}
	commands, shown := "exec 2>&1\n", ""
	for _, m := range documentedRun.FindAllStringSubmatch(string(page), -1) {
		for line := range strings.Lines(m[1]) {
			if command, is := strings.CutPrefix(line, "$ "); is {
				commands += command
			} else {
				shown += line
			}
		}
	}
	if n := strings.Count(commands, "cordon run"); n != 2 {
		t.Errorf("%d examples", n)
	}
	// The last one fails.
	script += "-- examples.sh --\n" + commands + "true\n-- shown --\n" + shown
	if err := os.WriteFile(filepath.Join(dir, "scripts.txtar"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{Dir: dir, RequireExplicitExec: true})
}
