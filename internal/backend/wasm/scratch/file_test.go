package scratch

import (
	"bytes"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero/experimental/sys"
)

func TestReadAndWrite(t *testing.T) {
	w := newWorld(t, plenty)
	f := w.must("f", creates)
	w.writes(f, "hello")
	w.writes(f, strings.Repeat("x", 2*pageSize))
	if at, errno := f.Seek(-3, io.SeekEnd); at != 2*pageSize+2 || errno != 0 {
		t.Errorf("%d, %v", at, errno)
	}
	w.writes(f, "the end")
	text, errno := w.reads("f")
	if want := "hello" + strings.Repeat("x", 2*pageSize-3) + "the end"; text != want || errno != 0 {
		t.Errorf("%d bytes, %v", len(text), errno)
	}
	if n, errno := f.Pwrite([]byte("H"), 0); n != 1 || errno != 0 {
		t.Error(errno)
	}
	buf := make([]byte, 5)
	if n, errno := f.Pread(buf, 0); n != 5 || errno != 0 || string(buf) != "Hello" {
		t.Errorf("%q %v", buf, errno)
	}
	if n, errno := f.Read(buf); n != 0 || errno != 0 {
		t.Errorf("at the end: %d, %v", n, errno)
	}
	for _, sync := range []func() sys.Errno{f.Sync, f.Datasync} {
		check(t, "sync", sync(), 0)
	}
	check(t, "open and cut", w.opens("f", sys.O_RDWR|sys.O_TRUNC), 0)
	if w.size("f") != 0 || w.Used() != EntryCost {
		t.Errorf("%d bytes, used %d", w.size("f"), w.Used())
	}
}

func TestAppend(t *testing.T) {
	w := newWorld(t, plenty).with("f")
	f := w.must("f", sys.O_RDWR|sys.O_APPEND)
	if !f.IsAppend() {
		t.Error("it does not")
	}
	other := w.must("f", writes)
	check(t, "cut", other.Truncate(5000), 0)
	w.writes(f, "x")
	if at, errno := f.Seek(0, io.SeekCurrent); at != 5001 || errno != 0 {
		t.Errorf("%d, %v", at, errno)
	}
	check(t, "no more", f.SetAppend(false), 0)
	if _, errno := f.Seek(0, io.SeekStart); errno != 0 {
		t.Error(errno)
	}
	w.writes(f, "y")
	if text, _ := w.reads("f"); text != "y"+strings.Repeat("\x00", 4999)+"x" {
		t.Errorf("%d bytes", len(text))
	}
}

func TestTruncatedDataDoesNotReappear(t *testing.T) {
	w := newWorld(t, plenty)
	for _, size := range []int64{0, 1, 100, pageSize - 1, pageSize, pageSize + 1, 3 * pageSize, 3*pageSize + 5} {
		f := w.must("f", creates|sys.O_TRUNC)
		w.writes(f, strings.Repeat("x", 4*pageSize))
		check(t, "cut", f.Truncate(size), 0)
		if used := w.Used() - EntryCost; used != count(size)*pageSize {
			t.Errorf("cut to %d, it counts %d", size, used)
		}
		check(t, "and grow", f.Truncate(5*pageSize), 0)
		text, _ := w.reads("f")
		if want := strings.Repeat("x", int(size)) + strings.Repeat("\x00", 5*pageSize-int(size)); text != want {
			t.Errorf("cut to %d, it has something of before", size)
		}
		check(t, "close", f.Close(), 0)
	}
	// A reused page of another file is empty.
	f := w.must("other", creates)
	if _, errno := f.Pwrite([]byte("y"), pageSize-1); errno != 0 {
		t.Error(errno)
	}
	if text, _ := w.reads("other"); strings.Contains(text, "x") {
		t.Error("it is the other's page")
	}
}

func TestLargeOffsets(t *testing.T) {
	w := newWorld(t, 4*pageSize)
	f := w.must("f", creates)
	for _, size := range []int64{1 << 62, math.MaxInt64, 5, 1 << 40, 0, math.MaxInt64} {
		check(t, "truncate", f.Truncate(size), 0)
		if w.size("f") != size || w.Used() != EntryCost {
			t.Errorf("%d, used %d", w.size("f"), w.Used())
		}
	}
	buf := bytes.Repeat([]byte("x"), 10)
	if n, errno := f.Pread(buf, 1<<62); n != 10 || errno != 0 || !bytes.Equal(buf, make([]byte, 10)) {
		t.Errorf("a hole: %d %q %v", n, buf, errno)
	}
	if n, errno := f.Pread(buf, math.MaxInt64-3); n != 3 || errno != 0 {
		t.Errorf("its end: %d %v", n, errno)
	}
	if n, errno := f.Read(make([]byte, maxPiece+1)); n != maxPiece || errno != 0 {
		t.Errorf("much of it: %d %v", n, errno)
	}
	if n, errno := f.Pwrite([]byte("x"), math.MaxInt64-1); n != 1 || errno != 0 {
		t.Errorf("%d %v", n, errno)
	}
	for name, errno := range map[string]sys.Errno{
		"behind the end":          func() sys.Errno { _, e := f.Pwrite([]byte("xy"), math.MaxInt64-1); return e }(),
		"a negative write":        func() sys.Errno { _, e := f.Pwrite([]byte("x"), -1); return e }(),
		"a negative read":         func() sys.Errno { _, e := f.Pread(buf, -1); return e }(),
		"the most negative":       func() sys.Errno { _, e := f.Pread(buf, math.MinInt64); return e }(),
		"a negative size":         f.Truncate(-1),
		"the most negative size":  f.Truncate(math.MinInt64),
		"before the beginning":    func() sys.Errno { _, e := f.Seek(-1, io.SeekStart); return e }(),
		"long before":             func() sys.Errno { _, e := f.Seek(math.MinInt64, io.SeekEnd); return e }(),
		"an offset that is wrong": func() sys.Errno { _, e := f.Seek(1, io.SeekEnd); return e }(),
		"no such whence":          func() sys.Errno { _, e := f.Seek(0, 3); return e }(),
	} {
		check(t, name, errno, sys.EINVAL)
	}
	if at, errno := f.Seek(0, io.SeekEnd); at != math.MaxInt64 || errno != 0 {
		t.Errorf("%d %v", at, errno)
	}
	_, errno := f.Write([]byte("x"))
	check(t, "a write at the very end", errno, sys.EINVAL)
	check(t, "cut", f.Truncate(0), 0)
	if w.Used() != EntryCost {
		t.Errorf("used %d", w.Used())
	}
}

func TestRights(t *testing.T) {
	w := newWorld(t, plenty).with("f", "d/")
	r, o, d := w.must("f", sys.O_RDONLY), w.must("f", writes), w.must("d", sys.O_RDONLY)
	closed, gone := w.must("f", sys.O_RDWR), w.must("d", sys.O_RDONLY)
	check(t, "close", closed.Close(), 0)
	check(t, "close again", closed.Close(), 0)
	check(t, "close", gone.Close(), 0)
	one := make([]byte, 1)
	read := func(f sys.File) sys.Errno { _, e := f.Read(one); return e }
	pread := func(f sys.File) sys.Errno { _, e := f.Pread(one, 0); return e }
	write := func(f sys.File) sys.Errno { _, e := f.Write(one); return e }
	pwrite := func(f sys.File) sys.Errno { _, e := f.Pwrite(one, 0); return e }
	cut := func(f sys.File) sys.Errno { return f.Truncate(0) }
	seek := func(f sys.File) sys.Errno { _, e := f.Seek(0, 0); return e }
	far := func(f sys.File) sys.Errno { _, e := f.Seek(1, 0); return e }
	list := func(f sys.File) sys.Errno { _, e := f.Readdir(1); return e }
	stat := func(f sys.File) sys.Errno { _, e := f.Stat(); return e }
	times := func(f sys.File) sys.Errno { return f.Utimens(1, 1) }
	for _, c := range []struct {
		name string
		f    sys.File
		do   func(sys.File) sys.Errno
		want sys.Errno
	}{
		{"write what is read", r, write, sys.EBADF},
		{"pwrite what is read", r, pwrite, sys.EBADF},
		{"cut what is read", r, cut, sys.EBADF},
		{"read what is written", o, read, sys.EBADF},
		{"pread what is written", o, pread, sys.EBADF},
		{"list a file", r, list, sys.ENOSYS},
		{"times of what is read", r, times, 0},
		{"read a directory", d, read, sys.EISDIR},
		{"pread a directory", d, pread, sys.EISDIR},
		{"write a directory", d, write, sys.EISDIR},
		{"pwrite a directory", d, pwrite, sys.EISDIR},
		{"cut a directory", d, cut, sys.EISDIR},
		{"seek in a directory", d, far, sys.EINVAL},
		{"times of a directory", d, times, 0},
		{"stat a directory", d, stat, 0},
		{"read what is closed", closed, read, sys.EBADF},
		{"pread what is closed", closed, pread, sys.EBADF},
		{"write what is closed", closed, write, sys.EBADF},
		{"pwrite what is closed", closed, pwrite, sys.EBADF},
		{"cut what is closed", closed, cut, sys.EBADF},
		{"seek in what is closed", closed, seek, sys.EBADF},
		{"stat what is closed", closed, stat, sys.EBADF},
		{"times of what is closed", closed, times, sys.EBADF},
		{"sync what is closed", closed, sys.File.Sync, sys.EBADF},
		{"append to what is closed", closed, func(f sys.File) sys.Errno { return f.SetAppend(true) }, sys.EBADF},
		{"list a closed directory", gone, list, sys.EBADF},
		{"seek in a closed directory", gone, seek, sys.EBADF},
	} {
		check(t, c.name, c.do(c.f), c.want)
	}
}
