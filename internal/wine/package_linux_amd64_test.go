package wine

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestPackage runs the Python package in CPython for Windows, with cordon.exe as its child.
func TestPackage(t *testing.T) {
	w := setUp(t)
	script, err := filepath.Abs("testdata/package/try.py")
	if err != nil {
		t.Fatal(err)
	}
	source, err := filepath.Abs("../../python/src")
	if err != nil {
		t.Fatal(err)
	}
	// CPython does not start under Wine if its streams are files, so they are pipes. This
	// starts Wine's server first, which would keep them open.
	w.run(t, "", w.cordon, "version").check(t, 0, "cordon", "")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, "wine", w.python, "-B", winePath(script), winePath(source), winePath(w.cordon))
	c.Env, c.Dir, c.Stdin, c.WaitDelay = w.environment(), filepath.Dir(w.cordon), strings.NewReader(""), 10*time.Second
	out, err := c.CombinedOutput()
	if parts := strings.Count(string(out), "works: "); err != nil || parts != 11 {
		t.Errorf("%d of 11 parts work: %v\n%s", parts, err, out)
	}
}
