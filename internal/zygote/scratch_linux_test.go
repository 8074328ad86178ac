package zygote

import (
	"errors"
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"
)

// When a worker is dead, its pid can belong to another process, here to this one.
func TestOpenScratchRefusesAnotherProcess(t *testing.T) {
	worker := func(identity int) *Worker {
		fd, err := unix.PidfdOpen(identity, 0)
		if err != nil {
			t.Fatal(err)
		}
		w := &Worker{PID: os.Getpid()}
		w.pidfd.set(fd)
		t.Cleanup(w.pidfd.close)
		return w
	}
	alive := worker(os.Getpid())
	root, err := alive.OpenScratch()
	if err != nil {
		t.Fatal(err)
	}
	if err := root.Close(); err != nil {
		t.Error(err)
	}
	alive.pidfd.close()
	if _, err := alive.OpenScratch(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a worker that was closed: %v", err)
	}
	child := exec.Command("/proc/self/exe", "-test.run=^$")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	dead := worker(child.Process.Pid)
	if err := child.Wait(); err != nil {
		t.Fatal(err)
	}
	if _, err := dead.OpenScratch(); !errors.Is(err, unix.ESRCH) {
		t.Errorf("a worker that is dead: %v", err)
	}
}
