//go:build linux

package zygote

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

	flagContinue = 1 // SECCOMP_USER_NOTIF_FLAG_CONTINUE
)

// notification is one question of the kernel.
type notification struct {
	id   uint64
	pid  int
	nr   int
	args [6]uint64
}

// nextNotification gives the question that the descriptor has announced.
func nextNotification(fd int) (notification, error) {
	var q seccompNotif // must be zero, or the kernel refuses
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), ioctlRecv, uintptr(unsafe.Pointer(&q))); errno != 0 {
		return notification{}, errno
	}
	return notification{id: q.id, pid: int(q.pid), nr: int(q.data.nr), args: q.data.args}, nil
}

func letContinue(fd int, id uint64) error {
	return respond(fd, seccompNotifResp{id: id, flags: flagContinue})
}

func refuse(fd int, id uint64, errno unix.Errno) error {
	return respond(fd, seccompNotifResp{id: id, err: -int32(errno)})
}

func respond(fd int, r seccompNotifResp) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), ioctlSend, uintptr(unsafe.Pointer(&r))); errno != 0 {
		return errno
	}
	return nil
}

func stillValid(fd int, id uint64) bool {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), ioctlIDValid, uintptr(unsafe.Pointer(&id)))
	return errno == 0
}
