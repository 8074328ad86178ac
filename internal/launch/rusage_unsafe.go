//go:build darwin

package launch

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// From <sys/proc_info.h> and <sys/resource.h>, for the system call that libproc's
// proc_pid_rusage makes. The function itself cannot be called without cgo.
const (
	procInfoPIDRusage = 9
	rusageInfoV0      = 0
)

// processRusage fills b, of rusageSize bytes, with the resource use of a process.
func processRusage(pid int, b []byte) bool {
	//nolint:staticcheck // the wrapper in libSystem cannot be called without cgo, and x/sys has none
	_, _, errno := unix.Syscall6(unix.SYS_PROC_INFO, procInfoPIDRusage, uintptr(pid), rusageInfoV0, 0, uintptr(unsafe.Pointer(&b[0])), 0)
	return errno == 0
}
