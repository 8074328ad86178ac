// Package golden compares what a test made with a file that a reviewer can read. With
// `go test -update`, the file is written instead.
package golden

import (
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the files that tests compare with")

// Updating reports whether files are to be written, for tests that compare only a part of one.
func Updating() bool { return *update }

// Check compares the file with what was made.
func Check(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s has changed; if you mean it, run the test with -update and read the difference (-want +got):\n%s", file, diff)
	}
}
