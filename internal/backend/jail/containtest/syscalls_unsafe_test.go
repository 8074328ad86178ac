//go:build linux

package containtest

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// rawClone makes a child that exits at once. The standard library cannot make a child with
// arbitrary flags.
//
//go:nocheckptr
func rawClone(flags uintptr) (int, error) {
	pid, _, errno := unix.RawSyscall6(unix.SYS_CLONE, flags, 0, 0, 0, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	if pid == 0 {
		for {
			_, _, _ = unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
		}
	}
	return int(pid), nil
}

// rawCloneWaiting makes a child that does nothing until it is killed.
//
//go:nocheckptr
func rawCloneWaiting() (int, error) {
	pid, _, errno := unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	if pid == 0 {
		for {
			_, _, _ = unix.RawSyscall6(unix.SYS_PPOLL, 0, 0, 0, 0, 0, 0)
		}
	}
	return int(pid), nil
}

// changeMode is chmod with a path that another goroutine may change meanwhile.
func changeMode(path []byte, mode uintptr) {
	at := unix.AT_FDCWD
	_, _, _ = unix.Syscall(unix.SYS_FCHMODAT, uintptr(at), uintptr(unsafe.Pointer(&path[0])), mode)
}

// fillWithChildren makes as many children as it can, kills them, and returns how many there
// were. It uses only raw system calls, during which Go's runtime starts no thread.
func fillWithChildren() (n int) {
	var pids [256]int
	for n < len(pids) {
		pid, err := rawCloneWaiting()
		if err != nil {
			break
		}
		pids[n] = pid
		n++
	}
	for _, pid := range pids[:n] {
		_, _, _ = unix.RawSyscall(unix.SYS_KILL, uintptr(pid), uintptr(unix.SIGKILL), 0)
		_, _, _ = unix.RawSyscall6(unix.SYS_WAIT4, uintptr(pid), 0, 0, 0, 0, 0)
	}
	return n
}

// callOn makes a system call whose first argument is a path.
func callOn(number uintptr, path string, args ...uintptr) (int, error) {
	text, err := unix.BytePtrFromString(path)
	if err != nil {
		return -1, err
	}
	var more [4]uintptr
	copy(more[:], args)
	n, _, errno := unix.Syscall6(number, uintptr(unsafe.Pointer(text)), more[0], more[1], more[2], more[3], 0)
	if errno != 0 {
		return -1, errno
	}
	return int(n), nil
}

// callAt makes a system call whose first arguments are the current directory and a path.
func callAt(number uintptr, path string, args ...uintptr) (int, error) {
	text, err := unix.BytePtrFromString(path)
	if err != nil {
		return -1, err
	}
	here := unix.AT_FDCWD
	var more [4]uintptr
	copy(more[:], args)
	n, _, errno := unix.Syscall6(number, uintptr(here), uintptr(unsafe.Pointer(text)), more[0], more[1], more[2], more[3])
	if errno != 0 {
		return -1, errno
	}
	return int(n), nil
}

// message is the kernel's struct msgbuf.
type message struct {
	kind int
	text [96]byte
}

func readQueue(key int) error {
	id, _, errno := unix.Syscall(unix.SYS_MSGGET, uintptr(key), 0, 0)
	if errno != 0 {
		return errno
	}
	var m message
	n, _, errno := unix.Syscall6(unix.SYS_MSGRCV, id, uintptr(unsafe.Pointer(&m)), uintptr(len(m.text)), 0, unix.IPC_NOWAIT, 0)
	if errno != 0 {
		return errno
	}
	fmt.Printf("%q\n", m.text[:n])
	return nil
}

func changeSemaphore(key int) error {
	const setValue = 16
	id, _, errno := unix.Syscall(unix.SYS_SEMGET, uintptr(key), 1, 0)
	if errno != 0 {
		return errno
	}
	if _, _, errno := unix.Syscall6(unix.SYS_SEMCTL, id, 0, setValue, 7, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

func readMemorySegment(key int) error {
	id, err := unix.SysvShmGet(key, 0, 0)
	if err != nil {
		return err
	}
	page, err := unix.SysvShmAttach(id, 0, unix.SHM_RDONLY)
	if err != nil {
		return err
	}
	fmt.Printf("%q\n", page[:64])
	return nil
}

func readPosixQueue(name string) error {
	path, err := unix.BytePtrFromString(name)
	if err != nil {
		return err
	}
	fd, _, errno := unix.Syscall6(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(path)), unix.O_RDWR|unix.O_NONBLOCK, 0, 0, 0, 0)
	if errno != 0 {
		return errno
	}
	text := make([]byte, 8192)
	n, _, errno := unix.Syscall6(unix.SYS_MQ_TIMEDRECEIVE, fd, uintptr(unsafe.Pointer(&text[0])), uintptr(len(text)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	fmt.Printf("%q\n", text[:n])
	return nil
}

func makePosixQueue(name string) error {
	path, err := unix.BytePtrFromString(name)
	if err != nil {
		return err
	}
	// struct mq_attr: flags, maxmsg, msgsize, curmsgs and padding.
	attr := [8]int{0, 1, 8}
	_, _, errno := unix.Syscall6(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(path)), unix.O_CREAT|unix.O_RDWR, 0o600, uintptr(unsafe.Pointer(&attr)), 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// ioctlByte calls ioctl with a pointer to one byte or number, and a request of any width.
func ioctlByte(fd int, request uintptr, value int32) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(unsafe.Pointer(&value))); errno != 0 {
		return errno
	}
	return nil
}

// sharedMemory allocates a segment of System V memory and writes to all of it.
func sharedMemory(size int) error {
	id, err := unix.SysvShmGet(unix.IPC_PRIVATE, size, unix.IPC_CREAT|0o600)
	if err != nil {
		return err
	}
	memory, err := unix.SysvShmAttach(id, 0, 0)
	if err != nil {
		return err
	}
	fill(memory)
	return errors.Join(unix.SysvShmDetach(memory))
}

func fill(memory []byte) {
	for i := 0; i < len(memory); i += 4096 {
		memory[i] = 1
	}
}

// newTimer creates a timer that is never armed. The kernel reserves a signal for it.
func newTimer() error {
	var id int32
	if _, _, errno := unix.Syscall(unix.SYS_TIMER_CREATE, unix.CLOCK_MONOTONIC, 0, uintptr(unsafe.Pointer(&id))); errno != 0 {
		return errno
	}
	return nil
}

// requestRealTime requests a real-time scheduling class, which runs before all ordinary
// processes.
func requestRealTime() error {
	priority := int32(1)
	if _, _, errno := unix.Syscall(unix.SYS_SCHED_SETSCHEDULER, 0, unix.SCHED_FIFO, uintptr(unsafe.Pointer(&priority))); errno != 0 {
		return errno
	}
	return nil
}
