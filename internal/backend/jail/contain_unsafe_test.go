//go:build linux

package jail

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// rawClone makes a child that ends at once. What is here cannot be had from the
// standard library: it makes no child with flags of the caller's choice.
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

func fchmodat2(name string, mode uint32) error {
	path, err := unix.BytePtrFromString(name)
	if err != nil {
		return err
	}
	here := unix.AT_FDCWD
	if _, _, errno := unix.Syscall6(unix.SYS_FCHMODAT2, uintptr(here), uintptr(unsafe.Pointer(path)), uintptr(mode), 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// mknodHighBits says in the upper half of a register what the kernel does not look
// at and a filter may be confused by.
func mknodHighBits() error {
	path, err := unix.BytePtrFromString("high")
	if err != nil {
		return err
	}
	here := unix.AT_FDCWD
	if _, _, errno := unix.Syscall6(unix.SYS_MKNODAT, uintptr(here), uintptr(unsafe.Pointer(path)), 1<<32|unix.S_IFCHR|0o666, uintptr(unix.Mkdev(1, 1)), 0, 0); errno != 0 {
		return errno
	}
	return nil
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

// ioctl with a pointer to one byte or number, and a request of any width.
func ioctlByte(fd int, request uintptr, value int32) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(unsafe.Pointer(&value))); errno != 0 {
		return errno
	}
	return nil
}

// sharedMemory takes a segment of System V memory and writes to all of it.
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
