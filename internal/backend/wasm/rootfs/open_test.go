package rootfs

import (
	"path/filepath"
	"strconv"
	"testing"

	"github.com/tetratelabs/wazero/experimental/sys"

	"github.com/cordon-sandbox/cordon/internal/backend/wasm/guestfs"
)

func TestOpenFilesAreBoundedForAllMounts(t *testing.T) {
	w := newWorld(t, true, generous)
	w.open([]Grant{{w.granted, "/a", true}, {filepath.Join(w.granted, "sub"), "/b", false}}, Limits{Disk: 1 << 20, Files: openFileLimit(4)})
	a, b := w.set.Mounts()[0].FS, w.set.Mounts()[1].FS
	var open []sys.File
	for _, c := range []struct {
		fs   sys.FS
		path string
	}{{a, "in.txt"}, {a, "sub"}, {b, "deep.txt"}, {a, "in.txt"}} {
		f, errno := c.fs.OpenFile(c.path, sys.O_RDONLY, 0)
		if errno != 0 {
			t.Fatal(errno)
		}
		open = append(open, f)
	}
	for range 3 {
		_, errno := b.OpenFile("deep.txt", sys.O_RDONLY, 0)
		check(t, "one more", errno, guestfs.EMFILE)
		_, errno = a.OpenFile("new", sys.O_RDWR|sys.O_CREAT, 0)
		check(t, "one more that is new", errno, guestfs.EMFILE)
	}
	// wazero needs one handle of each mount, or it panics. The guest cannot use this to get
	// more.
	for _, m := range []sys.FS{a, b} {
		f, errno := m.OpenFile(".", sys.O_RDONLY, 0)
		check(t, "a mount", errno, 0)
		_, errno = m.OpenFile(".", sys.O_RDONLY, 0)
		check(t, "a mount again", errno, sys.ENOENT)
		check(t, "close", f.Close(), 0)
	}

	check(t, "close", open[0].Close(), 0)
	check(t, "close again", open[0].Close(), 0)
	f, errno := b.OpenFile("deep.txt", sys.O_RDONLY, 0)
	check(t, "after the other was closed", errno, 0)
	_, errno = b.OpenFile("deep.txt", sys.O_RDONLY, 0)
	check(t, "one more", errno, guestfs.EMFILE)
	check(t, "close", f.Close(), 0)

	// A failed open is not counted.
	for range 10 {
		_, errno = a.OpenFile("missing", sys.O_RDONLY, 0)
		check(t, "missing", errno, sys.ENOENT)
	}
	_, errno = b.OpenFile("deep.txt", sys.O_RDONLY, 0)
	check(t, "after failures", errno, 0)
}

func TestClosedSetRefusesAllCalls(t *testing.T) {
	w := newWorld(t, true, generous)
	f, dir := w.must("in.txt", sys.O_RDWR), w.must("sub", sys.O_RDONLY)
	if err := w.set.Close(); err != nil {
		t.Fatal(err)
	}
	for name, errno := range map[string]sys.Errno{
		"read":      func() sys.Errno { _, e := f.Read(make([]byte, 1)); return e }(),
		"write":     func() sys.Errno { _, e := f.Write([]byte("x")); return e }(),
		"truncate":  f.Truncate(0),
		"stat":      func() sys.Errno { _, e := f.Stat(); return e }(),
		"seek":      func() sys.Errno { _, e := f.Seek(0, 0); return e }(),
		"utimens":   f.Utimens(1, 1),
		"readdir":   func() sys.Errno { _, e := dir.Readdir(1); return e }(),
		"open":      w.opens("in.txt", sys.O_RDONLY),
		"mkdir":     w.fs.Mkdir("x", 0o700),
		"unlink":    w.fs.Unlink("in.txt"),
		"path stat": func() sys.Errno { _, e := w.fs.Stat("in.txt"); return e }(),
	} {
		check(t, name, errno, sys.EBADF)
	}
	check(t, "close", f.Close(), 0)
	check(t, "the mount", w.opens(".", sys.O_RDONLY), sys.ENOENT)
	if err := w.set.Close(); err != nil {
		t.Error(err)
	}
}

// Close may be called while a file is being opened.
func TestFileOpenedDuringCloseIsClosed(t *testing.T) {
	w := newWorld(t, true, generous)
	if err := w.set.Close(); err != nil {
		t.Fatal(err)
	}
	check(t, "after", w.set.keep(nil, nil), sys.EBADF)
}

func TestSetWithoutGrants(t *testing.T) {
	roots, err := Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	set := roots.NewSet(Limits{})
	if set.Mounts() != nil || set.Close() != nil || roots.Close() != nil {
		t.Error("there is something")
	}
}

// Two guests of one Runner share only the opened grants.
func TestSetsAreIndependent(t *testing.T) {
	w := newWorld(t, true, generous)
	roots, err := Open([]Grant{{w.granted, "/data", true}})
	if err != nil {
		t.Fatal(err)
	}
	defer roots.Close()
	one, two := roots.NewSet(Limits{Disk: EntryCost}), roots.NewSet(Limits{Disk: EntryCost})
	check(t, "one", one.Mounts()[0].FS.Mkdir("one", 0o700), 0)
	if err := one.Close(); err != nil {
		t.Fatal(err)
	}
	check(t, "two", two.Mounts()[0].FS.Mkdir("two", 0o700), 0)
	if err := two.Close(); err != nil {
		t.Fatal(err)
	}
}

// A callback about an exceeded limit may end the run.
func TestCallbackMayCloseTheSet(t *testing.T) {
	w := newWorld(t, true, generous)
	roots, err := Open([]Grant{{w.granted, "/data", true}})
	if err != nil {
		t.Fatal(err)
	}
	defer roots.Close()
	var set *Set
	limits := Limits{Disk: 10, Files: openFileLimit(5), Exceeded: func(string) {
		if err := set.Close(); err != nil {
			t.Error(err)
		}
	}}
	set = roots.NewSet(limits)
	m := set.Mounts()[0].FS
	f, errno := m.OpenFile("in.txt", sys.O_RDWR, 0)
	check(t, "open", errno, 0)
	_, errno = f.Write(make([]byte, 100))
	check(t, "write", errno, guestfs.ENOSPC)
	_, errno = f.Write(make([]byte, 1))
	check(t, "write again", errno, sys.EBADF)
}

func BenchmarkNewSet(b *testing.B) {
	for _, n := range []int{0, 3} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			dir := b.TempDir()
			var grants []Grant
			for i := range n {
				grants = append(grants, Grant{Host: dir, Guest: "/" + strconv.Itoa(i)})
			}
			roots, err := Open(grants)
			if err != nil {
				b.Fatal(err)
			}
			defer roots.Close()
			for b.Loop() {
				set := roots.NewSet(Limits{})
				set.Mounts()
				if err := set.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
