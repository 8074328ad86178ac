package rootfs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/tetratelabs/wazero/experimental/sys"

	"github.com/cordon-sandbox/cordon/internal/backend/wasm/guestfs"
)

// generous limits are for tests of other things.
var generous = Limits{Disk: 1 << 30, Files: openFileLimit(1 << 30)}

// openFileLimit returns a counter that allows this many open files.
func openFileLimit(files int) *guestfs.OpenFiles {
	count := guestfs.NewOpenFiles(nil)
	count.Allow(files)
	return count
}

// world is a granted directory, and one beside it that must not change.
type world struct {
	t                *testing.T
	granted, outside string
	before           map[string]string

	set *Set
	fs  sys.FS

	mu               sync.Mutex
	denied, exceeded []string
}

func newWorld(t *testing.T, write bool, limits Limits) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{t: t, granted: filepath.Join(dir, "granted"), outside: filepath.Join(dir, "outside")}
	mkdir(t, w.granted, filepath.Join(w.granted, "sub"), filepath.Join(w.granted, "empty"), w.outside, filepath.Join(w.outside, "directory"))
	fill(t, filepath.Join(w.granted, "in.txt"), "inside")
	fill(t, filepath.Join(w.granted, "sub", "deep.txt"), "deep")
	fill(t, filepath.Join(w.outside, "secret"), "secret")
	w.before = contents(t, w.outside)
	w.open([]Grant{{Host: w.granted, Guest: "/data", Write: write}}, limits)
	t.Cleanup(w.untouched)
	return w
}

func (w *world) open(grants []Grant, limits Limits) {
	w.t.Helper()
	limits.Denied = func(op, path string) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.denied = append(w.denied, op+" "+path)
	}
	limits.Exceeded = func(limit string) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.exceeded = append(w.exceeded, limit)
	}
	roots, err := Open(grants)
	if err != nil {
		w.t.Fatal(err)
	}
	w.set = roots.NewSet(limits)
	w.fs = w.set.Mounts()[0].FS
	w.t.Cleanup(func() {
		if err := w.set.Close(); err != nil {
			w.t.Error(err)
		}
		if err := roots.Close(); err != nil {
			w.t.Error(err)
		}
	})
}

// untouched checks that the other directory did not change.
func (w *world) untouched() {
	w.t.Helper()
	after := contents(w.t, w.outside)
	if fmt.Sprint(after) != fmt.Sprint(w.before) {
		w.t.Errorf("the directory outside changed:\n%v\n%v", w.before, after)
	}
}

// contents returns everything in a directory that a guest could change.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	seen := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := ""
		if info.Mode().IsRegular() {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text = string(content)
		}
		seen[path] = fmt.Sprint(info.Mode(), info.ModTime().UnixNano(), text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return seen
}

func mkdir(t *testing.T, paths ...string) {
	t.Helper()
	for _, p := range paths {
		if err := os.MkdirAll(p, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

func fill(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// must opens a file, or fails the test.
func (w *world) must(path string, flag sys.Oflag) sys.File {
	w.t.Helper()
	f, errno := w.fs.OpenFile(path, flag, 0o600)
	if errno != 0 {
		w.t.Fatalf("open %s: %v", path, errno)
	}
	return f
}

// opens returns the error of an open, and closes the file.
func (w *world) opens(path string, flag sys.Oflag) sys.Errno {
	f, errno := w.fs.OpenFile(path, flag, 0o666)
	if errno == 0 {
		return f.Close()
	}
	return errno
}

// reads returns the content of a file, read as a guest would.
func (w *world) reads(path string) (string, sys.Errno) {
	f, errno := w.fs.OpenFile(path, sys.O_RDONLY, 0)
	if errno != 0 {
		return "", errno
	}
	defer f.Close()
	var text []byte
	for {
		buf := make([]byte, 64)
		n, errno := f.Read(buf)
		text = append(text, buf[:n]...)
		if n == 0 || errno != 0 {
			return string(text), errno
		}
	}
}

func check(t *testing.T, what string, got, want sys.Errno) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v; want %v", what, got, want)
	}
}

// ignoreErrno discards the error of an operation.
func ignoreErrno(sys.Errno) {}
