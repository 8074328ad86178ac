package scratch

import (
	"testing"

	"github.com/tetratelabs/wazero/experimental/sys"

	"github.com/cordon-sandbox/cordon/internal/backend/wasm/guestfs"
)

// world is a directory with the reports about it.
type world struct {
	*testing.T
	*FS
	exceeded []string
	seconds  int64 // the clock, which advances by one at each read
}

func newWorld(t *testing.T, size int64) *world {
	w := &world{T: t}
	w.FS = New(Limits{
		Guest:    "/tmp",
		Files:    openFileLimit(1000),
		Exceeded: func(limit string) { w.exceeded = append(w.exceeded, limit) },
		Now: func() (int64, int32) {
			w.seconds++
			return w.seconds, 0
		},
	})
	w.Allow(size)
	t.Cleanup(w.recount)
	return w
}

// openFileLimit returns a counter that allows this many open files.
func openFileLimit(files int) *guestfs.OpenFiles {
	count := guestfs.NewOpenFiles(nil)
	count.Allow(files)
	return count
}

const plenty = 16 << 20

// with creates directories ("a/"), links ("a -> b") and files.
func (w *world) with(names ...string) *world {
	w.Helper()
	plant(w.T, w.FS, names...)
	return w
}

// must opens a file, or fails the test.
func (w *world) must(path string, flag sys.Oflag) sys.File {
	w.Helper()
	f, errno := w.OpenFile(path, flag, 0o600)
	if errno != 0 {
		w.Fatalf("open %s: %v", path, errno)
	}
	return f
}

// opens returns the error of an open, and closes the file.
func (w *world) opens(path string, flag sys.Oflag) sys.Errno {
	f, errno := w.OpenFile(path, flag, 0o600)
	if errno == 0 {
		return f.Close()
	}
	return errno
}

func (w *world) writes(f sys.File, text string) {
	w.Helper()
	if n, errno := f.Write([]byte(text)); n != len(text) || errno != 0 {
		w.Fatalf("write: %d, %v", n, errno)
	}
}

// reads returns the content of a file.
func (w *world) reads(path string) (string, sys.Errno) {
	f, errno := w.OpenFile(path, sys.O_RDONLY, 0)
	if errno != 0 {
		return "", errno
	}
	defer f.Close()
	var text []byte
	for {
		buf := make([]byte, 5000)
		n, errno := f.Read(buf)
		text = append(text, buf[:n]...)
		if n == 0 || errno != 0 {
			return string(text), errno
		}
	}
}

func (w *world) size(path string) int64 {
	w.Helper()
	st, errno := w.Lstat(path)
	if errno != 0 {
		w.Fatalf("lstat %s: %v", path, errno)
	}
	return st.Size
}

func check(t *testing.T, what string, got, want sys.Errno) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v; want %v", what, got, want)
	}
}

// ignoreErrno discards the error of an operation.
func ignoreErrno(sys.Errno) {}

// recount checks that everything is counted and that the tree is consistent.
func (w *world) recount() {
	w.Helper()
	if used := recount(w.T, w.FS); w.Used() < used || w.Used() > w.budget {
		w.Errorf("counted %d of %d, and there are %d", w.Used(), w.budget, used)
	}
}

// closed is recount when no file is open, so that every node has a name.
func (w *world) closed() {
	w.Helper()
	if used := recount(w.T, w.FS); w.Used() != used {
		w.Errorf("counted %d, and there are %d", w.Used(), used)
	}
}

func recount(t testing.TB, f *FS) (used int64) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.begin()
	names, directories := map[*node]int{}, []*node{&f.top}
	for len(directories) > 0 {
		directory := directories[0]
		directories = directories[1:]
		links, there := 2, 0
		for _, e := range directory.names.order {
			if e.node == nil {
				continue
			}
			there++
			if directory.names.by[e.name] != e {
				t.Errorf("%q is not where it is listed", e.name)
			}
			used += cost(e.node)
			names[e.node]++
			if e.node.isDirectory() {
				links++
				directories = append(directories, e.node)
				if e.node.names.parent != directory {
					t.Errorf("%q has another parent", e.name)
				}
			}
			if names[e.node] == 1 {
				used += int64(len(e.node.text)) + pageSize*int64(len(e.node.pages.by))
			}
		}
		if directory.links != links || there != directory.names.count() || len(directory.names.order) != there+directory.names.gone {
			t.Errorf("a directory has %d links, want %d; %d names, want %d", directory.links, links, directory.names.count(), there)
		}
	}
	for n, count := range names {
		if n.isDirectory() && count != 1 || !n.isDirectory() && n.links != count {
			t.Errorf("node %d has %d names, and says %d", n.ino, count, n.links)
		}
	}
	if int64(len(f.spare))*pageSize > f.budget-f.used {
		t.Errorf("%d spare pages, and %d bytes left", len(f.spare), f.budget-f.used)
	}
	return used
}
