//go:build linux

package zygote

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// currentCPU is the CPU that the caller runs on, unless it was moved since.
func currentCPU() (int, error) {
	var cpu uint32
	if _, _, errno := unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&cpu)), 0, 0); errno != 0 {
		return 0, errno
	}
	return int(cpu), nil
}

// setBatch keeps a process from preempting others when it wakes up. The process keeps its
// nice value, which SchedSetAttr would have to set again.
func setBatch(pid int) error {
	var priority int32
	_, _, errno := unix.RawSyscall(unix.SYS_SCHED_SETSCHEDULER, uintptr(pid), unix.SCHED_BATCH, uintptr(unsafe.Pointer(&priority)))
	if errno != 0 {
		return errno
	}
	return nil
}
