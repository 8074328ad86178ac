package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/backend/jail"
)

// The row says "with the same binds".
func TestBubblewrapSeesTheSystem(t *testing.T) {
	there := 0
	binds := systemBinds(jail.SystemPaths())
	for _, path := range jail.SystemPaths() {
		if _, err := os.Lstat(path); err == nil {
			there++
			if !slices.Contains(binds, path) {
				t.Errorf("%s is not bound", path)
			}
		}
	}
	if there == 0 {
		t.Error("this host has no system directories")
	}
}

func TestSystemBinds(t *testing.T) {
	dir := t.TempDir()
	link, directory, gone := filepath.Join(dir, "link"), filepath.Join(dir, "directory"), filepath.Join(dir, "gone")
	if err := os.Mkdir(directory, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("directory", link); err != nil {
		t.Fatal(err)
	}
	got := systemBinds([]string{link, gone, directory})
	if want := []string{"--symlink", "directory", link, "--ro-bind", directory, directory}; !slices.Equal(got, want) {
		t.Errorf("%q; want %q", got, want)
	}
}
