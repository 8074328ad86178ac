package compat_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
)

// TestAsOrdinaryUser repeats the tests as an ordinary user, whose walls are built differently
// from root's. In particular, an ordinary user seldom has a cgroup. Then address space limits
// memory, and numpy fails in other sandboxes.
func TestAsOrdinaryUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("this is an ordinary user: the other tests are what this one would start")
	}
	// Not t.TempDir: other users cannot enter its parent.
	dir, err := os.MkdirTemp("", "cordon-compat-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	const uid = 1000
	if err := os.Chown(dir, uid, uid); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "compat.test")
	if err := hosttest.CopyOfTest(binary); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), binary, "-test.short", "-test.v", "-test.run=^(TestScripts|TestVirtualEnvironment|TestRandomnessIsNotShared)$")
	cmd.Dir = dir
	// The system PATH only: other users cannot enter our home directory, where some
	// interpreters are.
	cmd.Env = []string{"HOME=" + dir, "TMPDIR=" + dir, "PATH=/usr/local/bin:/usr/bin:/bin"}
	venv := virtualEnvironment(t)
	if closedToOthers(t, venv) {
		venv = openCopy(t, venv)
	}
	cmd.Env = append(cmd.Env, "CORDON_TEST_VENV="+venv)
	for _, name := range []string{"CORDON_TEST_PYTHONS", "CORDON_REQUIRE_HOST"} {
		if value, set := os.LookupEnv(name); set {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Credential: &syscall.Credential{Uid: uid, Gid: uid}, Pdeathsig: syscall.SIGKILL,
	}
	out, err := cmd.CombinedOutput()
	text := string(out)
	if err != nil {
		t.Errorf("as uid %d: %v\n%s", uid, err, withoutPasses(text))
	}
	t.Logf("as uid %d: %d tests passed", uid, strings.Count(text, "--- PASS"))
}

// closedToOthers reports whether other users cannot enter a parent directory of path, often
// root's home directory.
func closedToOthers(t *testing.T, path string) bool {
	t.Helper()
	for ; path != "/"; path = filepath.Dir(path) {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode()&0o001 == 0 {
			return true
		}
	}
	return false
}

// withoutPasses removes the lines of passed tests from a log.
func withoutPasses(log string) string {
	var kept []string
	for line := range strings.Lines(log) {
		if trimmed := strings.TrimSpace(line); !strings.HasPrefix(trimmed, "=== ") && !strings.HasPrefix(trimmed, "--- PASS") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}
