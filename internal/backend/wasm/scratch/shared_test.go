package scratch

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tetratelabs/wazero/experimental/sys"

	"github.com/cordon-sandbox/cordon/internal/backend/wasm/guestfs"
	"github.com/cordon-sandbox/cordon/internal/workdir"
)

// noon is the host's clock in these tests.
func noon() time.Time { return time.Date(2020, 1, 1, 12, 0, 0, 0, time.UTC) }

// shared is an FS, its mounted directory, and the host's side of that.
type shared struct {
	*testing.T
	fs       *FS
	view     sys.FS
	tree     workdir.Tree
	exceeded int
}

func newShared(t *testing.T, size int64) *shared {
	t.Helper()
	s := &shared{T: t}
	files := guestfs.NewOpenFiles(nil)
	files.Allow(100)
	s.fs = New(Limits{Guest: "/tmp", View: "work", ViewAt: "/work", Files: files, Exceeded: func(string) { s.exceeded++ }})
	s.fs.Allow(size)
	s.view = s.fs.View("work")
	tree, err := s.fs.Tree("work", noon)
	if err != nil {
		t.Fatal(err)
	}
	s.tree = tree
	return s
}

// write writes a file from the host.
func (s *shared) write(name, text string) error {
	f, err := s.tree.Create(name)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(f, text); err != nil {
		f.Discard()
		return err
	}
	return f.Commit()
}

// read reads a file on the host.
func (s *shared) read(name string) string {
	s.Helper()
	f, err := s.tree.Open(name)
	if err != nil {
		s.Error(err)
		return ""
	}
	text, err := io.ReadAll(f)
	if err := errors.Join(err, f.Close()); err != nil {
		s.Error(err)
	}
	return string(text)
}

// guest reads a file as the guest does.
func (s *shared) guest(mount sys.FS, path string) string {
	s.Helper()
	f, errno := mount.OpenFile(path, sys.O_RDONLY, 0)
	if errno != 0 {
		s.Errorf("%s: %v", path, errno)
		return ""
	}
	defer f.Close()
	text := make([]byte, 100)
	n, errno := f.Read(text)
	if errno != 0 {
		s.Errorf("%s: %v", path, errno)
	}
	return string(text[:n])
}

func (s *shared) want(what, got, want string) {
	s.Helper()
	if got != want {
		s.Errorf("%s: %q, want %q", what, got, want)
	}
}

func TestTreeAndView(t *testing.T) {
	s := newShared(t, 1<<20)
	if err := s.write("data/a", "from the host"); err != nil {
		t.Fatal(err)
	}
	s.want("in the mount", s.guest(s.view, "data/a"), "from the host")
	s.want("below /tmp", s.guest(s.fs, "work/data/a"), "from the host")
	for text, reachable := range map[string]bool{"/work/data/a": true, "/tmp/work/data/a": true, "data/a": true, "/etc/passwd": false, "/worker": false} {
		name := strings.ReplaceAll(text, "/", "_")
		if errno := s.view.Symlink(text, name); errno != 0 {
			t.Fatal(errno)
		}
		if _, errno := s.view.Stat(name); (errno == 0) != reachable {
			t.Errorf("a link to %s: %v", text, errno)
		}
	}
	if info, err := s.tree.Lstat("data/a"); err != nil || !info.ModTime().Equal(noon()) || info.Size() != 13 {
		t.Errorf("%+v %v", info, err)
	}
	if _, errno := s.view.Stat("../work/data/a"); errno != 0 {
		t.Errorf("from /work by way of /tmp: %v", errno)
	}
}

// A new file replaces another one when it is complete, and not before.
func TestTreeReplaces(t *testing.T) {
	s := newShared(t, 1<<20)
	if err := s.write("a", "before"); err != nil {
		t.Fatal(err)
	}
	used := s.fs.Used()
	open, err := s.tree.Open("a")
	if err != nil {
		t.Fatal(err)
	}
	half, err := s.tree.Create("a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(half, "half"); err != nil {
		t.Fatal(err)
	}
	s.want("meanwhile", s.read("a"), "before")
	half.Discard()
	half.Discard()
	s.want("after it was given up", s.read("a"), "before")
	if err := s.write("a", "after"); err != nil {
		t.Fatal(err)
	}
	s.want("replaced", s.read("a"), "after")
	if text, err := io.ReadAll(open); string(text) != "before" || err != nil {
		t.Errorf("what was open: %q %v", text, err)
	}
	if err := open.Close(); err != nil {
		t.Error(err)
	}
	if now := s.fs.Used(); now != used {
		t.Errorf("%d bytes are in use, as if the old file were there: %d before", now, used)
	}
}

// What does not fit is the host's error, and leaves nothing. The guest is not said to have done it.
func TestTreeIsFull(t *testing.T) {
	s := newShared(t, 64<<10)
	used := s.fs.Used()
	if err := s.write("large", strings.Repeat("x", 100<<10)); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("%v", err)
	}
	if s.fs.Used() != used || s.exceeded != 0 {
		t.Errorf("%d bytes are left, and the guest has exceeded its size %d times", s.fs.Used()-used, s.exceeded)
	}
}

func TestTreeRemoves(t *testing.T) {
	s := newShared(t, 1<<20)
	used := s.fs.Used()
	for _, name := range []string{"d/e/f/a", "d/e/b", "d/c", "d2"} {
		if err := s.write(name, "x"); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"d", "d2"} {
		if err := s.tree.Remove(name); err != nil {
			t.Error(err)
		}
	}
	if err := s.tree.Remove("d"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("again: %v", err)
	}
	if now := s.fs.Used(); now != used {
		t.Errorf("%d bytes are left", now-used)
	}
}

// The guest may remove the directory, or put another one there.
func TestTreeWhoseDirectoryIsGone(t *testing.T) {
	s := newShared(t, 1<<20)
	if errno := s.fs.Rename("work", "moved"); errno != 0 {
		t.Fatal(errno)
	}
	if err := s.write("a", "x"); err != nil {
		t.Error(err)
	}
	s.want("where it is now", s.guest(s.fs, "moved/a"), "x")
	if err := s.tree.Remove("a"); err != nil {
		t.Error(err)
	}
	if errno := s.fs.Rmdir("moved"); errno != 0 {
		t.Fatal(errno)
	}
	if err := s.write("a", "x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in a directory that is removed: %v", err)
	}
	if _, err := s.fs.Tree("work", noon); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is made only once: %v", err)
	}
	if err := s.tree.Close(); err != nil {
		t.Error(err)
	}
	if _, err := s.tree.Lstat("a"); !errors.Is(err, os.ErrClosed) {
		t.Errorf("after its end: %v", err)
	}
}

func TestCopy(t *testing.T) {
	s := newShared(t, 1<<20)
	if err := s.write("data/a", strings.Repeat("x", 10_000)); err != nil {
		t.Fatal(err)
	}
	for _, errno := range []sys.Errno{s.view.Link("data/a", "second"), s.view.Symlink("data/a", "link"), s.fs.Mkdir("empty", 0o755)} {
		if errno != 0 {
			t.Fatal(errno)
		}
	}
	removed, errno := s.view.OpenFile("removed", sys.O_RDWR|sys.O_CREAT, 0o644)
	if errno != 0 {
		t.Fatal(errno)
	}
	if errno := s.view.Unlink("removed"); errno != 0 {
		t.Fatal(errno)
	}
	before := s.fs.Used()
	if _, errno := removed.Write([]byte("x")); errno != 0 {
		t.Fatal(errno)
	}
	other := newShared(t, 0)
	s.fs.Copy(other.fs)
	if now := other.fs.Used(); now != before {
		t.Errorf("the copy uses %d bytes, want %d", now, before)
	}
	fresh, err := other.fs.Tree("work", noon)
	if err != nil {
		t.Fatal(err)
	}
	other.tree = fresh
	if text := other.read("link"); len(text) != 10_000 {
		t.Errorf("%d bytes", len(text))
	}
	if st, errno := other.view.Stat("second"); errno != 0 || st.Nlink != 2 {
		t.Errorf("two names of a file: %+v %v", st, errno)
	}
	if st, errno := other.fs.Stat("empty"); errno != 0 || !st.Mode.IsDir() {
		t.Errorf("%+v %v", st, errno)
	}
	// Each has its own content.
	f, errno := other.view.OpenFile("second", sys.O_RDWR, 0)
	if errno != 0 {
		t.Fatal(errno)
	}
	if _, errno := f.Write([]byte("changed")); errno != 0 {
		t.Fatal(errno)
	}
	s.want("the first", s.read("data/a")[:7], "xxxxxxx")
	s.want("the copy", other.read("data/a")[:7], "changed")
	if err := other.tree.Remove("data"); err != nil {
		t.Error(err)
	}
	if text := s.read("data/a"); len(text) != 10_000 {
		t.Errorf("%d bytes are left of the first", len(text))
	}
}
