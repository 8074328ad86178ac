package rootfs

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tetratelabs/wazero/experimental/sys"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
)

func TestReadAndWriteFile(t *testing.T) {
	w := newWorld(t, true, generous)
	f := w.must("new", sys.O_RDWR|sys.O_CREAT)
	do := func(want string, act func() (int, sys.Errno)) {
		t.Helper()
		if _, errno := act(); errno != 0 {
			t.Error(errno)
		}
		if got, err := os.ReadFile(filepath.Join(w.granted, "new")); string(got) != want || err != nil {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
	seek := func(want, offset int64, whence int, errno sys.Errno) {
		t.Helper()
		if at, e := f.Seek(offset, whence); at != want || e != errno {
			t.Errorf("seek: %d, %v; want %d, %v", at, e, want, errno)
		}
	}
	do("hello", func() (int, sys.Errno) { return f.Write([]byte("hello")) })
	do("hello world", func() (int, sys.Errno) { return f.Write([]byte(" world")) })
	seek(0, 0, io.SeekStart, 0)
	do("Hello world", func() (int, sys.Errno) { return f.Write([]byte("H")) })
	do("Hello World", func() (int, sys.Errno) { return f.Pwrite([]byte("W"), 6) })
	seek(1, 0, io.SeekCurrent, 0)
	seek(9, -2, io.SeekEnd, 0)
	seek(0, -10, io.SeekCurrent, sys.EINVAL)
	seek(0, 0, 7, sys.EINVAL)
	check(t, "append", f.SetAppend(true), 0)
	do("Hello World!", func() (int, sys.Errno) { return f.Write([]byte("!")) })
	seek(12, 0, io.SeekCurrent, 0)
	do("Hello", func() (int, sys.Errno) { return 0, f.Truncate(5) })
	do("Hello!", func() (int, sys.Errno) { return f.Write([]byte("!")) })
	buf := make([]byte, 10)
	if n, errno := f.Pread(buf, 1); string(buf[:n]) != "ello!" || errno != 0 {
		t.Errorf("%q, %v", buf[:n], errno)
	}
	if n, errno := f.Read(buf); n != 0 || errno != 0 {
		t.Errorf("at the end: %d, %v", n, errno)
	}
	if !f.IsAppend() || f.Sync() != 0 || f.Datasync() != 0 {
		t.Error("append, sync")
	}
	_, errno := f.Pread(buf, -1)
	check(t, "pread before the beginning", errno, sys.EINVAL)
	_, errno = f.Pwrite(buf, -1)
	check(t, "pwrite before the beginning", errno, sys.EINVAL)
	check(t, "truncate before the beginning", f.Truncate(-1), sys.EINVAL)

	only := w.must("new", sys.O_WRONLY)
	_, errno = only.Read(buf)
	check(t, "read what is open to write", errno, sys.EBADF)
}

// A write is never short, because wazero would continue after it. A read may be short.
func TestPieces(t *testing.T) {
	w := newWorld(t, true, generous)
	f := w.must("big", sys.O_RDWR|sys.O_CREAT)
	big := bytes.Repeat([]byte("0123456789abcde\n"), (3*maxPiece+maxPiece/2)/16)
	if n, errno := f.Write(big); n != len(big) || errno != 0 {
		t.Errorf("write: %d, %v", n, errno)
	}
	buf := make([]byte, len(big))
	if n, errno := f.Pread(buf, 0); n != maxPiece || errno != 0 {
		t.Errorf("read: %d, %v", n, errno)
	}
	if got, err := os.ReadFile(filepath.Join(w.granted, "big")); !bytes.Equal(got, big) || err != nil {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func TestDirectoriesAreReadInPieces(t *testing.T) {
	w := newWorld(t, true, generous)
	const many = 3*namesPiece + 7
	for i := range many {
		fill(t, filepath.Join(w.granted, "sub", fmt.Sprint(i)), "")
	}
	dir := w.must("sub", sys.O_RDONLY|sys.O_DIRECTORY)
	for round := range 2 {
		seen := map[string]bool{}
		for {
			entries, errno := dir.Readdir(1000)
			if errno != 0 {
				t.Fatal(errno)
			}
			for _, e := range entries {
				seen[e.Name] = true
				if e.Type != 0 {
					t.Errorf("%s is %v", e.Name, e.Type)
				}
			}
			if len(entries) < 1000 {
				break
			}
		}
		if len(seen) != many+1 {
			t.Errorf("round %d: %d names", round, len(seen))
		}
		if _, errno := dir.Seek(0, io.SeekStart); errno != 0 {
			t.Fatal(errno)
		}
	}
	_, errno := dir.Seek(1, io.SeekStart)
	check(t, "seek into it", errno, sys.EINVAL)
	_, errno = dir.Read(make([]byte, 1))
	check(t, "read", errno, sys.EISDIR)
	_, errno = w.must("in.txt", sys.O_RDONLY).Readdir(1)
	check(t, "readdir of a file", errno, sys.ENOSYS)
}

// A request for too many names fails, because wazero takes a short list for the whole.
func TestLongListingFailsInsteadOfBeingCut(t *testing.T) {
	hosttest.NotUnderRace(t, "it has one thread and much to do")
	w := newWorld(t, true, generous)
	for i := range maxNames {
		if err := os.Link(filepath.Join(w.granted, "in.txt"), filepath.Join(w.granted, "empty", fmt.Sprint(i))); err != nil {
			fill(t, filepath.Join(w.granted, "empty", fmt.Sprint(i)), "") // more names than one request allows
		}
	}
	dir := w.must("empty", sys.O_RDONLY|sys.O_DIRECTORY)
	if names, errno := dir.Readdir(1 << 30); len(names) != maxNames || errno != 0 {
		t.Errorf("%d names, %v", len(names), errno)
	}
	fill(t, filepath.Join(w.granted, "empty", "more"), "")
	for _, n := range []int{1 << 30, maxNames + 1, -1} {
		if _, errno := dir.Seek(0, io.SeekStart); errno != 0 {
			t.Fatal(errno)
		}
		_, errno := dir.Readdir(n)
		check(t, "too many", errno, sys.ERANGE)
	}
}

func TestStatHidesTheDevice(t *testing.T) {
	w := newWorld(t, true, generous)
	f := w.must("in.txt", sys.O_RDONLY)
	st, errno := f.Stat()
	if errno != 0 || st.Dev != 1 || st.Size != 6 || !st.Mode.IsRegular() {
		t.Errorf("%+v, %v", st, errno)
	}
	if dev, errno := f.Dev(); dev != 1 || errno != 0 {
		t.Errorf("%d, %v", dev, errno)
	}
	if same, errno := w.fs.Stat("in.txt"); same != st || errno != 0 {
		t.Errorf("%+v, %v; want %+v", same, errno, st)
	}
	if ino, errno := f.Ino(); ino != st.Ino || errno != 0 {
		t.Errorf("%d, %v", ino, errno)
	}
}

func TestTimes(t *testing.T) {
	w := newWorld(t, true, generous)
	f, dir := w.must("in.txt", sys.O_RDWR), w.must("sub", sys.O_RDONLY)
	then := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
	modified := func(name string) time.Time {
		info, err := os.Stat(filepath.Join(w.granted, name))
		if err != nil {
			t.Fatal(err)
		}
		return info.ModTime()
	}
	check(t, "path", w.fs.Utimens("in.txt", sys.UTIME_OMIT, then.UnixNano()), 0)
	if got := modified("in.txt"); !got.Equal(then) {
		t.Error(got)
	}
	check(t, "none", f.Utimens(sys.UTIME_OMIT, sys.UTIME_OMIT), 0)
	if got := modified("in.txt"); !got.Equal(then) {
		t.Error(got)
	}
	check(t, "file", f.Utimens(0, 0), 0)
	check(t, "directory", dir.Utimens(0, 0), 0)
	if a, b := modified("in.txt"), modified("sub"); !a.Equal(time.Unix(0, 0)) || !b.Equal(a) {
		t.Error(a, b)
	}
	// The path now names another file, so its times do not change.
	f.Close()
	f = w.must("in.txt", sys.O_RDONLY)
	check(t, "rename", w.fs.Rename("in.txt", "moved"), 0)
	fill(t, filepath.Join(w.granted, "in.txt"), "another")
	check(t, "a file that was moved", f.Utimens(0, 0), sys.ENOENT)
}

func TestRename(t *testing.T) {
	w := newWorld(t, true, generous)
	mkdir(t, filepath.Join(w.granted, "full", "x"))
	for _, c := range []struct {
		from, to string
		want     sys.Errno
	}{
		{"missing", "x", sys.ENOENT},
		{"in.txt", "missing/x", sys.ENOENT},
		{"in.txt", "sub", sys.EISDIR},
		{"sub", "in.txt", sys.ENOTDIR},
		{"sub", "full", sys.ENOTEMPTY},
		{"sub", "sub", 0},
		{"in.txt", "in.txt", 0},
		{"in.txt", "sub/deep.txt", 0},
		{"sub", "empty", 0},
		{"empty", "full/y", 0},
	} {
		check(t, c.from+" to "+c.to, w.fs.Rename(c.from, c.to), c.want)
	}
	if text, errno := w.reads("full/y/deep.txt"); text != "inside" {
		t.Errorf("%q, %v", text, errno)
	}
	check(t, "rmdir of a file", w.fs.Rmdir("full/y/deep.txt"), sys.ENOTDIR)
	check(t, "unlink of a directory", w.fs.Unlink("full"), sys.EISDIR)
	check(t, "rmdir of a full directory", w.fs.Rmdir("full"), sys.ENOTEMPTY)
	check(t, "mkdir of what is there", w.fs.Mkdir("full", 0o700), sys.EEXIST)
	check(t, "mkdir in what is not", w.fs.Mkdir("missing/x", 0o700), sys.ENOENT)
}

func TestErrnoOf(t *testing.T) {
	for _, c := range []struct {
		err  error
		want sys.Errno
	}{
		{nil, 0},
		{io.EOF, 0},
		{&fs.PathError{Err: fs.ErrClosed}, sys.EBADF},
		{&fs.PathError{Err: fs.ErrNotExist}, sys.ENOENT},
		{&os.LinkError{Err: fs.ErrExist}, sys.EEXIST},
		{fs.ErrPermission, sys.EPERM},
		{fs.ErrInvalid, sys.EINVAL},
		{fmt.Errorf("wrapped: %w", sys.ELOOP), sys.ELOOP},
		{fmt.Errorf("wrapped: %w", overQuota), overQuota},
		{io.ErrUnexpectedEOF, sys.EIO},
	} {
		check(t, fmt.Sprint(c.err), errnoOf(c.err), c.want)
	}
}
