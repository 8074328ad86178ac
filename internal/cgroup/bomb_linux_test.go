package cgroup

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A Go process forks here, and at the limit its runtime could not get a thread. So from the
// first fork on only raw system calls are made: by the child because it has no runtime, by the
// parent until it may fork again.
//
// If the wall under test is broken, these must not become real fork bombs: the number of forks
// is bounded, and all processes end with the test.

// doublings bounds a bomb: 512 processes.
const doublings = 9

// leash is a locked file. Processes that wait for the lock exit when cut is called, or when the
// test ends in any way.
func leash(t *testing.T) (path string, cut func()) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "leash")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	cut = func() { f.Close() }
	t.Cleanup(cut)
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	return path, cut
}

//go:norace
func waitForLeash(fd uintptr) {
	for {
		if _, _, errno := unix.RawSyscall(unix.SYS_FLOCK, fd, unix.LOCK_EX, 0); errno != unix.EINTR {
			unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
		}
	}
}

//go:norace
func fork() (pid uintptr, errno unix.Errno) {
	pid, _, errno = unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	return pid, errno
}

// detach closes a forked child's copy of stdout, which would make the test wait for an answer
// after the parent is dead.
//
//go:norace
func detach() { unix.RawSyscall(unix.SYS_CLOSE, 1, 0, 0) }

// fill forks up to most children, and returns how many succeeded and whether one was refused.
//
//go:norace
func fill(most int) string {
	var forked [256]uintptr
	var stopped unix.Errno
	n := 0
	for n < min(most, len(forked)) {
		if forked[n], stopped = fork(); stopped != 0 {
			break
		}
		if forked[n] == 0 {
			unix.RawSyscall(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0)
			detach()
			for {
				unix.RawSyscall6(unix.SYS_PPOLL, 0, 0, 0, 0, 0, 0)
			}
		}
		n++
	}
	for _, pid := range forked[:n] {
		unix.RawSyscall(unix.SYS_KILL, pid, uintptr(unix.SIGKILL), 0)
		for {
			if _, _, errno := unix.RawSyscall6(unix.SYS_WAIT4, pid, 0, 0, 0, 0, 0); errno != unix.EINTR {
				break
			}
		}
	}
	return fmt.Sprint(n, " ", stopped == unix.EAGAIN)
}

// bomb forks, and so do its children, until they are refused. It returns only if it cannot
// start.
//
//go:norace
func bomb(leash string) error {
	fd, err := unix.Open(leash, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if _, err := unix.Write(1, []byte("ok\n")); err != nil {
		return err
	}
	for range doublings {
		pid, errno := fork()
		if errno != 0 {
			break
		}
		if pid == 0 {
			detach()
		}
	}
	waitForLeash(uintptr(fd))
	return nil
}
