package rootfs

import (
	"slices"
	"testing"

	"github.com/tetratelabs/wazero/experimental/sys"
)

func TestReadGrantAllowsNoChanges(t *testing.T) {
	w := newWorld(t, false, generous)
	before := contents(t, w.granted)
	open := func(path string, flag sys.Oflag) func() sys.Errno {
		return func() sys.Errno { return w.opens(path, flag) }
	}
	for _, c := range []struct {
		name string
		do   func() sys.Errno
	}{
		{"open rdwr", open("in.txt", sys.O_RDWR)},
		{"open wronly", open("in.txt", sys.O_WRONLY)},
		{"open append", open("in.txt", sys.O_WRONLY|sys.O_APPEND)},
		{"open truncate", open("in.txt", sys.O_RDWR|sys.O_TRUNC)},
		{"open create", open("new", sys.O_RDWR|sys.O_CREAT)},
		{"open create to read", open("new", sys.O_RDONLY|sys.O_CREAT)},
		{"open create, there", open("in.txt", sys.O_RDWR|sys.O_CREAT)},
		{"open create exclusive", open("new", sys.O_RDWR|sys.O_CREAT|sys.O_EXCL)},
		{"mkdir", func() sys.Errno { return w.fs.Mkdir("new", 0o700) }},
		{"rmdir", func() sys.Errno { return w.fs.Rmdir("empty") }},
		{"unlink", func() sys.Errno { return w.fs.Unlink("in.txt") }},
		{"rename", func() sys.Errno { return w.fs.Rename("in.txt", "new") }},
		{"link", func() sys.Errno { return w.fs.Link("in.txt", "new") }},
		{"symlink", func() sys.Errno { return w.fs.Symlink("in.txt", "new") }},
		{"utimens", func() sys.Errno { return w.fs.Utimens("in.txt", 1, 1) }},
		{"chmod", func() sys.Errno { return w.fs.Chmod("in.txt", 0o700) }},
		{"utimens of a file", func() sys.Errno { return w.must("in.txt", sys.O_RDONLY).Utimens(1, 1) }},
		{"utimens of a directory", func() sys.Errno { return w.must("sub", sys.O_RDONLY).Utimens(1, 1) }},
	} {
		check(t, c.name, c.do(), sys.EROFS)
	}
	check(t, "open truncate to read", w.opens("in.txt", sys.O_RDONLY|sys.O_TRUNC), sys.EINVAL)
	f := w.must("in.txt", sys.O_RDONLY)
	check(t, "write", func() sys.Errno { _, e := f.Write([]byte("x")); return e }(), sys.EBADF)
	check(t, "pwrite", func() sys.Errno { _, e := f.Pwrite([]byte("x"), 0); return e }(), sys.EBADF)
	check(t, "truncate", f.Truncate(0), sys.EBADF)
	check(t, "sync", f.Sync(), 0)

	if after := contents(t, w.granted); len(after) != len(before) {
		t.Errorf("%v\n%v", before, after)
	} else {
		for path, was := range before {
			if after[path] != was {
				t.Errorf("%s: %s; was %s", path, after[path], was)
			}
		}
	}
	for _, told := range []string{"open /data/in.txt", "open /data/new", "mkdir /data/new", "unlink /data/in.txt", "utimens /data/sub"} {
		if !slices.Contains(w.denied, told) {
			t.Errorf("%q is not among %q", told, w.denied)
		}
	}
	if w.set.Added() != 0 {
		t.Errorf("added %d", w.set.Added())
	}
}

// Each attempt and each exceeded quota is reported, because one guest may have many runs.
func TestDenialsAndLimitsAreReportedEachTime(t *testing.T) {
	readOnly, full := newWorld(t, false, generous), newWorld(t, true, Limits{})
	for range 3 {
		ignoreErrno(readOnly.fs.Mkdir("same", 0o700))
		ignoreErrno(full.fs.Mkdir("same", 0o700))
	}
	if want := []string{"mkdir /data/same", "mkdir /data/same", "mkdir /data/same"}; !slices.Equal(readOnly.denied, want) {
		t.Errorf("denied %q", readOnly.denied)
	}
	if want := []string{DiskLimit, DiskLimit, DiskLimit}; !slices.Equal(full.exceeded, want) {
		t.Errorf("exceeded %q", full.exceeded)
	}
}
