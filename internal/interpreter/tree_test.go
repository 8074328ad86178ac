//go:build !windows

package interpreter

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tree creates files below a new directory and returns it. The text of each says its kind:
// "->x" a link to x ("->/x" to x below the directory itself), "ELF" a program, "#!…" an
// executable script, "/" a directory, else a plain file.
func tree(t testing.TB, files map[string]string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		target, isLink := strings.CutPrefix(text, "->")
		switch {
		case isLink && strings.HasPrefix(target, "/"):
			err = os.Symlink(filepath.Join(root, target), name)
		case isLink:
			err = os.Symlink(target, name)
		case text == "/":
			err = os.MkdirAll(name, 0o755)
		case text == "ELF":
			err = os.WriteFile(name, []byte("\x7fELF\x02\x01\x01 not really"), 0o755)
		case strings.HasPrefix(text, "#!"):
			err = os.WriteFile(name, []byte(strings.ReplaceAll(text, "ROOT", root)), 0o755)
		default:
			err = os.WriteFile(name, []byte(strings.ReplaceAll(text, "ROOT", root)), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// fakeHost uses the real file system with the given environment.
func fakeHost(cwd string, env map[string]string) *host {
	return &host{fsys: newMemo(os.DirFS("/")), cwd: cwd, getenv: func(key string) string { return env[key] }}
}
