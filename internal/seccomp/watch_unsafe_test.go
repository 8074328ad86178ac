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

// installHere installs a program on the calling thread and on the processes that it
// starts later. With a listener, the result is its descriptor.
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

// refuseAll answers EPERM to every notification of a listener, and reports it.
func refuseAll(listener int, report func(op, detail string)) {
	for {
		var q question
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), receiveQuestion, uintptr(unsafe.Pointer(&q)))
		if errno == unix.EINTR || errno == unix.ENOENT { // the caller died
			continue
		}
		if errno != 0 {
			report("listener", errno.Error())
			return
		}
		report(seccomp.Describe(int(q.nr), q.args))
		r := reply{id: q.id, errno: -int32(unix.EPERM)}
		_, _, errno = unix.Syscall(unix.SYS_IOCTL, uintptr(listener), sendReply, uintptr(unsafe.Pointer(&r)))
		if errno != 0 && errno != unix.ENOENT {
			report("listener", errno.Error())
			return
		}
	}
}
