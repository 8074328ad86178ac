package toolstest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/cordon-sandbox/cordon/policy"
)

// Workspaces and grants can be in all usual directories, also where the sandbox has its own
// files.
func TestToolsLocations(t *testing.T) {
	t.Parallel()
	eachJail(t, func(t *testing.T, p policy.Policy) {
		for _, parent := range []string{"/var/tmp", "/run", "/opt", "/mnt", "/tmp", "/var/lib", "/dev/shm"} {
			t.Run(parent, func(t *testing.T) {
				dir, err := os.MkdirTemp(parent, "cordon-tools-")
				if os.IsPermission(err) || os.IsNotExist(err) {
					return // an ordinary user has no directories there
				}
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { os.RemoveAll(dir) })
				if parent != "/run" { // where no workspace may be
					t.Run("workspace", func(t *testing.T) { testWorkspace(t, p, dir) })
				}
				t.Run("grants", func(t *testing.T) { testGrants(t, p, dir) })
			})
		}
	})
}

func testWorkspace(t *testing.T, p policy.Policy, dir string) {
	w := scripts(t, p)
	w.dir = dir
	w.put("before", "x\n")
	w.shell("cat before > after")
	if got := w.get("after"); got != "x\n" {
		t.Errorf("the workspace has %q", got)
	}
}

func testGrants(t *testing.T, p policy.Policy, dir string) {
	for _, name := range []string{"read", "write"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "file"), []byte(name+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	single := filepath.Join(dir, "single")
	for _, name := range []string{single, filepath.Join(dir, "before")} {
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p.Read = []string{filepath.Join(dir, "read")}
	p.Write = []string{filepath.Join(dir, "write"), single}
	w := scripts(t, p)
	got := w.shell("cd " + dir + `
cat read/file write/file
echo new > write/made; echo alone > single
if touch read/made 2>/dev/null; then echo made something in a read grant; fi
if cat before 2>/dev/null; then echo read what is not granted; fi
if touch made 2>/dev/null; then echo made something beside the grants; fi`)
	if got != "read\nwrite\n" {
		t.Errorf("the command read %q through the grants", got)
	}
	for _, name := range []string{"read/made", "made"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s was made on the host: %v", name, err)
		}
	}
	w.dir = dir
	if made, alone := w.get("write/made"), w.get("single"); made != "new\n" || alone != "alone\n" {
		t.Errorf("the command wrote %q, %q through the grants", made, alone)
	}
}
