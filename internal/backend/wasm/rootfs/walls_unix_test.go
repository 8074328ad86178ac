//go:build unix

package rootfs

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero/experimental/sys"

	"github.com/cordon-sandbox/cordon/internal/backend/wasm/guestfs"
)

// at returns the mount of a path.
func (w *world) at(guest string) sys.FS {
	w.t.Helper()
	for _, m := range w.set.Mounts() {
		if m.Guest == guest {
			return m.FS
		}
	}
	w.t.Fatalf("nothing is at %s: %+v", guest, w.set.Mounts())
	return nil
}

// A single read-only file is inside a writable directory: no file can be moved or linked over
// it.
func TestSingleFileCannotBeReplaced(t *testing.T) {
	for _, c := range []struct {
		write bool
		want  sys.Errno
	}{{false, sys.EROFS}, {true, sys.EPERM}} {
		w := newWorld(t, true, generous)
		w.open([]Grant{{w.granted, "/data", true}, {w.outside + "/secret", "/data/alone", c.write}}, generous)
		before := contents(t, w.granted)
		check(t, "rename", w.fs.Rename("in.txt", "alone"), c.want)
		check(t, "link", w.fs.Link("in.txt", "alone"), c.want)
		check(t, "symlink", w.fs.Symlink("in.txt", "alone"), c.want)
		check(t, "mkdir", w.fs.Mkdir("alone", 0o700), c.want)
		check(t, "unlink", w.fs.Unlink("alone"), c.want)
		if want := []string{"rename /data/alone", "link /data/alone", "symlink /data/alone", "mkdir /data/alone", "unlink /data/alone"}; !slices.Equal(w.denied, want) {
			t.Errorf("told %q", w.denied)
		}
		if after := contents(t, w.granted); len(after) != len(before) {
			t.Errorf("%v\n%v", before, after)
		}
		check(t, "a neighbour", w.fs.Rename("in.txt", "other"), 0)
	}
}

// Paths are compared by whole names, and the innermost directory counts.
func TestPathsOfSingleFiles(t *testing.T) {
	w := newWorld(t, true, generous)
	mkdir(t, filepath.Join(w.granted, "two", "deep"))

	// /datasub is not in /data, though "sub" is.
	w.open([]Grant{{w.granted, "/data", true}, {w.outside + "/secret", "/datasub/secret", false}}, generous)
	w.fs = w.at("/datasub")
	if got := w.names("."); !slices.Equal(got, []string{"secret"}) {
		t.Errorf("%q", got)
	}

	// A file is visible only at the path of its grant.
	w.open([]Grant{{w.granted, "/data", true}, {w.granted + "/sub/deep.txt", "/sub/deep.txt", false}}, generous)
	w.fs = w.at("/sub")
	if text, errno := w.reads("deep.txt"); text != "deep" {
		t.Errorf("%q, %v", text, errno)
	}
	check(t, "write", w.opens("deep.txt", sys.O_WRONLY), sys.EROFS)

	file := Grant{w.granted + "/in.txt", "/a/sub/deep/in.txt", false}
	w.open([]Grant{{w.granted + "/empty", "/a", false}, {w.granted + "/two", "/a/sub", true}, file}, generous)
	check(t, "in the innermost", w.at("/a/sub/deep").Mkdir("new", 0o700), 0)
	if _, err := os.Stat(filepath.Join(w.granted, "two", "deep", "new")); err != nil {
		t.Error(err)
	}
}

// The directory around single granted files is not the host's directory.
func TestListShowsOnlyGrantedFiles(t *testing.T) {
	w := newWorld(t, true, generous)
	w.open([]Grant{{w.granted + "/in.txt", "/data/in.txt", true}}, Limits{Files: openFileLimit(2)})
	for _, path := range []string{"..", "../sub", "x/../.."} {
		if _, errno := w.fs.Stat(path); errno != sys.EPERM {
			t.Errorf("stat %s: %v", path, errno)
		}
	}
	if want := []string{"stat /", "stat /sub", "stat /"}; !slices.Equal(w.denied, want) {
		t.Errorf("told %q", w.denied)
	}
	check(t, "mkdir of itself", w.fs.Mkdir(".", 0o700), sys.EPERM)
	for _, flag := range []sys.Oflag{sys.O_WRONLY, sys.O_RDWR, sys.O_RDONLY | sys.O_CREAT} {
		check(t, "to write", w.opens(".", flag), sys.EISDIR)
	}
	list := w.must(".", sys.O_RDONLY|sys.O_DIRECTORY)
	check(t, "utimens", list.Utimens(1, 1), sys.EROFS)
	if _, errno := list.Seek(1, 0); errno != sys.EINVAL {
		t.Errorf("seek: %v", errno)
	}
	check(t, "another", w.opens("in.txt", sys.O_RDONLY), 0)
	second := w.must(".", sys.O_RDONLY|sys.O_DIRECTORY)
	check(t, "a third", w.opens("in.txt", sys.O_RDONLY), guestfs.EMFILE)
	for range 3 { // releases one handle
		check(t, "close", second.Close(), 0)
	}
	third := w.must("in.txt", sys.O_RDONLY)
	check(t, "one more", w.opens("in.txt", sys.O_RDONLY), guestfs.EMFILE)
	check(t, "close", third.Close(), 0)
	check(t, "close", list.Close(), 0)
	if _, errno := list.Readdir(-1); errno != sys.EBADF {
		t.Errorf("readdir of what is closed: %v", errno)
	}
	if err := w.set.Close(); err != nil {
		t.Fatal(err)
	}
	check(t, "when the set is closed", w.opens(".", sys.O_RDONLY|sys.O_DIRECTORY), sys.EBADF)
}

func TestLinkInsteadOfGrantedFileIsNotRead(t *testing.T) {
	w := newWorld(t, true, generous)
	w.open([]Grant{{w.granted + "/in.txt", "/data/in.txt", true}}, generous)
	if err := os.Remove(filepath.Join(w.granted, "in.txt")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("words", filepath.Join(w.granted, "in.txt")); err != nil {
		t.Fatal(err)
	}
	if text, errno := w.fs.Readlink("in.txt"); text != "" || errno != sys.EINVAL {
		t.Errorf("%q, %v", text, errno)
	}
}

func TestExclusiveCreateFailsForExistingFile(t *testing.T) {
	w := newWorld(t, true, generous)
	for _, flag := range []sys.Oflag{sys.O_RDWR, sys.O_RDONLY, sys.O_RDWR | sys.O_TRUNC, sys.O_RDWR | sys.O_NOFOLLOW} {
		check(t, "exclusive", w.opens("in.txt", flag|sys.O_CREAT|sys.O_EXCL), sys.EEXIST)
	}
	check(t, "a directory", w.opens("sub", sys.O_RDONLY|sys.O_CREAT), sys.EISDIR)
	check(t, "the mount, by rename", w.fs.Rename("in.txt", "."), sys.EINVAL)
	check(t, "the mount, by another name", w.fs.Rename("in.txt", "sub/.."), sys.EINVAL)
	check(t, "the mount, removed", w.fs.Rmdir("sub/.."), sys.EINVAL)
	if text, errno := w.reads("in.txt"); text != "inside" {
		t.Errorf("%q, %v", text, errno)
	}
	// O_EXCL does not create a file through a link either.
	for _, c := range []struct {
		guestfs.OpenMode
		exclusive bool
	}{
		{guestfs.OpenMode{Create: true, Write: true, Follow: true}, false},
		{guestfs.OpenMode{Create: true, Write: true}, true},
		{guestfs.OpenMode{Create: true, Write: true, Follow: true, Exclusive: true}, true},
	} {
		if got := (openMode{OpenMode: c.OpenMode}).flagsToMake(); got&os.O_CREATE == 0 || got&os.O_EXCL != 0 != c.exclusive {
			t.Errorf("%+v: %#x", c.OpenMode, got)
		}
	}
}

// The second check: the opened file is not the one that was checked.
func TestReplacedFileIsDetected(t *testing.T) {
	w := newWorld(t, true, generous)
	m := w.set.mounts[0]
	s, _ := m.find("open", "in.txt")
	before, err := os.Lstat(filepath.Join(w.granted, "sub", "deep.txt"))
	if err != nil {
		t.Fatal(err)
	}
	alone := s
	alone.alone = true
	for _, c := range []struct {
		name     string
		location location
		follow   bool
		fine     bool
	}{
		{"links are followed", s, true, true},
		{"links are not followed", s, false, false},
		{"a file alone", alone, true, false},
	} {
		f, err := s.root.Open("in.txt")
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.recheck(f, before, c.location, openMode{OpenMode: guestfs.OpenMode{Read: true, Follow: c.follow}})
		if (err == nil) != c.fine {
			t.Errorf("%s: %v", c.name, err)
		}
		f.Close()
	}
}

func TestSetGroupIDIsNotWrittenTo(t *testing.T) {
	w := newWorld(t, true, generous)
	if err := os.Chmod(filepath.Join(w.granted, "in.txt"), os.ModeSetgid|0o755); err != nil {
		t.Fatal(err)
	}
	check(t, "write", w.opens("in.txt", sys.O_WRONLY), sys.EPERM)
}

// Offsets at the end of the range do not overflow.
func TestLargestOffsets(t *testing.T) {
	w := newWorld(t, true, Limits{Disk: math.MaxInt64, Files: openFileLimit(5)})
	f := w.must("in.txt", sys.O_RDWR)
	for _, off := range []int64{math.MaxInt64, math.MaxInt64 - 1, math.MinInt64, -1} {
		_, errno := f.Pwrite([]byte("xx"), off)
		check(t, "pwrite", errno, sys.EINVAL)
	}
	if n, errno := f.Pread(make([]byte, 2), math.MaxInt64-1); n != 0 || errno != 0 && errno != sys.EINVAL {
		t.Errorf("pread: %d, %v", n, errno)
	}
	if _, errno := f.Seek(math.MaxInt64, 0); errno != 0 {
		t.Errorf("seek: %v", errno)
	}
	_, errno := f.Seek(1, 1)
	check(t, "seek beyond it", errno, sys.EINVAL)
	_, errno = f.Write([]byte("x"))
	check(t, "write there", errno, sys.EINVAL)
	check(t, "truncate", f.Truncate(math.MinInt64), sys.EINVAL)
	if st, errno := f.Stat(); st.Size != 6 || errno != 0 || w.set.Added() != 0 {
		t.Errorf("%d bytes, %v, added %d", st.Size, errno, w.set.Added())
	}
}

// Added matches the disk use after failures, removals and changes of existing files.
func TestAddedMatchesDiskUse(t *testing.T) {
	w := newWorld(t, true, Limits{Disk: 100 * EntryCost, Files: openFileLimit(10)})
	added := func(what string, want int64) {
		t.Helper()
		if got := w.set.Added(); got != want {
			t.Errorf("%s: added %d, want %d", what, got, want)
		}
	}
	for range 5 {
		check(t, "mkdir of what is there", w.fs.Mkdir("sub", 0o700), sys.EEXIST)
		check(t, "a file in no directory", w.opens("missing/x", sys.O_RDWR|sys.O_CREAT), sys.ENOENT)
		check(t, "a link in no directory", w.fs.Link("in.txt", "missing/x"), sys.ENOENT)
	}
	added("what failed", 0)
	f := w.must("big", sys.O_RDWR|sys.O_CREAT)
	if _, errno := f.Write(make([]byte, 10*EntryCost)); errno != 0 {
		t.Fatal(errno)
	}
	f.Close()
	added("a file", 11*EntryCost)
	for range 5 {
		check(t, "symlink", w.fs.Symlink(strings.Repeat("x", 1000), "link"), 0)
		check(t, "unlink", w.fs.Unlink("link"), 0)
		check(t, "mkdir", w.fs.Mkdir("directory", 0o700), 0)
		check(t, "rmdir", w.fs.Rmdir("directory"), 0)
	}
	added("links and directories that came and went", 11*EntryCost)
	check(t, "link", w.fs.Link("big", "same"), 0)
	for range 5 { // POSIX keeps both names
		check(t, "rename to itself", w.fs.Rename("big", "same"), 0)
	}
	added("two names of one file", 12*EntryCost)
	check(t, "unlink", w.fs.Unlink("same"), 0)
	check(t, "open to cut", w.opens("big", sys.O_RDWR|sys.O_TRUNC), 0)
	added("what was cut", EntryCost)
}
