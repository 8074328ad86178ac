package hosttest

import (
	"os"
	"testing"
)

// Long says that a run may take its time, as `make test-long` does: then corpora of
// what ordinary code does are tried whole. What a wall has to stop is never among
// what is left for it.
func Long() bool { return os.Getenv("CORDON_TEST_LONG") == "1" }

// OnlyLong leaves a test to `make test-long`.
func OnlyLong(t testing.TB, why string) {
	t.Helper()
	if !Long() {
		t.Skip(why + ": make test-long runs it")
	}
}

// Slow leaves a test out of the short runs, which are those under the race detector and
// as another user: `make test` has it.
func Slow(t testing.TB, why string) {
	t.Helper()
	if testing.Short() {
		t.Skip(why + ": not in a short run")
	}
}
