//go:build linux

package confine

import (
	"syscall"
	"unsafe" // for go:linkname

	"golang.org/x/sys/unix"
)

// The runtime's own preparations for a fork, as package syscall makes them. Their
// signatures are kept stable for such use, see go.dev/issue/67401.

//go:linkname beforeFork syscall.runtime_BeforeFork
func beforeFork()

//go:linkname afterFork syscall.runtime_AfterFork
func afterFork()

//go:linkname afterForkInChild syscall.runtime_AfterForkInChild
func afterForkInChild()

// fork clones this process into its namespaces and returns the child's pid. The child
// makes the system calls of its program, the last of which is execve, and nothing else.
// It is a copy of one thread out of many, so nothing in it may allocate, lock, or grow a
// stack. Every variable is declared before the clone.
//
//go:noinline
//go:norace
//go:nocheckptr
func fork(namespaces uintptr, p *program) (pid uintptr, errno syscall.Errno) {
	var (
		c      *call
		i      int
		result uintptr
		report = p.report
	)
	beforeFork()
	pid, _, errno = syscall.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD)|namespaces, 0, 0, 0, 0, 0)
	if errno != 0 || pid != 0 {
		afterFork()
		return pid, errno
	}
	afterForkInChild()
	for i = 0; i < len(p.calls); i++ {
		c = &p.calls[i]
		if c.lender >= 0 {
			c.args[c.borrower] = p.calls[c.lender].result
		}
		if c.lender2 >= 0 {
			c.args[c.borrower2] = p.calls[c.lender2].result
		}
		result, _, errno = syscall.RawSyscall6(c.number, c.args[0], c.args[1], c.args[2], c.args[3], c.args[4], c.args[5])
		c.result = result
		if errno == unix.EINTR {
			i-- // retry
		} else if errno != 0 && errno != c.accepts[0] && errno != c.accepts[1] {
			break
		} else if errno == 0 && result == 0 && c.positive {
			break
		}
		if c.store != nil {
			*c.store = int32(result)
		}
	}
	report.call, report.errno = uint16(i), uint16(errno)
	_, _, _ = syscall.RawSyscall6(unix.SYS_SENDTO, p.control, uintptr(unsafe.Pointer(report)), unsafe.Sizeof(*report), unix.MSG_NOSIGNAL, 0, 0)
	for {
		_, _, _ = syscall.RawSyscall6(unix.SYS_EXIT_GROUP, 1, 0, 0, 0, 0, 0)
	}
}
