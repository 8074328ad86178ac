//go:build !windows

package hostpath

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// newTree makes a directory without links in its path.
func newTree(t *testing.T) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func plant(t *testing.T, name string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, target, name string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, name); err != nil {
		t.Fatal(err)
	}
}

// The test plants a program in every way that a search along PATH could find.
func TestProgramsOfGuestsAreNotFound(t *testing.T) {
	root := newTree(t)
	at := func(name string) string { return filepath.Join(root, name) }
	plant(t, at("usr/bin/tool"))
	plant(t, at("w/bin/tool"))
	plant(t, at("w/tool"))
	if err := os.WriteFile(at("usr/plain"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	link(t, at("w/bin"), at("linked"))              // a directory on PATH that leads into the workspace
	link(t, at("w/bin/tool"), at("bin/tool"))       // a program that is a link into the workspace
	link(t, at("usr/bin/tool"), at("w/links/tool")) // a guest's link to a real one
	link(t, at("w/links"), at("through"))           // a path through it
	link(t, at("usr/bin"), at("w/dir"))             // a guest's link to a real directory
	link(t, at("w/dir/tool"), at("long/tool"))      // a path through that
	link(t, "../usr/bin/tool", at("good/tool"))     // a link that no guest can change
	link(t, "loop", at("w/loop"))
	t.Chdir(at("w"))
	guests := Guests{at("w")}
	for _, dir := range []string{"w/bin", "w", "linked", "bin", "w/links", "through", "w/dir", "long", "w/loop", "nowhere"} {
		if p, err := findProgram(at(dir), "tool", guests); err == nil {
			t.Errorf("in %s it is %s", dir, p.Path)
		}
		p, err := findProgram(at(dir)+":"+at("usr/bin"), "tool", guests)
		if err != nil || p.Path != at("usr/bin/tool") {
			t.Errorf("after %s it is %s, %v", dir, p.Path, err)
		}
	}
	for _, dir := range []string{"", ".", "bin", "../w/bin"} {
		if p, err := findProgram(dir, "tool", nil); err == nil {
			t.Errorf("in the relative %q it is %s", dir, p.Path)
		}
	}
	if p, err := findProgram(at("good"), "tool", guests); err != nil || p.Path != at("usr/bin/tool") {
		t.Errorf("got %s, %v", p.Path, err)
	}
	if p, err := findProgram(at("usr"), "plain", guests); err == nil {
		t.Errorf("%s is no program", p.Path)
	}
	for _, name := range []string{"./tool", "bin/tool", at("w/tool"), ".."} {
		if p, err := findProgram(at("usr/bin"), name, guests); err == nil {
			t.Errorf("%s is %s", name, p.Path)
		}
	}
	if _, err := findProgram(at("w/bin"), "tool", guests); err == nil || !strings.Contains(err.Error(), "guests may write to "+at("w")) {
		t.Errorf("the reason is missing: %v", err)
	}
}

// Guests may write to the current directory, unless its path shows that it cannot be a
// workspace.
func TestWritableListsWhereGuestsWrite(t *testing.T) {
	homes := []string{"/data/ann"}
	for _, cwd := range []string{"/", "/data/ann", "/data", "/root", "/home/bob", "/usr", "/usr/bin", "/nix/store"} {
		if got := guestsOf(cwd, homes, nil); len(got) != 0 {
			t.Errorf("in %s: %v", cwd, got)
		}
	}
	root := newTree(t)
	for _, cwd := range []string{root, "/data/ann/project", "/home/bob/project", "/opt", "/srv/x"} {
		if got := guestsOf(cwd, homes, nil); len(got) != 1 || got[0] != cwd {
			t.Errorf("in %s: %v", cwd, got)
		}
	}
	// A guest must not make its workspace look like a home.
	if err := os.MkdirAll(filepath.Join(root, ".ssh"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := guestsOf(root, homes, nil); len(got) != 1 {
		t.Errorf("with .ssh in it: %v", got)
	}
	link(t, root, filepath.Join(root, "link"))
	if got := guestsOf("/", homes, []string{filepath.Join(root, "link"), root, "/gone"}); len(got) != 2 || got[0] != root || got[1] != "/gone" {
		t.Errorf("granted: %v", got)
	}
	held := map[string]bool{root: true, root + "/a/b": true, root + "x": false, filepath.Dir(root): false}
	for name, want := range held {
		if _, got := (Guests{root}).Hold(name, nil); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
