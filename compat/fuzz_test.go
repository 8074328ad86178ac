package compat_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// TestFuzzedScripts splices scripts from the corpora and runs those that the language rules
// accept in a plain interpreter with an audit hook: none may do what the rules prevent.
// CORDON_TEST_FUZZ sets the duration on each CPython and makes different scripts each time;
// without it, the scripts are always the same.
func TestFuzzedScripts(t *testing.T) {
	lasts, seed := 3*time.Second, int64(1)
	if text := os.Getenv("CORDON_TEST_FUZZ"); text != "" {
		var err error
		if lasts, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
		seed = time.Now().UnixNano() % 1_000_000
	}
	rules := rulesFile(t)
	program, err := filepath.Abs(filepath.Join(corpora, "fuzz.py"))
	if err != nil {
		t.Fatal(err)
	}
	all := pythons(t)
	for _, p := range all {
		t.Run(p.name, func(t *testing.T) {
			skipOtherPythons(t, all, p)
			cmd := exec.CommandContext(t.Context(), p.Path, "-I", program, rules, strconv.FormatFloat(lasts.Seconds(), 'f', 1, 64), strconv.FormatInt(seed, 10))
			cmd.Dir = t.TempDir()
			output, ended := cmd.Output()
			var report struct {
				Runs, Accepted int
				Findings       []struct{ Script, Why string }
			}
			if err := json.Unmarshal(output, &report); err != nil {
				t.Fatalf("%v: %v: %s", ended, err, output)
			}
			for _, f := range report.Findings {
				t.Errorf("%s, with the seed %d:\n%s", f.Why, seed, f.Script)
			}
			if report.Accepted == 0 {
				t.Errorf("none of %d scripts was accepted: the test tried nothing", report.Runs)
			}
			t.Logf("%d scripts, %d accepted, seed %d", report.Runs, report.Accepted, seed)
		})
	}
}
