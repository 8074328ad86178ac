package language

import (
	"io/fs"
	"slices"
	"strings"
	"testing"
)

// A file that is not listed would be a rule that is not applied.
func TestPartsListEveryFile(t *testing.T) {
	there, err := fs.Glob(files, "python/*.py")
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range there {
		there[i] = strings.TrimPrefix(name, "python/")
	}
	listed := slices.Sorted(slices.Values(parts))
	if slices.Sort(there); !slices.Equal(there, listed) {
		t.Errorf("files %v, parts %v", there, listed)
	}
}
