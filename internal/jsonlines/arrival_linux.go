package jsonlines

import (
	"io"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// arrival returns a function that reports whether a file has something to read. It is nil for
// other readers, and on a host with a single core, which the client needs.
func arrival(in io.Reader) func() bool {
	file, is := in.(*os.File)
	if !is || runtime.NumCPU() == 1 {
		return nil
	}
	raw, err := file.SyscallConn()
	if err != nil {
		return nil
	}
	fds := []unix.PollFd{{Events: unix.POLLIN}}
	poll := func(fd uintptr) { fds[0].Fd = int32(fd); _, err = unix.Poll(fds, 0) }
	return func() bool {
		fds[0].Revents = 0
		closed := raw.Control(poll)
		return closed != nil || err != nil || fds[0].Revents != 0
	}
}
