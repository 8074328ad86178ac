package rootfs

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero/experimental/sys"
	"golang.org/x/sys/unix"
)

// descriptors lists this process's open descriptors below a directory.
func descriptors(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	var open []string
	for _, e := range entries {
		if target, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && strings.HasPrefix(target, dir) {
			open = append(open, target)
		}
	}
	return open
}

func TestCloseClosesAllDescriptors(t *testing.T) {
	w := newWorld(t, true, generous)
	parent := filepath.Dir(w.granted)
	roots, err := Open([]Grant{{w.granted, "/data", true}, {w.outside + "/secret", "/one/secret", false}})
	if err != nil {
		t.Fatal(err)
	}
	before := len(descriptors(t, parent))
	set := roots.NewSet(Limits{Disk: 1 << 20, Files: openFileLimit(20)})
	for _, m := range set.Mounts() {
		for range 3 {
			for _, path := range []string{"in.txt", "sub", ".", "secret", "missing"} {
				_, _ = m.FS.OpenFile(path, sys.O_RDONLY, 0)
			}
		}
		_, _ = m.FS.OpenFile("new", sys.O_RDWR|sys.O_CREAT, 0)
	}
	if got := len(descriptors(t, parent)); got < before+10 {
		t.Fatalf("only %d are open", got-before)
	}
	if err := set.Close(); err != nil {
		t.Fatal(err)
	}
	if left := descriptors(t, parent); len(left) != before {
		t.Errorf("left: %q", left)
	}
	if err := roots.Close(); err != nil {
		t.Fatal(err)
	}
}

// If one grant fails, the grants opened before it are closed.
func TestFailedOpenClosesAllDescriptors(t *testing.T) {
	w := newWorld(t, true, generous)
	before := len(descriptors(t, filepath.Dir(w.granted)))
	_, err := Open([]Grant{{w.granted, "/data", true}, {w.granted + "/sub", "/sub", true}, {w.outside, "/data", true}})
	if left := descriptors(t, filepath.Dir(w.granted)); err == nil || len(left) != before {
		t.Errorf("%v: left %q", err, left)
	}
}

// Even opening and closing a FIFO or device has effects: a waiting program wakes up, a tape
// rewinds.
func TestSpecialFilesAreNeverOpened(t *testing.T) {
	w := newWorld(t, true, generous)
	mkfifo(t, filepath.Join(w.granted, "fifo"))
	watch, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(watch)
	if _, err := unix.InotifyAddWatch(watch, filepath.Join(w.granted, "fifo"), unix.IN_OPEN); err != nil {
		t.Fatal(err)
	}
	check(t, "read", w.opens("fifo", sys.O_RDONLY), sys.EPERM)
	check(t, "write", w.opens("fifo", sys.O_RDWR|sys.O_CREAT|sys.O_TRUNC), sys.EPERM)
	if n, err := unix.Read(watch, make([]byte, 4096)); !errors.Is(err, unix.EAGAIN) {
		t.Errorf("it was opened: %d bytes of news, %v", n, err)
	}
}

// The kernel's magic links in /proc lead to files without using their text.
func TestMagicLinksAreNotFollowed(t *testing.T) {
	w := newWorld(t, true, generous)
	f, err := os.Open(filepath.Join(w.outside, "secret"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w.open([]Grant{{Host: "/proc/self", Guest: "/self"}}, generous)
	for _, path := range []string{"root", "root/etc/passwd", "cwd", "cwd/rootfs.go", "exe", "task/../root/etc/passwd"} {
		check(t, path, w.opens(path, sys.O_RDONLY), sys.EPERM)
		if _, errno := w.fs.Stat(path); errno != sys.EPERM {
			t.Errorf("stat %s: %v", path, errno)
		}
	}
	descriptors, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range descriptors {
		if errno := w.opens("fd/"+d.Name(), sys.O_RDONLY); errno != sys.EPERM && errno != sys.ENOENT {
			t.Errorf("fd/%s: %v", d.Name(), errno)
		}
	}
}
