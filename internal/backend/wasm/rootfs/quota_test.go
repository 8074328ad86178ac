package rootfs

import (
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/tetratelabs/wazero/experimental/sys"

	"github.com/cordon-sandbox/cordon/internal/backend/wasm/guestfs"
)

// sizes returns the total size and number of a directory's files.
func sizes(t *testing.T, dir string) (bytes int64, entries int) {
	t.Helper()
	found, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range found {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		entries++
		if info.IsDir() {
			b, n := sizes(t, filepath.Join(dir, e.Name()))
			bytes, entries = bytes+b, entries+n
		} else if info.Mode().IsRegular() {
			bytes += info.Size()
		}
	}
	return bytes, entries
}

// Each way to use disk is tried until it is refused, with a quota of four pages.
func TestQuotaBoundsEveryWayOfGrowing(t *testing.T) {
	const budget = 4 * EntryCost
	page := make([]byte, 1024)
	for _, c := range []struct {
		name string
		grow func(w *world, f sys.File, i int) sys.Errno
	}{
		{"write", func(_ *world, f sys.File, _ int) sys.Errno { _, e := f.Write(page); return e }},
		{"append", func(_ *world, f sys.File, _ int) sys.Errno {
			ignoreErrno(f.SetAppend(true))
			if _, e := f.Seek(0, io.SeekStart); e != 0 {
				return e
			}
			_, e := f.Write(page)
			return e
		}},
		{"pwrite", func(_ *world, f sys.File, i int) sys.Errno { _, e := f.Pwrite(page, int64(i)*1000); return e }},
		{"sparse seek and write", func(_ *world, f sys.File, _ int) sys.Errno {
			if _, e := f.Seek(3000, io.SeekEnd); e != 0 {
				return e
			}
			_, e := f.Write([]byte("x"))
			return e
		}},
		{"sparse pwrite", func(_ *world, f sys.File, _ int) sys.Errno { _, e := f.Pwrite([]byte("x"), 1<<40); return e }},
		{"the farthest pwrite", func(_ *world, f sys.File, _ int) sys.Errno { _, e := f.Pwrite([]byte("x"), math.MaxInt64-1); return e }},
		{"truncate", func(_ *world, f sys.File, i int) sys.Errno { return f.Truncate(int64(i+1) * 1000) }},
		{"the farthest truncate", func(_ *world, f sys.File, _ int) sys.Errno { return f.Truncate(math.MaxInt64) }},
		{"one large write", func(_ *world, f sys.File, _ int) sys.Errno { _, e := f.Write(make([]byte, budget+1)); return e }},
		{"empty files", func(w *world, _ sys.File, i int) sys.Errno { return w.opens(strconv.Itoa(i), sys.O_RDWR|sys.O_CREAT) }},
		{"empty files by exclusion", func(w *world, _ sys.File, i int) sys.Errno {
			return w.opens(strconv.Itoa(i), sys.O_RDWR|sys.O_CREAT|sys.O_EXCL|sys.O_NOFOLLOW)
		}},
		{"directories", func(w *world, _ sys.File, i int) sys.Errno { return w.fs.Mkdir(strconv.Itoa(i), 0o700) }},
		{"links", func(w *world, _ sys.File, i int) sys.Errno { return w.fs.Link("in.txt", strconv.Itoa(i)) }},
		{"symlinks", func(w *world, _ sys.File, i int) sys.Errno {
			// On Windows, creating links needs a privilege.
			if e := w.fs.Symlink("in.txt", strconv.Itoa(i)); e != sys.EPERM {
				return e
			}
			return w.fs.Mkdir(strconv.Itoa(i), 0o700)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, true, Limits{Disk: budget, Files: openFileLimit(10)})
			f := w.must("in.txt", sys.O_RDWR)
			bytes, entries := sizes(t, w.granted)
			var errno sys.Errno
			for i := 0; errno == 0; i++ {
				if errno = c.grow(w, f, i); i > 100 {
					t.Fatal("there is no end")
				}
			}
			if errno != guestfs.ENOSPC || !slices.Equal(w.exceeded, []string{"disk"}) {
				t.Errorf("%v; exceeded %q", errno, w.exceeded)
			}
			moreBytes, moreEntries := sizes(t, w.granted)
			grown := moreBytes - bytes + EntryCost*int64(moreEntries-entries)
			switch {
			case c.name == "links": // stat reports the file's size for each, but they do not use it
			case grown > budget, grown != w.set.Added():
				t.Errorf("grew by %d, counted %d, of %d", grown, w.set.Added(), budget)
			}
		})
	}
}

func TestMountsShareTheQuota(t *testing.T) {
	w := newWorld(t, true, generous)
	w.open([]Grant{{w.granted + "/sub", "/a", true}, {w.granted + "/empty", "/b", true}}, Limits{Disk: 2 * EntryCost})
	mounts := w.set.Mounts()
	check(t, "in one", mounts[0].FS.Mkdir("x", 0o700), 0)
	check(t, "in the other", mounts[1].FS.Mkdir("x", 0o700), 0)
	check(t, "in one again", mounts[0].FS.Mkdir("y", 0o700), guestfs.ENOSPC)
}

// A guest that uses one temporary file at a time needs quota for one.
func TestRemovedFilesReleaseQuota(t *testing.T) {
	w := newWorld(t, true, Limits{Disk: 8 * EntryCost, Files: openFileLimit(10)})
	big := make([]byte, 3*EntryCost)
	for i := range 20 {
		f := w.must("scratch", sys.O_RDWR|sys.O_CREAT|sys.O_TRUNC)
		if _, errno := f.Write(big); errno != 0 {
			t.Fatalf("round %d: %v", i, errno)
		}
		check(t, "cut", f.Truncate(0), 0)
		if _, errno := f.Pwrite(big, 0); errno != 0 {
			t.Fatalf("round %d: %v", i, errno)
		}
		f.Close()
		if countsNames {
			check(t, "rename", w.fs.Rename("scratch", "kept"), 0)
			if i%2 == 1 {
				check(t, "unlink", w.fs.Unlink("kept"), 0)
			}
		}
		check(t, "mkdir", w.fs.Mkdir("d", 0o700), 0)
		check(t, "rmdir", w.fs.Rmdir("d"), 0)
	}
	if w.set.Added() > 4*EntryCost {
		t.Errorf("added %d", w.set.Added())
	}
	// Removing existing files gives no credit.
	check(t, "unlink", w.fs.Unlink("in.txt"), 0)
	check(t, "unlink", w.fs.Unlink("sub/deep.txt"), 0)
	check(t, "rmdir", w.fs.Rmdir("empty"), 0)
	check(t, "rmdir", w.fs.Rmdir("sub"), 0)
	if w.set.Added() != 0 && countsNames {
		t.Errorf("added %d", w.set.Added())
	}
}

// Removed files that are still open, or that have another name, still use disk.
func TestRemovedOpenFileDoesNotReleaseQuota(t *testing.T) {
	w := newWorld(t, true, Limits{Disk: 100 * EntryCost, Files: openFileLimit(10)})
	f := w.must("open", sys.O_RDWR|sys.O_CREAT)
	if _, errno := f.Write(make([]byte, 10*EntryCost)); errno != 0 {
		t.Fatal(errno)
	}
	check(t, "link", w.fs.Link("open", "twice"), 0)
	check(t, "unlink with another name", w.fs.Unlink("twice"), 0)
	if errno := w.fs.Unlink("open"); errno != 0 && countsNames {
		t.Error(errno)
	}
	if w.set.Added() != 10*EntryCost && countsNames {
		t.Errorf("added %d", w.set.Added())
	}
}

func TestFileWithAnotherNameDoesNotReleaseQuota(t *testing.T) {
	w := newWorld(t, true, Limits{Disk: 100 * EntryCost, Files: openFileLimit(10)})
	f := w.must("one", sys.O_RDWR|sys.O_CREAT)
	if _, errno := f.Write(make([]byte, 10*EntryCost)); errno != 0 {
		t.Fatal(errno)
	}
	check(t, "close", f.Close(), 0)
	check(t, "link", w.fs.Link("one", "two"), 0)
	check(t, "unlink", w.fs.Unlink("one"), 0)
	if w.set.Added() != 11*EntryCost {
		t.Errorf("added %d", w.set.Added())
	}
	check(t, "unlink the last", w.fs.Unlink("two"), 0)
	if w.set.Added() != 0 && countsNames {
		t.Errorf("added %d", w.set.Added())
	}
}

func TestQuota(t *testing.T) {
	q := quota{budget: 10}
	for _, step := range []struct {
		take, give int64
		ok         bool
		used       int64
	}{
		{take: 10, ok: true, used: 10},
		{take: 1, ok: false, used: 10},
		{take: 0, ok: true, used: 10},
		{give: 4, ok: true, used: 6},
		{take: math.MaxInt64, ok: false, used: 6},
		{give: math.MaxInt64, ok: true, used: 0},
		{take: 11, ok: false, used: 0},
	} {
		q.give(step.give)
		if ok := q.take(step.take); ok != step.ok || q.used.Load() != step.used {
			t.Errorf("%+v: %v, %d", step, ok, q.used.Load())
		}
	}
}

func TestZeroLimitsAllowNothing(t *testing.T) {
	w := newWorld(t, true, Limits{})
	check(t, "open", w.opens("in.txt", sys.O_RDONLY), guestfs.EMFILE)
	check(t, "mkdir", w.fs.Mkdir("x", 0o700), guestfs.ENOSPC)
	if !slices.Equal(w.exceeded, []string{DiskLimit}) {
		t.Errorf("exceeded %q", w.exceeded)
	}
}
