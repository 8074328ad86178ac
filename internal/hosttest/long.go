package hosttest

import (
	"os"
	"testing"
)

// Long reports whether tests may take long, as in `make test-long`. Then the corpora of
// ordinary code are tried completely. What a wall has to stop is always tried, in short runs
// too.
func Long() bool { return os.Getenv("CORDON_TEST_LONG") == "1" }

// OnlyLong skips a test except in `make test-long`.
func OnlyLong(t testing.TB, why string) {
	t.Helper()
	if !Long() {
		t.Skip(why + ": make test-long runs it")
	}
}

// NotUnderRace skips a test under the race detector, with which it would take long and show
// nothing more.
func NotUnderRace(t testing.TB, why string) {
	t.Helper()
	if UnderRace {
		t.Skip(why + ": not under the race detector")
	}
}

// Slow skips a test in short runs, which are those under the race detector and as another
// user. `make test` runs it.
func Slow(t testing.TB, why string) {
	t.Helper()
	if testing.Short() {
		t.Skip(why + ": not in a short run")
	}
}
