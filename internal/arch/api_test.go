package arch

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
)

// scripts/api passes with the committed API. If a name was removed or nothing is recorded,
// it fails with a message that says what to do.
func TestAPIScript(t *testing.T) {
	hosttest.NeedsExtra(t, hosttest.APIDiff)
	directory := t.TempDir()
	for _, name := range []string{"cordon.api", "policy.api", "run.api"} {
		text, err := os.ReadFile(filepath.Join(root, "api", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(directory, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	check := func() (string, error) {
		cmd := exec.Command("scripts/api", "check")
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "CORDON_API_DIR="+directory)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := check(); err != nil {
		t.Fatalf("the committed API: %v\n%s", err, out)
	}
	// For apidiff, this removes all names of run from policy.
	if err := os.Rename(filepath.Join(directory, "run.api"), filepath.Join(directory, "policy.api")); err != nil {
		t.Fatal(err)
	}
	out, err := check()
	if err == nil {
		t.Error("a changed API passes")
	}
	for _, words := range []string{"cordon/policy is not the recorded one", "Request: removed", "run.api is missing", "make api-update", "docs/compatibility.md"} {
		if !strings.Contains(out, words) {
			t.Errorf("%q is not in\n%s", words, out)
		}
	}
}
