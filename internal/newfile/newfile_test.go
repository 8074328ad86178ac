package newfile

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

const precious = "precious"

// victim makes a file that must not change.
func victim(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(path, []byte(precious), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// onlyNames fails if a directory has other entries, such as a leftover temporary file.
func onlyNames(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != len(names) {
		t.Errorf("%s has %v, want %v", dir, entries, names)
	}
}

func TestWriteReplacesWholeFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for _, text := range []string{"a long text", "short"} {
		if err := Write(path, []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
		if got := read(t, path); got != text {
			t.Errorf("got %q", got)
		}
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o640 {
		t.Errorf("got %v, %v", info.Mode(), err)
	}
	f, err := Create(path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("unfinished"); err != nil {
		t.Fatal(err)
	}
	f.Discard()
	f.Discard()
	if got := read(t, path); got != "short" {
		t.Errorf("an unfinished file is there: %q", got)
	}
	onlyNames(t, filepath.Dir(path), "file")
}

// A link that exists at the path is not written through.
func TestWriteDoesNotFollowPlantedLinks(t *testing.T) {
	t.Run("symbolic link", func(t *testing.T) {
		target, dir := victim(t), t.TempDir()
		path := filepath.Join(dir, "file")
		if err := os.Symlink(target, path); err != nil {
			t.Skip(err) // Windows requires a privilege
		}
		if err := Write(path, []byte("new"), 0o600); err == nil {
			t.Error("a link was taken for a file")
		}
		root := openRoot(t, dir)
		if err := WriteIn(root, "file", []byte("new"), 0o600); err != nil {
			t.Error(err)
		}
		if got := read(t, target); got != precious {
			t.Errorf("the link was followed: %q", got)
		}
		if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() || read(t, path) != "new" {
			t.Errorf("the link is still there: %v, %v", info, err)
		}
		onlyNames(t, dir, "file")
	})
	t.Run("dangling link", func(t *testing.T) {
		target, dir := filepath.Join(t.TempDir(), "made"), t.TempDir()
		if err := os.Symlink(target, filepath.Join(dir, "file")); err != nil {
			t.Skip(err)
		}
		if err := Write(filepath.Join(dir, "file"), []byte("new"), 0o600); err == nil {
			t.Error("a link was taken for a file")
		}
		if _, err := os.Lstat(target); err == nil {
			t.Error("the link was followed")
		}
	})
	t.Run("hard link", func(t *testing.T) {
		target := victim(t)
		path := filepath.Join(filepath.Dir(target), "file")
		if err := os.Link(target, path); err != nil {
			t.Fatal(err)
		}
		if err := Write(path, []byte("new"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := read(t, target); got != precious {
			t.Errorf("the other name has changed: %q", got)
		}
	})
	t.Run("link in place of a directory", func(t *testing.T) {
		target, dir := victim(t), t.TempDir()
		if err := os.Symlink(filepath.Dir(target), filepath.Join(dir, "sub")); err != nil {
			t.Skip(err)
		}
		if err := WriteIn(openRoot(t, dir), filepath.Join("sub", "victim"), []byte("new"), 0o600); err == nil {
			t.Error("it was written out of the directory")
		}
		if got := read(t, target); got != precious {
			t.Errorf("the link was followed: %q", got)
		}
		onlyNames(t, filepath.Dir(target), "victim")
	})
	t.Run("directory", func(t *testing.T) {
		if err := Write(t.TempDir(), []byte("new"), 0o600); err == nil {
			t.Error("a directory was taken for a file")
		}
	})
}

// Devices such as /dev/stdout are written to, not replaced.
func TestDevices(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no /dev")
	}
	before, err := os.Lstat("/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	if err := Write("/dev/null", []byte("new"), 0o600); err != nil {
		t.Error(err)
	}
	if after, err := os.Lstat("/dev/null"); err != nil || after.Mode() != before.Mode() {
		t.Errorf("/dev/null is %v, was %v", after.Mode(), before.Mode())
	}
}

func openRoot(t *testing.T, dir string) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root
}
