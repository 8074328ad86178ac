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

// The runtime's own preparations for a system call that blocks: another thread gets the
// CPU of Go's that this one has.

//go:linkname enterBlockingSyscall runtime.entersyscallblock
func enterBlockingSyscall()

//go:linkname exitSyscall runtime.exitsyscall
func exitSyscall()

// vfork is the system call clone. It stores the pid before the child runs.
//
//go:noescape
func vfork(flags uintptr, pid *int32) (result uintptr)

// fork starts a child that makes the system calls of its program, the last of which is
// execve, and nothing else. If flags has CLONE_VM, the child uses our memory and our stack,
// and this thread continues when the child has executed its program. Otherwise the child
// is a copy of one thread out of many. Either way nothing in it may allocate, lock, or
// grow a stack, and every variable is declared before the clone.
//
// The thread counts as blocked in a system call, so that other goroutines can run and the
// garbage collector does not wait for it: the child waits for what other goroutines do.
//
//go:noinline
//go:norace
//go:nocheckptr
func fork(flags uintptr, p *program) syscall.Errno {
	var (
		c      *call
		i      int
		result uintptr
		errno  syscall.Errno
		report = p.report
	)
	beforeFork()
	enterBlockingSyscall()
	result = vfork(flags|uintptr(unix.SIGCHLD)|unix.CLONE_PARENT_SETTID, &p.pid)
	if result != 0 {
		afterFork()
		exitSyscall()
		if int(result) < 0 {
			return syscall.Errno(-result)
		}
		return 0
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
		} else if errno != 0 && errno == c.again && c.tries > 0 {
			c.tries--
			i -= 2
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
