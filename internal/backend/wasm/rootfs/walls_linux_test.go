package rootfs

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/tetratelabs/wazero/experimental/sys"
	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/backend/wasm/guestfs"
)

// A file that the second check refuses is closed.
func TestHammerLeavesNoDescriptor(t *testing.T) {
	w := newWorld(t, true, generous)
	fill(t, filepath.Join(w.granted, "flip"), "inside")
	mkfifo(t, filepath.Join(w.granted, "fifo"))
	before := len(descriptors(t, w.granted))
	stop := flips(t, w.granted, "flip", "fifo")
	for range hammered {
		ignoreErrno(w.opens("flip", sys.O_RDONLY))
	}
	stop()
	if left := descriptors(t, w.granted); len(left) != before {
		t.Errorf("left %d: %.3q", len(left)-before, left)
	}
}

// A file that is being opened while the set is closed is closed too.
func TestCloseDuringAnOpen(t *testing.T) {
	w := newWorld(t, true, generous)
	files := openFileLimit(1)
	w.open([]Grant{{w.granted, "/data", true}}, Limits{Files: files})
	before := len(descriptors(t, w.granted))
	w.set.changing.Lock() // the open waits for it
	opened := make(chan sys.Errno)
	go func() {
		_, errno := w.fs.OpenFile("in.txt", sys.O_RDONLY, 0)
		opened <- errno
	}()
	none := func(func()) (sys.File, sys.Errno) { return nil, sys.ENOENT }
	for errno := sys.ENOENT; errno == sys.ENOENT; _, errno = guestfs.HandlesOf(files).Open("x", sys.O_RDONLY, none) {
		runtime.Gosched() // until the open has taken the only one
	}
	for range 1000 {
		runtime.Gosched()
	}
	if err := w.set.Close(); err != nil {
		t.Error(err)
	}
	w.set.changing.Unlock()
	check(t, "open", <-opened, sys.EBADF)
	if left := descriptors(t, w.granted); len(left) != before {
		t.Errorf("left %q", left)
	}
}

// fsync of a guest reaches the host.
func TestSyncIsPassedOn(t *testing.T) {
	w := newWorld(t, true, generous)
	for flag, want := range map[sys.Oflag]bool{sys.O_RDWR: false, sys.O_RDWR | sys.O_SYNC: true, sys.O_RDWR | sys.O_DSYNC: true} {
		f := w.must("in.txt", flag)
		for open := range w.set.open {
			flags, err := unix.FcntlInt(open.(*os.File).Fd(), unix.F_GETFL, 0)
			if err != nil || flags&unix.O_SYNC == unix.O_SYNC != want {
				t.Errorf("%#x: %#x %v", flag, flags, err)
			}
		}
		f.Close()
	}
}
