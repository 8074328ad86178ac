//go:build linux

package notify

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// The structures of <linux/seccomp.h>.
type (
	seccompData struct {
		nr   int32
		arch uint32
		ip   uint64
		args [6]uint64
	}
	seccompNotif struct {
		id    uint64
		pid   uint32
		flags uint32
		data  seccompData
	}
	seccompNotifAddFD struct {
		id         uint64
		flags      uint32
		source     uint32
		number     uint32
		numberFlag uint32
	}
	seccompNotifResp struct {
		id    uint64
		val   int64
		err   int32
		flags uint32
	}
)

const (
	ioctlRecv    = 0xc0502100 // SECCOMP_IOCTL_NOTIF_RECV
	ioctlSend    = 0xc0182101 // SECCOMP_IOCTL_NOTIF_SEND
	ioctlIDValid = 0x40082102 // SECCOMP_IOCTL_NOTIF_ID_VALID
	ioctlAddFD   = 0x40182103 // SECCOMP_IOCTL_NOTIF_ADDFD

	flagContinue = 1 // SECCOMP_USER_NOTIF_FLAG_CONTINUE
)

// Question is a system call that waits for our answer.
type Question struct {
	ID uint64
	// PID is the calling thread, as the Runner sees it. The thread cannot choose it.
	PID  int
	NR   int
	Args [6]uint64
}

// Next reads the next question from the listener. An error means that the caller has died.
func Next(fd int) (Question, error) {
	var q seccompNotif // must be zero, or the kernel refuses
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), ioctlRecv, uintptr(unsafe.Pointer(&q))); errno != 0 {
		return Question{}, errno
	}
	return Question{ID: q.id, PID: int(q.pid), NR: int(q.data.nr), Args: q.data.args}, nil
}

// Continue lets the kernel execute the call. The decision may depend only on register
// values, because memory can change in the meantime.
func (q Question) Continue(fd int) {
	respond(fd, seccompNotifResp{id: q.ID, flags: flagContinue})
}

// Refuse answers with an error.
func (q Question) Refuse(fd int, errno unix.Errno) {
	respond(fd, seccompNotifResp{id: q.ID, err: -int32(errno)})
}

// Succeed answers with success.
func (q Question) Succeed(fd int) { q.Return(fd, 0) }

// Return answers with a result.
func (q Question) Return(fd, value int) { respond(fd, seccompNotifResp{id: q.ID, val: int64(value)}) }

// Give answers with a descriptor: the caller gets a copy of ours, and the call returns
// its number.
//
// The kernel can do both at once (SECCOMP_ADDFD_FLAG_SEND). But a signal in between, and
// Go sends itself many, then makes the call return 0 without a descriptor.
func (q Question) Give(fd, ours int, closeOnExec bool) error {
	add := seccompNotifAddFD{id: q.ID, source: uint32(ours)}
	if closeOnExec {
		add.numberFlag = unix.O_CLOEXEC
	}
	number, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), ioctlAddFD, uintptr(unsafe.Pointer(&add)))
	if errno != 0 {
		return errno
	}
	respond(fd, seccompNotifResp{id: q.ID, val: int64(number)})
	return nil
}

// respond returns no error: the only possible one is that the caller has died.
func respond(fd int, r seccompNotifResp) {
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(fd), ioctlSend, uintptr(unsafe.Pointer(&r)))
}

// Waits reports whether the calling process still exists, so that information that was
// read by its pid is about that process.
func (q Question) Waits(fd int) bool {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), ioctlIDValid, uintptr(unsafe.Pointer(&q.ID)))
	return errno == 0
}
