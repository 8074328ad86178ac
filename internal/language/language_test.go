package language

import (
	"io/fs"
	"slices"
	"strings"
	"testing"
)

// A file that is in no part would be a rule that nobody goes by.
func TestEveryFileIsAPart(t *testing.T) {
	there, err := fs.Glob(files, "python/*.py")
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range there {
		there[i] = strings.TrimPrefix(name, "python/")
	}
	listed := slices.Sorted(slices.Values(parts))
	if slices.Sort(there); !slices.Equal(there, listed) {
		t.Errorf("there are %v, and the program is made of %v", there, listed)
	}
}
