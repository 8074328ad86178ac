package tuning

import "golang.org/x/sys/unix"

// Yield is for a loop that polls for a process's answer: the kernel may have scheduled that
// process on our CPU. Unlike runtime.Gosched, it wakes no other thread.
func Yield() {
	_, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) // it cannot fail
}
