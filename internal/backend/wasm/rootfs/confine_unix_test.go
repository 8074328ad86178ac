//go:build unix

package rootfs

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero/experimental/sys"
)

// links creates a link of each kind in the granted directory.
func (w *world) links() {
	w.t.Helper()
	for name, target := range map[string]string{
		"in":                 "in.txt",
		"directory-in":       "sub",
		"sub/up":             "../in.txt",
		"in-chain":           "directory-in/up",
		"loop":               "loop",
		"dangling":           "not-yet.txt",
		"out":                "../outside/secret",
		"out-absolute":       filepath.Join(w.outside, "secret"),
		"out-chain":          "sub/out-again",
		"sub/out-again":      "../out",
		"directory-out":      "../outside",
		"directory-absolute": w.outside,
		"out-new":            "../outside/new",
	} {
		if err := os.Symlink(target, filepath.Join(w.granted, name)); err != nil {
			w.t.Fatal(err)
		}
	}
}

// act is an operation of a guest on a path.
type act struct {
	name string
	do   func(w *world, path string) sys.Errno
}

func opening(name string, flag sys.Oflag) act {
	return act{name, func(w *world, path string) sys.Errno { return w.opens(path, flag) }}
}

var (
	// following acts follow a link at the end of a path.
	following = []act{
		opening("open", sys.O_RDONLY),
		opening("open rdwr", sys.O_RDWR),
		opening("open wronly", sys.O_WRONLY),
		opening("open append", sys.O_WRONLY|sys.O_APPEND),
		opening("open create", sys.O_RDWR|sys.O_CREAT),
		opening("open create truncate", sys.O_RDWR|sys.O_CREAT|sys.O_TRUNC),
		opening("open truncate", sys.O_RDWR|sys.O_TRUNC),
		opening("open directory", sys.O_RDONLY|sys.O_DIRECTORY),
		{"stat", func(w *world, path string) sys.Errno { _, errno := w.fs.Stat(path); return errno }},
		{"utimens", func(w *world, path string) sys.Errno { return w.fs.Utimens(path, 1, 1) }},
		{"chmod", func(w *world, path string) sys.Errno { return w.fs.Chmod(path, 0o600) }},
	}
	// naming acts affect the name itself.
	naming = []act{
		opening("open nofollow", sys.O_RDONLY|sys.O_NOFOLLOW),
		opening("open create nofollow", sys.O_RDWR|sys.O_CREAT|sys.O_NOFOLLOW),
		opening("open create exclusive", sys.O_RDWR|sys.O_CREAT|sys.O_EXCL),
		{"lstat", func(w *world, path string) sys.Errno { _, errno := w.fs.Lstat(path); return errno }},
		{"readlink", func(w *world, path string) sys.Errno { _, errno := w.fs.Readlink(path); return errno }},
		{"mkdir", func(w *world, path string) sys.Errno { return w.fs.Mkdir(path, 0o700) }},
		{"rmdir", func(w *world, path string) sys.Errno { return w.fs.Rmdir(path) }},
		{"unlink", func(w *world, path string) sys.Errno { return w.fs.Unlink(path) }},
		{"rename from", func(w *world, path string) sys.Errno { return w.fs.Rename(path, "stolen") }},
		{"rename to", func(w *world, path string) sys.Errno { return w.fs.Rename("in.txt", path) }},
		{"link from", func(w *world, path string) sys.Errno { return w.fs.Link(path, "stolen") }},
		{"link to", func(w *world, path string) sys.Errno { return w.fs.Link("in.txt", path) }},
		{"symlink at", func(w *world, path string) sys.Errno { return w.fs.Symlink("x", path) }},
	}
)

// Every operation on a path that leads out through a directory fails, is reported, and has no
// effect outside.
func TestPathsCannotLeaveThroughADirectory(t *testing.T) {
	for _, path := range []string{
		"../outside/secret", "../outside/new", "..", "../outside", "sub/../../outside/secret", "./../outside/new", "/../outside/secret",
		"directory-out/secret", "directory-out/new", "directory-absolute/secret", "directory-in/../directory-out/secret", "sub/../directory-out/directory",
	} {
		w := newWorld(t, true, generous)
		w.links()
		for _, a := range slices.Concat(following, naming) {
			w.denied = nil
			w.open([]Grant{{Host: w.granted, Guest: "/data", Write: true}}, generous)
			errno := a.do(w, path)
			check(t, a.name+" "+path, errno, sys.EPERM)
			if len(w.denied) != 1 {
				t.Errorf("%s %s: told %q", a.name, path, w.denied)
			}
			if _, err := os.Lstat(filepath.Join(w.granted, "stolen")); err == nil {
				t.Errorf("%s %s: stolen", a.name, path)
			}
		}
	}
}

func TestPathsCannotLeaveThroughAFinalLink(t *testing.T) {
	for _, path := range []string{"out", "out-absolute", "out-chain", "out-new", "sub/out-again", "directory-out", "directory-absolute", "directory-in/out-again"} {
		w := newWorld(t, true, generous)
		w.links()
		for _, a := range following {
			check(t, a.name+" "+path, a.do(w, path), sys.EPERM)
		}
		// These affect the link itself, which is allowed.
		for _, a := range naming {
			w := newWorld(t, true, generous)
			w.links()
			ignoreErrno(a.do(w, path))
			if info, err := os.Lstat(filepath.Join(w.granted, "stolen")); err == nil && info.Mode()&fs.ModeSymlink == 0 {
				t.Errorf("%s %s: stolen", a.name, path)
			}
			w.untouched()
		}
	}
}

func TestOperationsOnALinkItself(t *testing.T) {
	w := newWorld(t, true, generous)
	w.links()
	check(t, "open nofollow", w.opens("in", sys.O_RDONLY|sys.O_NOFOLLOW), sys.ELOOP)
	check(t, "open nofollow, a directory", w.opens("directory-in", sys.O_RDONLY|sys.O_NOFOLLOW|sys.O_DIRECTORY), sys.ELOOP)
	check(t, "create nofollow", w.opens("dangling", sys.O_RDWR|sys.O_CREAT|sys.O_NOFOLLOW), sys.ELOOP)
	check(t, "create exclusive", w.opens("dangling", sys.O_RDWR|sys.O_CREAT|sys.O_EXCL), sys.EEXIST)
	check(t, "a loop", w.opens("loop", sys.O_RDONLY), sys.ELOOP)
	check(t, "readlink out", func() sys.Errno { _, e := w.fs.Readlink("out-absolute"); return e }(), sys.EPERM)
	if text, errno := w.fs.Readlink("sub/up"); text != "../in.txt" || errno != 0 {
		t.Errorf("readlink: %q, %v", text, errno)
	}
	st, errno := w.fs.Lstat("out")
	if errno != 0 || st.Mode&fs.ModeSymlink == 0 {
		t.Errorf("lstat: %v, %v", st.Mode, errno)
	}
	check(t, "unlink", w.fs.Unlink("out"), 0)
	check(t, "unlink, a directory's", w.fs.Unlink("directory-out"), 0)
}

func TestLinksThatStayInsideWork(t *testing.T) {
	w := newWorld(t, true, generous)
	w.links()
	for path, want := range map[string]string{
		"in": "inside", "sub/up": "inside", "in-chain": "inside", "directory-in/deep.txt": "deep", "directory-in/up": "inside",
		"/in.txt": "inside", "./sub/../in.txt": "inside", "directory-in/../in.txt": "inside",
	} {
		if got, errno := w.reads(path); got != want || errno != 0 {
			t.Errorf("%s: %q, %v; want %q", path, got, errno, want)
		}
	}
	check(t, "create behind a link", w.opens("dangling", sys.O_RDWR|sys.O_CREAT), 0)
	if _, err := os.Stat(filepath.Join(w.granted, "not-yet.txt")); err != nil {
		t.Error(err)
	}
	if len(w.denied) != 0 {
		t.Errorf("told %q", w.denied)
	}
}

// A guest cannot follow a link that points outside, but a program of the host might do so
// later.
func TestGuestCannotCreateLinksThatPointOutside(t *testing.T) {
	w := newWorld(t, true, generous)
	for _, text := range []string{"/etc/passwd", "../outside/secret", "..", "sub/../../outside", ""} {
		check(t, "symlink "+text, w.fs.Symlink(text, "made"), sys.EPERM)
	}
	check(t, "symlink in a directory", w.fs.Symlink("../../outside", "sub/made"), sys.EPERM)
	check(t, "symlink inside", w.fs.Symlink("../in.txt", "sub/made"), 0)
	if text, errno := w.reads("sub/made"); text != "inside" {
		t.Errorf("%q, %v", text, errno)
	}
}

func TestInvalidPaths(t *testing.T) {
	w := newWorld(t, true, generous)
	long := strings.Repeat("./", maxPath/2) + "in.txt"
	for _, a := range slices.Concat(following, naming) {
		check(t, a.name+" of a long path", a.do(w, long), sys.ENAMETOOLONG)
		check(t, a.name+" of a path with NUL", a.do(w, "in\x00.txt"), sys.EINVAL)
		if errno := a.do(w, "in.txt/x"); errno != sys.ENOTDIR {
			t.Errorf("%s of a path through a file: %v", a.name, errno)
		}
	}
	check(t, "a file with a slash", w.opens("in.txt/", sys.O_RDONLY), sys.ENOTDIR)
	check(t, "a new file with a slash", w.opens("new/", sys.O_RDWR|sys.O_CREAT), sys.EISDIR)
	check(t, "a file as a directory", w.opens("in.txt", sys.O_DIRECTORY), sys.ENOTDIR)
	check(t, "a directory to write", w.opens("sub", sys.O_RDWR), sys.EISDIR)
	check(t, "rmdir of the mount", w.fs.Rmdir("."), sys.EINVAL)
	check(t, "rename of the mount", w.fs.Rename(".", "x"), sys.EINVAL)
	check(t, "both accesses", w.opens("in.txt", sys.O_RDWR|sys.O_WRONLY), sys.EINVAL)
}
