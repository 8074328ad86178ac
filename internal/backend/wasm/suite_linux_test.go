package wasm

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/backendtest"
	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/internal/pythonwasm"
	"github.com/cordon-sandbox/cordon/policy"
)

// In init, because TestMain is for every system.
func init() { hosttest.Enter() }

// anyUser owns nothing.
const anyUser = 12345

// The suite in an unprivileged container, as an ordinary user: this tier needs nothing from
// the kernel that is denied there, so nothing may be missing.
func TestSuiteInDegradedHost(t *testing.T) {
	hosttest.Slow(t, "takes long under the race detector")
	if hosttest.Degraded() {
		open := func(t *testing.T, p policy.Policy) backend.Backend {
			b := openPython(t, p)
			if e := b.Enforcement(); len(e.Walls) != 1 || e.Walls[policy.WallWasm].String() != "enforced (compiled, in cordon's own process)" {
				t.Errorf("%+v", e)
			}
			return b
		}
		t.Run("contract", func(t *testing.T) { backendtest.Contract(t, open, policy.Policy{}) })
		t.Run("containment", func(t *testing.T) { backendtest.Containment(t, open, policy.Policy{}) })
		return
	}
	// The other user may not be able to read our checkout.
	directory, err := os.MkdirTemp("", "cordon-wasm-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(directory)
	copied := filepath.Join(directory, "python-wasm.zip")
	data, err := os.ReadFile(bundle(t))
	if err := errors.Join(err, os.Chmod(directory, 0o755), os.WriteFile(copied, data, 0o644)); err != nil {
		t.Fatal(err)
	}
	t.Setenv(pythonwasm.Variable, copied)
	uid := os.Geteuid()
	if uid == 0 {
		uid = anyUser // the other test runs the suite as root
	}
	hosttest.RunDegraded(t, t.Name(), uid)
}

// A granted directory gives access to nothing else: the targets of its links, and the files
// beside it, stay unreachable. See files/every_name.
func TestContainmentWithGrant(t *testing.T) {
	hosttest.NotUnderRace(t, "it tests walls, which the detector does not see")
	granted := t.TempDir()
	for name, target := range map[string]string{"root": "/", "up": "..", "far": "../../../../../.."} {
		if err := os.Symlink(target, filepath.Join(granted, name)); err != nil {
			t.Fatal(err)
		}
	}
	backendtest.Containment(t, openPython, policy.Policy{Read: []string{granted}}, "files", "proc", "descriptors", "environment")
}
