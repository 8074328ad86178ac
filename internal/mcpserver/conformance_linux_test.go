package mcpserver_test

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestConformance runs the official suites of both generations of the protocol against the
// HTTP stack of cordon. Known failures are listed with their reasons. The test also fails if
// a listed scenario passes.
func TestConformance(t *testing.T) {
	n := needsNode(t)
	binary := filepath.Join(t.TempDir(), "conformance.test")
	if out, err := exec.Command("go", "test", "-c", "-tags", "conformance", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	server := startHTTP(t, binary)
	old, next := n.module("@modelcontextprotocol/conformance/dist/index.js"), n.module("conformance-next/dist/index.js")
	for _, suite := range []struct {
		name      string
		program   string
		arguments []string
		least     int // checks that must pass, to notice a suite that does nothing
	}{
		{"0.1.16", old, []string{"--suite", "all"}, 40},
		{"0.2.0 for 2025-03-26", next, []string{"--suite", "all", "--spec-version", "2025-03-26"}, 3},
		{"0.2.0 for 2025-06-18", next, []string{"--suite", "all", "--spec-version", "2025-06-18"}, 50},
		{"0.2.0 for 2025-11-25", next, []string{"--suite", "all", "--spec-version", "2025-11-25"}, 75},
		{"0.2.0 for 2026-07-28", next, []string{"--requirements", "2026-07-28"}, 150},
	} {
		t.Run(suite.name, func(t *testing.T) {
			out := t.TempDir()
			stdout, stderr, _ := n.run(t, append([]string{suite.program, "server", "--url", server.url("/mcp"), "-o", out}, suite.arguments...)...)
			passed, failed := checksIn(t, out)
			if passed < suite.least {
				t.Errorf("%d checks passed, want at least %d\n%s%s", passed, suite.least, stdout, stderr)
			}
			known := exceptions(t, suite.name)
			for _, scenario := range slices.Sorted(maps.Keys(failed)) {
				if known[scenario] == "" {
					t.Errorf("%s fails: %s", scenario, strings.Join(failed[scenario], "; "))
				}
			}
			for scenario, why := range known {
				if failed[scenario] == nil {
					t.Errorf("%s passes now: remove it from the list (%s)", scenario, why)
				}
			}
		})
	}
}

var stamp = regexp.MustCompile(`-\d{4}-\d\d-\d\dT[\dZ-]+$`)

// checksIn reads the results of a suite: the number of checks that passed, and the failures
// by scenario.
func checksIn(t *testing.T, directory string) (passed int, failed map[string][]string) {
	t.Helper()
	failed = map[string][]string{}
	files, err := filepath.Glob(filepath.Join(directory, "*", "checks.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		scenario := strings.TrimPrefix(stamp.ReplaceAllString(filepath.Base(filepath.Dir(file)), ""), "server-")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var checks []struct{ ID, Status, ErrorMessage string }
		if err := json.Unmarshal(text, &checks); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, c := range checks {
			switch c.Status {
			case "SUCCESS":
				passed++
			case "FAILURE":
				failed[scenario] = append(failed[scenario], c.ID+": "+c.ErrorMessage)
			}
		}
	}
	return passed, failed
}

// exceptions reads the list of known failures of a suite. Each line has a suite, a scenario
// and a reason, separated by bars.
func exceptions(t *testing.T, suite string) map[string]string {
	t.Helper()
	text, err := os.ReadFile("testdata/conformance-exceptions.txt")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		parts := strings.Split(line, "|")
		if len(parts) != 3 || strings.TrimSpace(parts[2]) == "" {
			t.Fatalf("%q is not a suite, a scenario and a reason", line)
		}
		if strings.TrimSpace(parts[0]) == suite {
			known[strings.TrimSpace(parts[1])] = strings.TrimSpace(parts[2])
		}
	}
	return known
}
