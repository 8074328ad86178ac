// Package hosttest is for tests that depend on their host. It checks what the host has, and
// runs tests on a degraded host, where cordon finds fewer features than it would use.
package hosttest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Promised reports whether this host must have everything that tests need, as in CI. Then
// something missing is a failure, since a skip could hide a hole.
func Promised() bool { return os.Getenv("CORDON_REQUIRE_HOST") == "1" }

// Lacks skips a test, or fails it if the host must have everything (see Promised).
func Lacks(t testing.TB, format string, args ...any) {
	t.Helper()
	if Promised() {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// Needs calls Lacks for each program that is missing. scripts/setup installs the programs
// that tests need.
func Needs(t testing.TB, programs ...string) {
	t.Helper()
	for _, program := range programs {
		if FindProgram(program) == "" {
			Lacks(t, "there is no %s here", program)
		}
	}
}

// FindProgram returns the path of a program, or "". It searches the PATH of commands, not
// that of the test.
func FindProgram(name string) string {
	for _, dir := range strings.Fields("/usr/local/sbin /usr/local/bin /usr/sbin /usr/bin /sbin /bin") {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path
		}
	}
	return ""
}
