package guestfs

import (
	"math"
	"testing"

	"github.com/tetratelabs/wazero/experimental/sys"
)

// fakeFile is an open file that does nothing.
type fakeFile struct {
	sys.UnimplementedFile
	release func()
}

func (h *Handles) try(path string, fails sys.Errno) (*fakeFile, sys.Errno) {
	f, errno := h.Open(path, sys.O_RDONLY, func(release func()) (sys.File, sys.Errno) {
		return &fakeFile{release: release}, fails
	})
	if errno != 0 {
		return nil, errno
	}
	return f.(*fakeFile), 0
}

// All mounts share one limit, which may change, and every release is counted.
func TestOpenFiles(t *testing.T) {
	told := 0
	files := NewOpenFiles(func(limit string) {
		if limit != Limit {
			t.Errorf("exceeded %q", limit)
		}
		told++
	})
	one, two := HandlesOf(files), HandlesOf(files)
	want := func(what string, got, want sys.Errno) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	_, errno := one.try("x", 0)
	want("before anything is allowed", errno, EMFILE)
	files.Allow(2)
	first, errno := one.try("x", 0)
	want("the first", errno, 0)
	_, errno = two.try("x", sys.EPERM)
	want("what fails does so in its own words", errno, sys.EPERM)
	_, errno = two.try("x", 0)
	want("the second", errno, 0)
	_, errno = two.try("x", 0)
	want("the third", errno, EMFILE)
	_, errno = one.try("x", 0)
	want("the third, elsewhere", errno, EMFILE)
	if told != 3 {
		t.Errorf("told %d times of 3", told)
	}

	// wazero's handle is not counted, once for each mount.
	own, errno := one.try(".", 0)
	want("the mount", errno, 0)
	_, errno = one.try(".", 0)
	want("the mount again", errno, sys.ENOENT)
	own.release()
	_, errno = one.try("x", 0)
	want("instead of the mount", errno, EMFILE)
	_, errno = two.try(".", sys.EPERM)
	want("a mount that fails", errno, sys.ENOENT)

	first.release()
	_, errno = two.try("x", 0)
	want("after the first was closed", errno, 0)
	files.Allow(1)
	_, errno = two.try("x", 0)
	want("when fewer are allowed", errno, EMFILE)
	files.Allow(3)
	_, errno = two.try("x", 0)
	want("when more are allowed", errno, 0)

	_, errno = HandlesOf(nil).try("x", 0)
	want("without a count", errno, EMFILE)
}

func TestParseOpenMode(t *testing.T) {
	for _, test := range []struct {
		name  string
		flag  sys.Oflag
		errno sys.Errno
		want  OpenMode
	}{
		{"to read", sys.O_RDONLY, 0, OpenMode{Read: true, Follow: true}},
		{"to write", sys.O_WRONLY, 0, OpenMode{Write: true, Follow: true}},
		{"both", sys.O_RDWR | sys.O_APPEND | sys.O_SYNC, 0, OpenMode{Read: true, Write: true, Append: true, Sync: true, Follow: true}},
		{"neither", sys.O_RDWR | sys.O_WRONLY, sys.EINVAL, OpenMode{}},
		{"to cut what is only read", sys.O_RDONLY | sys.O_TRUNC, sys.EINVAL, OpenMode{}},
		{"a new file", sys.O_WRONLY | sys.O_CREAT | sys.O_EXCL | sys.O_NOFOLLOW, 0, OpenMode{Write: true, Create: true, Exclusive: true}},
		{"exclusive means nothing by itself", sys.O_RDONLY | sys.O_EXCL, 0, OpenMode{Read: true, Follow: true}},
		{"a directory, with all rights", sys.O_RDWR | sys.O_DIRECTORY, 0, OpenMode{Read: true, Directory: true, Follow: true}},
		{"a new directory", sys.O_RDWR | sys.O_DIRECTORY | sys.O_CREAT, sys.EINVAL, OpenMode{}},
		{"a directory to be cut", sys.O_RDWR | sys.O_DIRECTORY | sys.O_TRUNC, sys.EINVAL, OpenMode{}},
	} {
		got, errno := ParseOpenMode(test.flag)
		if errno != test.errno || errno == 0 && got != test.want {
			t.Errorf("%s: %+v %v", test.name, got, errno)
		}
	}
}

func TestSeek(t *testing.T) {
	for _, test := range []struct {
		offset int64
		whence int
		want   int64
		errno  sys.Errno
	}{
		{7, 0, 7, 0},
		{-1, 0, 0, sys.EINVAL},
		{-10, 1, 0, 0},
		{-11, 1, 0, sys.EINVAL},
		{5, 2, 105, 0},
		{math.MaxInt64, 0, math.MaxInt64, 0},
		{math.MaxInt64, 1, 0, sys.EINVAL},
		{math.MinInt64, 2, 0, sys.EINVAL},
		{0, 3, 0, sys.EINVAL},
	} {
		if got, errno := Seek(10, 100, test.offset, test.whence); got != test.want || errno != test.errno {
			t.Errorf("%d from %d: %d %v", test.offset, test.whence, got, errno)
		}
	}
}

// wazero opens a mount as "." and read-only. Any other open is the guest's, and is counted.
func TestOnlyWazerosOwnHandleIsNotCounted(t *testing.T) {
	open := func(func()) (sys.File, sys.Errno) { return &fakeFile{}, 0 }
	for _, flag := range []sys.Oflag{sys.O_RDONLY | sys.O_DIRECTORY, sys.O_RDWR, sys.O_RDONLY | sys.O_NOFOLLOW} {
		if _, errno := HandlesOf(NewOpenFiles(nil)).Open(".", flag, open); errno != EMFILE {
			t.Errorf("%#x: %v", flag, errno)
		}
	}
	if _, errno := HandlesOf(NewOpenFiles(nil)).Open(".", sys.O_RDONLY, open); errno != 0 {
		t.Error(errno)
	}
}
