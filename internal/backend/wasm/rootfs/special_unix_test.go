//go:build unix

package rootfs

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/tetratelabs/wazero/experimental/sys"

	"github.com/cordon-sandbox/cordon/internal/backend/wasm/guestfs"
)

func mkfifo(t *testing.T, path string) {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o666); err != nil {
		t.Fatal(err)
	}
}

// Opening one of these would block forever, or wake a program of the host.
func TestSpecialFilesAreNotOpened(t *testing.T) {
	dir, err := os.MkdirTemp("", "cordon") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	mkfifo(t, filepath.Join(dir, "fifo"))
	if err := os.Symlink("fifo", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", filepath.Join(dir, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()

	w := newWorld(t, true, generous)
	w.open([]Grant{{Host: dir, Guest: "/data", Write: true}}, generous)
	for _, name := range []string{"fifo", "socket", "link"} {
		for _, flag := range []sys.Oflag{
			sys.O_RDONLY, sys.O_WRONLY, sys.O_RDWR, sys.O_RDONLY | sys.O_NONBLOCK, sys.O_WRONLY | sys.O_NONBLOCK,
			sys.O_RDWR | sys.O_CREAT | sys.O_TRUNC, sys.O_WRONLY | sys.O_APPEND,
		} {
			check(t, name, w.opens(name, flag), sys.EPERM)
		}
	}
	if !slices.Contains(w.denied, "open /data/fifo") {
		t.Errorf("told %q", w.denied)
	}
	if _, errno := w.fs.Stat("fifo"); errno != 0 {
		t.Error(errno)
	}
	check(t, "unlink", w.fs.Unlink("fifo"), 0)
}

// The second check: a plain file is replaced by a FIFO after the first check.
func TestOpenedFileIsCheckedAgain(t *testing.T) {
	w := newWorld(t, true, generous)
	mkfifo(t, filepath.Join(w.granted, "fifo"))
	m := w.set.mounts[0]
	s, _ := m.find("open", "fifo")
	for _, access := range []openMode{{OpenMode: guestfs.OpenMode{Read: true, Follow: true}}, {OpenMode: guestfs.OpenMode{Read: true, Write: true, Follow: true}}} {
		f, err := s.root.OpenFile(s.name, access.flags(), 0) // does not block
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.recheck(f, nil, s, access); err == nil {
			t.Error("a FIFO passed")
		}
		f.Close()
	}
}

func TestDevicesAreNotOpened(t *testing.T) {
	w := newWorld(t, true, generous)
	w.open([]Grant{{Host: "/dev", Guest: "/dev"}}, generous)
	for _, name := range []string{"null", "zero", "random"} {
		check(t, name, w.opens(name, sys.O_RDONLY), sys.EPERM)
	}
}

func TestSetUserIDIsNeitherSetNorKept(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0)) // the umask would hide the bits
	w := newWorld(t, true, generous)
	mode := func(name string) os.FileMode {
		info, err := os.Stat(filepath.Join(w.granted, name))
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode()
	}
	f, errno := w.fs.OpenFile("new", sys.O_RDWR|sys.O_CREAT, os.ModeSetuid|os.ModeSetgid|0o7777)
	check(t, "create", errno, 0)
	f.Close()
	check(t, "mkdir", w.fs.Mkdir("directory", os.ModeSetuid|os.ModeSticky|0o7777), 0)
	if got := mode("new"); got&^0o644 != 0 {
		t.Errorf("a file of %v", got)
	}
	if got := mode("directory"); got&^(os.ModeDir|0o755) != 0 {
		t.Errorf("a directory of %v", got)
	}
	check(t, "chmod", w.fs.Chmod("new", os.ModeSetuid|os.ModeSetgid|0o7777), 0)
	if got := mode("new"); got != 0o755 {
		t.Errorf("chmod to %v", got)
	}

	// When root writes to such a file, the kernel keeps the bit.
	if err := os.Chmod(filepath.Join(w.granted, "in.txt"), os.ModeSetuid|0o755); err != nil {
		t.Fatal(err)
	}
	check(t, "write", w.opens("in.txt", sys.O_WRONLY), sys.EPERM)
	check(t, "truncate", w.opens("in.txt", sys.O_RDWR|sys.O_TRUNC|sys.O_CREAT), sys.EPERM)
	if text, errno := w.reads("in.txt"); text != "inside" {
		t.Errorf("%q, %v", text, errno)
	}
}
