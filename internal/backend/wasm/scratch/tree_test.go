package scratch

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero/experimental/sys"
	wazerosys "github.com/tetratelabs/wazero/sys"

	"github.com/cordon-sandbox/cordon/internal/backend/wasm/guestfs"
)

// act is an operation of a guest on paths.
type act struct {
	name string
	do   func(sys.FS) sys.Errno
}

func opening(path string, flag sys.Oflag) act {
	return act{"open " + path, func(f sys.FS) sys.Errno {
		opened, errno := f.OpenFile(path, flag, 0o600)
		if errno == 0 {
			errno = opened.Close()
		}
		return errno
	}}
}

func stat(path string) act {
	return act{"stat " + path, func(f sys.FS) sys.Errno { _, e := f.Stat(path); return e }}
}

func lstat(path string) act {
	return act{"lstat " + path, func(f sys.FS) sys.Errno { _, e := f.Lstat(path); return e }}
}

func readlink(path string) act {
	return act{"readlink " + path, func(f sys.FS) sys.Errno { _, e := f.Readlink(path); return e }}
}

func mkdir(path string) act {
	return act{"mkdir " + path, func(f sys.FS) sys.Errno { return f.Mkdir(path, 0o700) }}
}

func rmdir(path string) act {
	return act{"rmdir " + path, func(f sys.FS) sys.Errno { return f.Rmdir(path) }}
}

func unlink(path string) act {
	return act{"unlink " + path, func(f sys.FS) sys.Errno { return f.Unlink(path) }}
}

func rename(from, to string) act {
	return act{"rename " + from + " " + to, func(f sys.FS) sys.Errno { return f.Rename(from, to) }}
}

func link(from, to string) act {
	return act{"link " + from + " " + to, func(f sys.FS) sys.Errno { return f.Link(from, to) }}
}

func symlink(text, path string) act {
	return act{"symlink " + text + " " + path, func(f sys.FS) sys.Errno { return f.Symlink(text, path) }}
}

// fixture has the files for each act of verdicts. No link leads out.
var fixture = []string{
	"file", "other", "directory/", "directory/in", "directory/sub/", "empty/", "same = file",
	"link -> file", "to-directory -> directory", "chain -> to-directory/in", "dangling -> new", "loop -> loop", "directory/up -> in",
}

const creates, writes = sys.O_RDWR | sys.O_CREAT, sys.O_WRONLY

// verdicts hold for the host's file systems too: see TestVerdictsMatchTheHost.
var verdicts = []struct {
	act
	want sys.Errno
}{
	{opening("file", sys.O_RDONLY), 0},
	{opening("missing", sys.O_RDONLY), sys.ENOENT},
	{opening("missing/x", creates), sys.ENOENT},
	{opening("file/x", creates), sys.ENOTDIR},
	{opening("file/", sys.O_RDONLY), sys.ENOTDIR},
	{opening("file/", creates), sys.EISDIR},
	{opening("new/", creates), sys.EISDIR},
	{opening("new", creates), 0},
	{opening("file", creates|sys.O_EXCL), sys.EEXIST},
	{opening("directory", creates|sys.O_EXCL), sys.EEXIST},
	{opening("directory", sys.O_RDONLY), 0},
	{opening("directory/", sys.O_RDONLY|sys.O_DIRECTORY), 0},
	{opening("directory", writes), sys.EISDIR},
	{opening("directory", creates), sys.EISDIR},
	{opening("file", sys.O_DIRECTORY), sys.ENOTDIR},
	{opening("link", sys.O_RDONLY), 0},
	{opening("link", sys.O_RDONLY|sys.O_NOFOLLOW), sys.ELOOP},
	{opening("link", sys.O_RDONLY|sys.O_NOFOLLOW|sys.O_DIRECTORY), sys.ENOTDIR},
	{opening("link/", sys.O_RDONLY), sys.ENOTDIR},
	{opening("link", creates|sys.O_EXCL), sys.EEXIST},
	{opening("to-directory", sys.O_DIRECTORY), 0},
	{opening("to-directory/", sys.O_DIRECTORY|sys.O_NOFOLLOW), 0},
	{opening("to-directory/in", sys.O_RDONLY), 0},
	{opening("chain", sys.O_RDONLY), 0},
	{opening("directory/up", sys.O_RDONLY), 0},
	{opening("dangling", sys.O_RDONLY), sys.ENOENT},
	{opening("dangling", creates), 0},
	{opening("dangling", creates|sys.O_EXCL), sys.EEXIST},
	{opening("dangling", creates|sys.O_NOFOLLOW), sys.ELOOP},
	{opening("loop", sys.O_RDONLY), sys.ELOOP},
	{opening("loop/x", sys.O_RDONLY), sys.ELOOP},
	{opening("loop/", creates), sys.EISDIR},
	{opening(strings.Repeat("a", 255), creates), 0},
	{opening(strings.Repeat("a", 256), creates), sys.ENAMETOOLONG},
	{opening("directory/../file", sys.O_RDONLY), 0},
	{opening("to-directory/sub/../in", sys.O_RDONLY), 0},
	{opening("file/../file", sys.O_RDONLY), sys.ENOTDIR},
	{opening("./directory//in", sys.O_RDONLY), 0},
	{stat("file"), 0},
	{stat("dangling"), sys.ENOENT},
	{stat("loop"), sys.ELOOP},
	{stat("file/"), sys.ENOTDIR},
	{lstat("dangling"), 0},
	{lstat("loop"), 0},
	{lstat("loop/"), sys.ELOOP},
	{lstat("link/"), sys.ENOTDIR},
	{lstat("to-directory/"), 0},
	{readlink("link"), 0},
	{readlink("file"), sys.EINVAL},
	{readlink("missing"), sys.ENOENT},
	{readlink("to-directory/"), sys.EINVAL},
	{mkdir("new"), 0},
	{mkdir("new/"), 0},
	{mkdir("file"), sys.EEXIST},
	{mkdir("directory/"), sys.EEXIST},
	{mkdir("dangling"), sys.EEXIST},
	{mkdir("missing/new"), sys.ENOENT},
	{mkdir("to-directory/new"), 0},
	{mkdir("."), sys.EEXIST},
	{rmdir("empty"), 0},
	{rmdir("empty/"), 0},
	{rmdir("directory"), sys.ENOTEMPTY},
	{rmdir("file"), sys.ENOTDIR},
	{rmdir("to-directory"), sys.ENOTDIR},
	{rmdir("missing"), sys.ENOENT},
	{rmdir("empty/."), sys.EINVAL},
	{unlink("file"), 0},
	{unlink("link"), 0},
	{unlink("to-directory"), 0},
	{unlink("to-directory/"), sys.ENOTDIR},
	{unlink("file/"), sys.ENOTDIR},
	{unlink("directory"), sys.EISDIR},
	{unlink("missing"), sys.ENOENT},
	{unlink("missing/"), sys.ENOENT},
	{rename("file", "new"), 0},
	{rename("file", "other"), 0},
	{rename("file", "same"), 0},
	{rename("file", "file"), 0},
	{rename("file", "new/"), sys.ENOTDIR},
	{rename("file/", "new"), sys.ENOTDIR},
	{rename("file", "directory"), sys.EISDIR},
	{rename("file", "empty"), sys.EISDIR},
	{rename("file", "directory/in"), 0},
	{rename("file", "missing/new"), sys.ENOENT},
	{rename("missing", "file"), sys.ENOENT},
	{rename("directory", "new"), 0},
	{rename("directory/", "new/"), 0},
	{rename("directory", "empty"), 0},
	{rename("empty", "directory"), sys.ENOTEMPTY},
	{rename("directory", "file"), sys.ENOTDIR},
	{rename("directory", "directory"), 0},
	{rename("directory", "directory/sub"), sys.EINVAL},
	{rename("directory", "directory/sub/new"), sys.EINVAL},
	{rename("directory", "to-directory/sub/new"), sys.EINVAL},
	{rename("directory/sub", "directory"), sys.ENOTEMPTY},
	{rename("directory/in", "directory"), sys.ENOTEMPTY},
	{rename("directory/in", "in"), 0},
	{rename("link", "new"), 0},
	{rename("file", "link"), 0},
	{rename("file", "to-directory"), 0},
	{rename("to-directory", "empty"), sys.EISDIR},
	{link("file", "new"), 0},
	{link("file", "other"), sys.EEXIST},
	{link("file", "same"), sys.EEXIST},
	{link("file", "new/"), sys.ENOENT},
	{link("directory", "new"), sys.EPERM},
	{link("directory", "file"), sys.EEXIST},
	{link("missing", "new"), sys.ENOENT},
	{link("link", "new"), 0},
	{symlink("anything at all", "new"), 0},
	{symlink("x", "file"), sys.EEXIST},
	{symlink("x", "new/"), sys.ENOENT},
	{symlink("x", "missing/new"), sys.ENOENT},
	{symlink(strings.Repeat("a", 4095), "new"), 0},
	{symlink(strings.Repeat("a", 4096), "new"), sys.ENAMETOOLONG},
	{symlink("", "new"), sys.ENOENT},
}

func TestVerdicts(t *testing.T) {
	for _, v := range verdicts {
		w := newWorld(t, plenty).with(fixture...)
		check(t, v.name, v.do(w.FS), v.want)
		w.recount()
	}
}

// Verdicts that differ from the host's, or that WASI never needs.
func TestOwnVerdicts(t *testing.T) {
	for _, v := range []struct {
		act
		want sys.Errno
	}{
		{opening("file", sys.O_RDWR|sys.O_WRONLY), sys.EINVAL},
		{opening("file", sys.O_RDONLY|sys.O_TRUNC), sys.EINVAL},
		{opening("new", creates|sys.O_DIRECTORY), sys.EINVAL},
		{opening("directory", sys.O_RDWR|sys.O_DIRECTORY), 0},
		{opening("a\x00b", creates), sys.EINVAL},
		{symlink("a\x00b", "new"), sys.EINVAL},
		{opening("", sys.O_RDONLY), 0},
		{opening("/file", sys.O_RDONLY), 0},
		{opening("/", sys.O_RDONLY), 0},
		{opening(strings.Repeat("a/", 2047)+"aa", sys.O_RDONLY), sys.ENOENT},
		{opening(strings.Repeat("a/", 2047)+"aaa", sys.O_RDONLY), sys.ENAMETOOLONG},
		{rmdir("."), sys.EINVAL},
		{unlink("."), sys.EISDIR},
		{rename(".", "new"), sys.EINVAL},
		{rename("directory", "."), sys.EINVAL},
		{rename("directory/.", "new"), sys.EINVAL},
		{opening("..", sys.O_RDONLY), sys.EPERM},
		{opening("../tmp/file", sys.O_RDONLY), sys.EPERM},
		{mkdir("directory/../../x"), sys.EPERM},
	} {
		w := newWorld(t, plenty).with(fixture...)
		check(t, v.name, v.do(w.FS), v.want)
	}
}

func TestLinksCannotLeadOut(t *testing.T) {
	for text, want := range map[string]sys.Errno{
		"/tmp/directory/in": 0, "/tmp/link": 0, "/tmp//file": 0, "/tmp/to-directory/in": 0, "../directory/in": 0, "./in": 0, "../directory/../file": 0,
		"/tmp": 0, "/tmp/": 0, "..": 0, "/tmp/missing": sys.ENOENT,
		"/etc/passwd": sys.EPERM, "/lib/python311.zip": sys.EPERM, "/tmpfile": sys.EPERM, "/": sys.EPERM, "/tmp/../etc": sys.EPERM,
		"../../tmp/file": sys.EPERM, "../..": sys.EPERM, "//tmp/file": sys.EPERM,
	} {
		w := newWorld(t, plenty).with(fixture...)
		check(t, "symlink "+text, w.Symlink(text, "directory/l"), 0)
		check(t, "follow "+text, w.opens("directory/l", sys.O_RDONLY), want)
		if got, errno := w.Readlink("directory/l"); got != text || errno != 0 {
			t.Errorf("readlink: %q, %v; want %q", got, errno, text)
		}
	}
	nowhere := New(Limits{Files: openFileLimit(1000)})
	nowhere.Allow(plenty)
	check(t, "without a place", nowhere.Symlink("/x", "l"), 0)
	_, errno := nowhere.Stat("l")
	check(t, "without a place", errno, sys.EPERM)
}

func TestNumberOfFollowedLinksIsBounded(t *testing.T) {
	w := newWorld(t, plenty).with("0")
	for i := range 45 {
		check(t, "symlink", w.Symlink(string(rune('0'+i)), string(rune('1'+i))), 0)
	}
	check(t, "forty", w.opens(string(rune('0'+40)), sys.O_RDONLY), 0)
	check(t, "one more", w.opens(string(rune('0'+41)), sys.O_RDONLY), sys.ELOOP)
	// Links that lengthen a path with each step end soon.
	check(t, "bomb", w.Symlink(strings.Repeat("bomb/", 800), "bomb"), 0)
	check(t, "bomb", w.opens("bomb", sys.O_RDONLY), sys.ELOOP)
}

func TestDirectoryCannotBeMovedIntoItself(t *testing.T) {
	w := newWorld(t, plenty).with("a/", "a/b/", "a/b/c/", "a/b/c/d/", "x/", "back -> a")
	for _, to := range []string{"a/y", "a/b/y", "a/b/c/d/y", "a/b", "back/b/c/y"} {
		check(t, "rename a "+to, w.Rename("a", to), sys.EINVAL)
	}
	check(t, "a way round", w.Rename("a/b", "x/b"), 0)
	check(t, "a way round", w.Rename("a", "x/b/c/d/a"), 0)
	check(t, "and back", w.Rename("x", "x/b/c/d/a/x"), sys.EINVAL)
	check(t, "and back", w.Rename("x/b", "x/b/c/d/a/x"), sys.EINVAL)
	if _, errno := w.Stat("x/b/c/d/a"); errno != 0 {
		t.Error(errno)
	}
}

func TestDirectoriesInDirectories(t *testing.T) {
	w := newWorld(t, plenty)
	path, depth := "", 0
	for errno := sys.Errno(0); ; depth++ {
		if errno = w.Mkdir(path+"d", 0o700); errno != 0 {
			check(t, "the deepest", errno, sys.ENAMETOOLONG)
			break
		}
		path += "d/"
	}
	if depth != 2048 {
		t.Errorf("%d directories", depth)
	}
	// Renaming makes it deeper, and it stays a tree.
	for range 5 {
		if errno := w.Mkdir("e", 0o700); errno != 0 {
			t.Fatal(errno)
		}
		if errno := w.Rename("d", "e/d"); errno != 0 {
			t.Fatal(errno)
		}
		if errno := w.Rename("e", "d"); errno != 0 {
			t.Fatal(errno)
		}
	}
	check(t, "into the deepest", w.Rename("d", strings.Repeat("d/", 2000)+"x"), sys.EINVAL)
}

func TestOpenFileOutlivesItsName(t *testing.T) {
	w := newWorld(t, 3*pageSize+4*EntryCost).with("other")
	f := w.must("file", creates)
	w.writes(f, "words")
	check(t, "unlink", w.Unlink("file"), 0)
	check(t, "another of that name", w.opens("file", creates|sys.O_EXCL), 0)
	buf := make([]byte, 10)
	if n, errno := f.Pread(buf, 0); string(buf[:n]) != "words" || errno != 0 {
		t.Errorf("%q, %v", buf[:n], errno)
	}
	w.writes(f, strings.Repeat("x", pageSize)) // it can still grow
	if st, errno := f.Stat(); st.Nlink != 0 || st.Size != pageSize+5 || errno != 0 {
		t.Errorf("%+v, %v", st, errno)
	}
	// Its size counts until it is closed.
	other := w.must("other", writes)
	_, errno := other.Pwrite([]byte("x"), pageSize)
	check(t, "write", errno, guestfs.ENOSPC)
	check(t, "close", f.Close(), 0)
	_, errno = other.Pwrite([]byte("x"), pageSize)
	check(t, "write", errno, 0)

	check(t, "rename over an open file", w.Rename("file", "other"), 0)
	if got, errno := w.reads("other"); got != "" || errno != 0 {
		t.Errorf("%q, %v", got, errno)
	}
	if n, errno := other.Pwrite([]byte("y"), 0); n != 1 || errno != 0 {
		t.Error(errno)
	}
	check(t, "close", other.Close(), 0)
	if w.Used() != EntryCost {
		t.Errorf("used %d", w.Used())
	}
	kept := w.must("other", creates)
	check(t, "rename an open file", w.Rename("other", "elsewhere"), 0)
	w.writes(kept, "more")
	if got, _ := w.reads("elsewhere"); got != "more" {
		t.Errorf("%q", got)
	}
}

func TestNamesOfOneFile(t *testing.T) {
	w := newWorld(t, plenty).with("a", "b = a", "c = b")
	one, _ := w.Stat("a")
	two, _ := w.Stat("c")
	if one.Ino != two.Ino || one.Nlink != 3 {
		t.Errorf("%+v, %+v", one, two)
	}
	before := w.Used()
	check(t, "unlink", w.Unlink("a"), 0)
	check(t, "unlink", w.Unlink("b"), 0)
	if got, _ := w.reads("c"); got != "a" || before-w.Used() != 2*EntryCost {
		t.Errorf("%q, %d freed", got, before-w.Used())
	}
	check(t, "unlink", w.Unlink("c"), 0)
	if w.Used() != 0 {
		t.Errorf("used %d", w.Used())
	}
}

func TestStat(t *testing.T) {
	w := newWorld(t, plenty).with("directory/", "directory/sub/", "file", "link -> file")
	at := func(path string) wazerosys.Stat_t {
		st, errno := w.Lstat(path)
		if errno != 0 {
			t.Fatal(errno)
		}
		return st
	}
	for path, want := range map[string]struct {
		mode  fs.FileMode
		links uint64
		size  int64
	}{
		".": {fs.ModeDir | 0o777, 3, 0}, "directory": {fs.ModeDir | 0o700, 3, 0}, "directory/sub": {fs.ModeDir | 0o700, 2, 0},
		"file": {0o600, 1, 4}, "link": {fs.ModeSymlink | 0o777, 1, 4},
	} {
		if st := at(path); st.Mode != want.mode || st.Nlink != want.links || st.Size != want.size || st.Dev != device {
			t.Errorf("%s: %+v", path, st)
		}
	}
	check(t, "chmod", w.Chmod("link", 0o4751), 0)
	if st := at("file"); st.Mode != 0o751 {
		t.Errorf("mode %v", st.Mode)
	}
	check(t, "chmod", w.Chmod("directory", 0o500), 0)
	check(t, "a mode means nothing", w.opens("directory/new", creates), 0)
	check(t, "chmod of nothing", w.Chmod("missing", 0o600), sys.ENOENT)
	inodes := map[wazerosys.Inode]bool{}
	for _, path := range []string{".", "directory", "directory/sub", "directory/new", "file", "link"} {
		inodes[at(path).Ino] = true
	}
	if len(inodes) != 6 || inodes[0] {
		t.Errorf("inodes %v", inodes)
	}
}

func TestTimesComeFromTheGuestsClock(t *testing.T) {
	w := newWorld(t, plenty)
	type times struct{ accessed, modified, changed int64 }
	at := func(path string) times {
		st, errno := w.Lstat(path)
		if errno != 0 {
			t.Fatal(errno)
		}
		return times{st.Atim / 1e9, st.Mtim / 1e9, st.Ctim / 1e9}
	}
	expect := func(path string, want times) {
		t.Helper()
		if got := at(path); got != want {
			t.Errorf("%s: %+v, want %+v", path, got, want)
		}
	}
	if w.seconds != 0 {
		t.Error("somebody looked at the clock before the guest began")
	}
	expect(".", times{1, 1, 1})
	f := w.must("file", creates) // 2, and the directory 3
	expect("file", times{2, 2, 2})
	expect(".", times{1, 3, 3})
	w.writes(f, "x")
	expect("file", times{2, 4, 4})
	check(t, "truncate", f.Truncate(9), 0)
	expect("file", times{2, 5, 5})
	check(t, "utimens", w.Utimens("file", 70e9, 80e9), 0)
	expect("file", times{70, 80, 6})
	check(t, "utimens", f.Utimens(sys.UTIME_OMIT, 90e9), 0)
	expect("file", times{70, 90, 7})
	check(t, "utimens", f.Utimens(-1e9, sys.UTIME_OMIT), 0)
	expect("file", times{-1, 90, 8})
	check(t, "rename", w.Rename("file", "new"), 0)
	expect("new", times{-1, 90, 9})
	expect(".", times{1, 9, 9})
	check(t, "chmod", w.Chmod("new", 0o600), 0)
	expect("new", times{-1, 90, 10})
	_, errno := f.Pread(make([]byte, 5), 0)
	check(t, "read", errno, 0)
	_, errno = f.Write(nil)
	check(t, "write of nothing", errno, 0)
	expect("new", times{-1, 90, 10})
	check(t, "utimens", w.Utimens("missing", 1, 1), sys.ENOENT)
	if st, _ := New(Limits{Files: openFileLimit(1000)}).Stat("."); st.Mtim != 0 {
		t.Errorf("without a clock it is %d", st.Mtim)
	}
}
