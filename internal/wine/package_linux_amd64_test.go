package wine

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestPackage runs the Python package in CPython for Windows, from the wheel that contains
// cordon.exe.
func TestPackage(t *testing.T) {
	w := setUp(t)
	script, err := filepath.Abs("testdata/package/try.py")
	if err != nil {
		t.Fatal(err)
	}
	installed := unpackWheel(t, w)
	// CPython does not start under Wine if its streams are files, so they are pipes. This
	// starts Wine's server first, which would keep them open. On a busy host it may have ended
	// again, so that it does: ErrWaitDelay says that CPython itself succeeded.
	w.run(t, "", w.cordon, "version").check(t, 0, "cordon", "")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, "wine", w.python, "-B", winePath(script), winePath(installed))
	c.Env, c.Dir, c.Stdin, c.WaitDelay = w.environment(), filepath.Dir(w.cordon), strings.NewReader(""), 10*time.Second
	out, err := c.CombinedOutput()
	if parts := strings.Count(string(out), "works: "); err != nil && !errors.Is(err, exec.ErrWaitDelay) || parts != 11 {
		t.Errorf("%d of 11 parts work: %v\n%s", parts, err, out)
	}
}

// unpackWheel builds the wheel for Windows and returns the directory of its files. The CPython
// of these tests has no pip.
func unpackWheel(t *testing.T, w *wineFixture) string {
	t.Helper()
	binaries, installed := t.TempDir(), t.TempDir()
	if err := os.Link(w.cordon, filepath.Join(binaries, "cordon.exe")); err != nil {
		t.Fatal(err)
	}
	service := exec.Command("go", "build", "-trimpath", "-o", filepath.Join(binaries, "cordond.exe"), "../../cmd/cordond")
	service.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0")
	build := exec.Command("python3", "-B", "-c", "import sys, zipfile; sys.path.insert(0, 'python/backend'); import cordon_build\n"+
		"zipfile.ZipFile(sys.argv[1] + '/' + cordon_build.build_wheel(sys.argv[1])).extractall(sys.argv[2])", binaries, installed)
	build.Dir, build.Env = "../..", append(os.Environ(), "CORDON_WHEEL_BIN="+binaries, "CORDON_WHEEL_PLATFORM=windows-amd64")
	for _, c := range []*exec.Cmd{service, build} {
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", c, err, out)
		}
	}
	return installed
}
