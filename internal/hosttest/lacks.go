// Package hosttest is for tests that depend on their host. It says what a host
// must have, and makes poorer ones: places where cordon finds less than it would
// like.
package hosttest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Promised says that this host has all that tests need, as CI's has: what is
// missing is a failure there, since a skip could hide a hole.
func Promised() bool { return os.Getenv("CORDON_REQUIRE_HOST") == "1" }

// Lacks skips a test, or fails it where the host is promised to have everything.
func Lacks(t testing.TB, format string, args ...any) {
	t.Helper()
	if Promised() {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// Needs is for programs that scripts/setup installs.
func Needs(t testing.TB, programs ...string) {
	t.Helper()
	for _, program := range programs {
		if FindProgram(program) == "" {
			Lacks(t, "there is no %s here", program)
		}
	}
}

// FindProgram looks where a command will look, which is not our own PATH.
func FindProgram(name string) string {
	for _, dir := range strings.Fields("/usr/local/sbin /usr/local/bin /usr/sbin /usr/bin /sbin /bin") {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path
		}
	}
	return ""
}
