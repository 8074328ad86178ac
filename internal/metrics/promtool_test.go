package metrics_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func TestPromtoolHasNothingToSay(t *testing.T) {
	promtool := findPromtool(t)
	m := full()
	m.Ended(t.Context(), endedRun(policy.TierProcess, run.TimedOut))
	check := func(text string) (string, error) {
		cmd := exec.CommandContext(t.Context(), promtool, "check", "metrics")
		cmd.Stdin = strings.NewReader(text)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := check(scrape(t, m, "text/plain").Body.String()); err != nil || out != "" {
		t.Errorf("promtool: %v\n%s", err, out)
	}
	// That it would say something.
	if out, err := check("# TYPE runs counter\nruns 1\n"); err == nil || out == "" {
		t.Error("promtool finds nothing wrong with a bad name")
	}
}

// findPromtool looks where scripts/setup puts it, and where a system would.
func findPromtool(t *testing.T) string {
	t.Helper()
	ours, err := filepath.Abs("../../.cache/bin/promtool")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(ours); err == nil {
		return ours
	}
	hosttest.Needs(t, "promtool")
	return hosttest.FindProgram("promtool")
}
