//go:build linux && (amd64 || arm64)

package seccomp_test

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/seccomp"
)

// The structures and requests of <linux/seccomp.h>.
type (
	question struct {
		id    uint64
		pid   uint32
		flags uint32
		nr    int32
		arch  uint32
		ip    uint64
		args  [6]uint64
	}
	reply struct {
		id    uint64
		value int64
		errno int32
		flags uint32
	}
)

const (
	receiveQuestion = 0xc0502100
	sendReply       = 0xc0182101
)

// installHere puts a program on the calling thread alone, and on what it starts
// from now on. With a listener the result is its descriptor.
func installHere(prog []byte, flags uintptr) (int, error) {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return 0, err
	}
	fprog := unix.SockFprog{
		Len:    uint16(len(prog) / 8),
		Filter: (*unix.SockFilter)(unsafe.Pointer(&prog[0])),
	}
	fd, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&fprog)))
	runtime.KeepAlive(prog)
	if errno != 0 {
		return 0, errno
	}
	return int(fd), nil
}

// refuseAll answers EPERM to whatever a listener is asked, and tells of it.
func refuseAll(listener int, tell func(op, detail string)) {
	for {
		var q question
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), receiveQuestion, uintptr(unsafe.Pointer(&q)))
		if errno == unix.EINTR || errno == unix.ENOENT { // the asker died
			continue
		}
		if errno != 0 {
			tell("listener", errno.Error())
			return
		}
		tell(seccomp.Describe(int(q.nr), q.args))
		r := reply{id: q.id, errno: -int32(unix.EPERM)}
		_, _, errno = unix.Syscall(unix.SYS_IOCTL, uintptr(listener), sendReply, uintptr(unsafe.Pointer(&r)))
		if errno != 0 && errno != unix.ENOENT {
			tell("listener", errno.Error())
			return
		}
	}
}
