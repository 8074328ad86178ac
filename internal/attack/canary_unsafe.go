//go:build linux

package attack

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// plantMemory keeps a secret in this process's memory and puts its address into the
// context: the address of a Go object on the heap does not change.
func (c *Canaries) plantMemory() {
	memory := []byte(c.secret("memory"))
	c.context["memory_address"] = int64(uintptr(unsafe.Pointer(unsafe.SliceData(memory))))
	c.context["memory_size"] = len(memory)
	c.closes = append(c.closes, func() { runtime.KeepAlive(memory) })
}

// message is the kernel's struct msgbuf.
type message struct {
	kind int
	text [96]byte
}

// plantIPC creates System V and POSIX objects that any process in this namespace may
// open. Each is optional: a kernel may be built without them.
func (c *Canaries) plantIPC() {
	const everybody = unix.IPC_CREAT | unix.IPC_EXCL | 0o666
	var seed [4]byte
	copy(seed[:], random(2))
	key := int(seed[0])<<24 | int(seed[1])<<16 | int(seed[2])<<8 | int(seed[3])
	c.context["sysv_key"] = key

	if id, err := unix.SysvShmGet(key, 4096, everybody); err == nil {
		c.closes = append(c.closes, func() { _, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) })
		if page, err := unix.SysvShmAttach(id, 0, 0); err == nil {
			copy(page, c.secret("shm"))
			_ = unix.SysvShmDetach(page)
			c.context["shm"] = true
		}
	}
	if id, _, errno := unix.Syscall(unix.SYS_SEMGET, uintptr(key), 1, everybody); errno == 0 {
		c.context["sem"] = true
		c.closes = append(c.closes, func() { _, _, _ = unix.Syscall(unix.SYS_SEMCTL, id, 0, unix.IPC_RMID) })
		c.checks = append(c.checks, func() []string {
			const getValue, setValue = 12, 16
			if value, _, errno := unix.Syscall(unix.SYS_SEMCTL, id, 0, getValue); errno != 0 || value != 0 {
				_, _, _ = unix.Syscall6(unix.SYS_SEMCTL, id, 0, setValue, 0, 0, 0)
				return []string{"the host's semaphore was changed"}
			}
			return nil
		})
	}
	if id, _, errno := unix.Syscall(unix.SYS_MSGGET, uintptr(key), everybody, 0); errno == 0 {
		c.closes = append(c.closes, func() { _, _, _ = unix.Syscall(unix.SYS_MSGCTL, id, unix.IPC_RMID, 0) })
		m := message{kind: 1}
		n := copy(m.text[:], c.secret("msg"))
		_, _, errno := unix.Syscall6(unix.SYS_MSGSND, id, uintptr(unsafe.Pointer(&m)), uintptr(n), unix.IPC_NOWAIT, 0, 0)
		c.context["msg"] = errno == 0
	}
	c.plantQueue()
}

// plantQueue makes a POSIX message queue with one message in it.
func (c *Canaries) plantQueue() {
	name, err := unix.BytePtrFromString(c.context["marker"].(string))
	if err != nil {
		return
	}
	// flags, maxmsg, msgsize, curmsgs and padding: struct mq_attr.
	attr := [8]int{0, 4, 128}
	fd, _, errno := unix.Syscall6(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(name)),
		unix.O_CREAT|unix.O_EXCL|unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0o666, uintptr(unsafe.Pointer(&attr)), 0, 0)
	if errno != 0 {
		return
	}
	c.closes = append(c.closes, func() {
		unix.Close(int(fd))
		_, _, _ = unix.Syscall(unix.SYS_MQ_UNLINK, uintptr(unsafe.Pointer(name)), 0, 0)
	})
	text := []byte(c.secret("mq"))
	_, _, errno = unix.Syscall6(unix.SYS_MQ_TIMEDSEND, fd, uintptr(unsafe.Pointer(&text[0])), uintptr(len(text)), 0, 0, 0)
	if errno == 0 {
		c.context["mq"] = c.context["marker"]
	}
}
