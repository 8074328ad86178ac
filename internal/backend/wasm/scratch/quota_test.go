package scratch

import (
	"bytes"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero/experimental/sys"

	"github.com/cordon-sandbox/cordon/internal/backend/wasm/guestfs"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm/rootfs"
	"github.com/cordon-sandbox/cordon/internal/hosttest"
)

// Each way to use memory is tried until it is refused.
func TestSizeBoundsEveryWayOfGrowing(t *testing.T) {
	const size = 8*pageSize + 100
	some := make([]byte, 1000)
	for _, c := range []struct {
		name string
		grow func(w *world, f sys.File, i int) sys.Errno
	}{
		{"write", func(_ *world, f sys.File, _ int) sys.Errno { _, e := f.Write(some); return e }},
		{"append", func(_ *world, f sys.File, _ int) sys.Errno {
			if e := f.SetAppend(true); e != 0 {
				return e
			}
			_, e := f.Write(some)
			return e
		}},
		{"pwrite", func(_ *world, f sys.File, i int) sys.Errno { _, e := f.Pwrite(some, int64(i)*900); return e }},
		{"single bytes, far apart", func(_ *world, f sys.File, i int) sys.Errno { _, e := f.Pwrite([]byte("x"), int64(i)<<40); return e }},
		{"single bytes, backwards", func(_ *world, f sys.File, i int) sys.Errno {
			_, e := f.Pwrite([]byte("x"), math.MaxInt64-1-int64(i)*pageSize)
			return e
		}},
		{"seek and write", func(_ *world, f sys.File, _ int) sys.Errno {
			if _, e := f.Seek(1<<30, io.SeekCurrent); e != 0 {
				return e
			}
			_, e := f.Write([]byte("x"))
			return e
		}},
		{"truncate and fill", func(_ *world, f sys.File, i int) sys.Errno {
			if e := f.Truncate(1 << 60); e != 0 {
				return e
			}
			_, e := f.Pwrite([]byte("x"), int64(i)*pageSize)
			return e
		}},
		{"one large write", func(_ *world, f sys.File, _ int) sys.Errno { _, e := f.Write(make([]byte, size)); return e }},
		{"unlinked files", func(w *world, _ sys.File, _ int) sys.Errno {
			g, e := w.OpenFile("g", creates, 0o600)
			if e == 0 {
				_, e = g.Write(some)
			}
			if e == 0 {
				e = w.Unlink("g")
			}
			return e
		}},
		{"empty files", func(w *world, _ sys.File, i int) sys.Errno { return w.opens(strconv.Itoa(i), creates) }},
		{"directories", func(w *world, _ sys.File, i int) sys.Errno { return w.Mkdir(strconv.Itoa(i), 0o700) }},
		{"directories in directories", func(w *world, _ sys.File, i int) sys.Errno { return w.Mkdir(strings.Repeat("d/", i)+"d", 0o700) }},
		{"links", func(w *world, _ sys.File, i int) sys.Errno { return w.Link("file", strconv.Itoa(i)) }},
		{"symlinks", func(w *world, _ sys.File, i int) sys.Errno {
			return w.Symlink(strings.Repeat("x", 4095), strconv.Itoa(i))
		}},
		{"short symlinks", func(w *world, _ sys.File, i int) sys.Errno { return w.Symlink("x", strconv.Itoa(i)) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, size)
			f := w.must("file", creates)
			var errno sys.Errno
			last := 0
			for i := 0; errno == 0; i++ {
				if last, errno = i, c.grow(w, f, i); i > 1000 {
					t.Fatal("there is no end")
				}
			}
			if errno != guestfs.ENOSPC || !slices.Equal(w.exceeded, []string{Limit}) {
				t.Errorf("%v; exceeded %q", errno, w.exceeded)
			}
			if w.Used() > size {
				t.Errorf("used %d of %d", w.Used(), size)
			}
			check(t, "again", c.grow(w, f, last), guestfs.ENOSPC)
			if len(w.exceeded) != 2 {
				t.Errorf("not reported again: %q", w.exceeded)
			}
			w.recount()
		})
	}
}

// The next run of a session may have a smaller size.
func TestSizeCanBeLowered(t *testing.T) {
	w := newWorld(t, EntryCost+2*pageSize)
	f := w.must("f", creates)
	w.writes(f, strings.Repeat("x", 2*pageSize))
	for _, size := range []int64{EntryCost + 2*pageSize, pageSize, 0} {
		w.exceeded = nil
		w.Allow(size)
		for range 2 {
			_, errno := f.Pwrite([]byte("more"), 2*pageSize)
			check(t, "more", errno, guestfs.ENOSPC)
		}
		_, errno := f.Pwrite([]byte("in its place"), 10)
		check(t, "what it has", errno, 0)
		if len(w.exceeded) != 2 {
			t.Errorf("%d: exceeded %q", size, w.exceeded)
		}
	}
	check(t, "cut", f.Truncate(0), 0)
	w.Allow(EntryCost + pageSize)
	w.writes(w.must("f", writes), "again")
}

func TestZeroSizeAllowsNothing(t *testing.T) {
	w := newWorld(t, 0)
	check(t, "a file", w.opens("x", creates), guestfs.ENOSPC)
	check(t, "a directory", w.Mkdir("x", 0o700), guestfs.ENOSPC)
	check(t, "a link", w.Symlink("y", "x"), guestfs.ENOSPC)
	check(t, "the directory itself", w.opens(".", sys.O_RDONLY), 0)
	if got := w.lists(w.must(".", sys.O_RDONLY), -1); got != "" {
		t.Errorf("%q", got)
	}
}

func TestWriteThatDoesNotFitWritesNothing(t *testing.T) {
	w := newWorld(t, EntryCost+2*pageSize)
	f := w.must("f", creates)
	w.writes(f, "abc")
	_, errno := f.Write(make([]byte, 2*pageSize))
	check(t, "write", errno, guestfs.ENOSPC)
	if text, _ := w.reads("f"); text != "abc" {
		t.Errorf("%d bytes", len(text))
	}
	w.writes(f, strings.Repeat("x", 2*pageSize-3)) // up to the last byte
	_, errno = f.Write([]byte("y"))
	check(t, "one more", errno, guestfs.ENOSPC)
	_, errno = f.Pwrite(bytes.Repeat([]byte("z"), 2*pageSize), 0)
	check(t, "what is there", errno, 0)
}

// A guest that uses one temporary file at a time needs the size of one.
func TestRemovedFilesReleaseTheirSize(t *testing.T) {
	w := newWorld(t, 8*pageSize)
	for range 200 {
		f := w.must("f", creates|sys.O_TRUNC)
		w.writes(f, strings.Repeat("x", 5*pageSize))
		check(t, "cut", f.Truncate(0), 0)
		w.writes(f, "x")
		check(t, "cut", f.Truncate(1), 0)
		check(t, "close", f.Close(), 0)
		check(t, "rename", w.Rename("f", "g"), 0)
		check(t, "mkdir", w.Mkdir("d", 0o700), 0)
		check(t, "rename", w.Rename("g", "d/g"), 0)
		check(t, "symlink", w.Symlink(strings.Repeat("x", 4000), "s"), 0)
		check(t, "link", w.Link("s", "t"), 0)
		for _, path := range []string{"s", "t", "d/g"} {
			check(t, "unlink", w.Unlink(path), 0)
		}
		check(t, "rmdir", w.Rmdir("d"), 0)
		if w.Used() != 0 {
			t.Fatalf("used %d", w.Used())
		}
	}
	if len(w.exceeded) != 0 {
		t.Errorf("exceeded %q", w.exceeded)
	}
}

func TestMillionFiles(t *testing.T) {
	hosttest.NotUnderRace(t, "it has one thread and much to do")
	w := newWorld(t, plenty)
	made := 0
	for i := range 1_000_000 {
		if w.opens("file"+strconv.Itoa(i), creates) == 0 {
			made++
		}
	}
	if made != plenty/EntryCost || len(w.exceeded) != 1_000_000-made {
		t.Errorf("%d files, exceeded %q", made, w.exceeded)
	}
}

// Both file systems of a guest share one limit.
func TestOpenFilesAreSharedWithTheGrants(t *testing.T) {
	directory := t.TempDir()
	roots, err := rootfs.Open([]rootfs.Grant{{Host: directory, Guest: "/data", Write: true}})
	if err != nil {
		t.Fatal(err)
	}
	defer roots.Close()
	files := openFileLimit(3)
	set := roots.NewSet(rootfs.Limits{Disk: plenty, Files: files})
	tmp, data := New(Limits{Files: files}), set.Mounts()[0].FS
	tmp.Allow(plenty)
	var open []sys.File
	for _, f := range []sys.FS{tmp, data, tmp} {
		opened, errno := f.OpenFile("x", creates, 0o600)
		if errno != 0 {
			t.Fatal(errno)
		}
		open = append(open, opened)
	}
	for _, f := range []sys.FS{tmp, data} {
		_, errno := f.OpenFile("x", sys.O_RDONLY, 0)
		check(t, "one more", errno, guestfs.EMFILE)
		_, errno = f.OpenFile("new", creates, 0)
		check(t, "a new one", errno, guestfs.EMFILE)
	}
	if _, errno := tmp.Lstat("new"); errno != sys.ENOENT {
		t.Errorf("it was made: %v", errno)
	}
	// wazero needs its own handle, or it panics. The guest cannot use this to get more.
	top, errno := tmp.OpenFile(".", sys.O_RDONLY, 0)
	check(t, "the mount", errno, 0)
	_, errno = tmp.OpenFile(".", sys.O_RDONLY, 0)
	check(t, "the mount again", errno, sys.ENOENT)
	check(t, "close", top.Close(), 0)
	_, errno = tmp.OpenFile("x", sys.O_RDONLY, 0)
	check(t, "in its place", errno, guestfs.EMFILE)

	check(t, "close", open[0].Close(), 0)
	check(t, "close again", open[0].Close(), 0)
	_, errno = tmp.OpenFile("missing", sys.O_RDONLY, 0)
	check(t, "what is missing does not count", errno, sys.ENOENT)
	_, errno = tmp.OpenFile("x", sys.O_RDONLY, 0)
	check(t, "after the other was closed", errno, 0)
	_, errno = tmp.OpenFile("x", sys.O_RDONLY, 0)
	check(t, "one more", errno, guestfs.EMFILE)
	if err := set.Close(); err != nil {
		t.Error(err)
	}
}

// A callback may use the file system.
func TestCallbackMayUseFiles(t *testing.T) {
	var f *FS
	var used int64
	f = New(Limits{Files: openFileLimit(10), Exceeded: func(string) { used = f.Used() }})
	f.Allow(EntryCost)
	check(t, "one", f.Symlink("", "a"), sys.ENOENT)
	check(t, "one", f.Mkdir("a", 0), guestfs.ENOSPC)
	file, errno := f.OpenFile("a", creates, 0)
	check(t, "one", errno, 0)
	_, errno = file.Write([]byte("x"))
	check(t, "write", errno, guestfs.ENOSPC)
	if used != EntryCost {
		t.Errorf("used %d when the write was reported", used)
	}
}
