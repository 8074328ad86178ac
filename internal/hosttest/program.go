package hosttest

import "syscall"

// ProgramsAreClosed is called between the writing of a program and its start. A process
// that was forked in between has our descriptors until it becomes another program, and
// the kernel starts no file that somebody may still write to ("text file busy").
func ProgramsAreClosed() {
	syscall.ForkLock.Lock() // held by each fork, until then
	defer syscall.ForkLock.Unlock()
}
