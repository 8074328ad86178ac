package interpreter

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestInstalled(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"numpy", "numpy-2.1.0.dist-info", "Zope-1.dist-info", "x.egg-info"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	got := Interpreter{Packages: []string{dir, filepath.Join(dir, "missing"), dir}}.Installed()
	if want := []string{"Zope 1", "numpy 2.1.0"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
