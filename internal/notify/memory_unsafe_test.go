//go:build linux

package notify

import (
	"runtime"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ask makes a system call that the filter of its own thread passes to the returned listener.
func ask(t *testing.T, text *[6]byte) (listener int) {
	t.Helper()
	opened := make(chan uintptr, 1)
	go func() {
		runtime.LockOSThread() // the thread ends with the goroutine
		const setModeFilter, newListener, notify, allow, loadNumber = 1, 1 << 3, 0x7fc00000, 0x7fff0000, 0
		filter := []unix.SockFilter{
			{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: loadNumber},
			{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: unix.SYS_GETPGID},
			{Code: unix.BPF_RET | unix.BPF_K, K: notify},
			{Code: unix.BPF_RET | unix.BPF_K, K: allow},
		}
		program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
		_, _, errno := unix.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0)
		fd, _, errno2 := unix.RawSyscall(unix.SYS_SECCOMP, setModeFilter, newListener, uintptr(unsafe.Pointer(&program)))
		if errno != 0 || errno2 != 0 {
			t.Errorf("the filter: %v %v", errno, errno2)
			close(opened)
			return
		}
		opened <- fd
		_, _, _ = unix.Syscall(unix.SYS_GETPGID, uintptr(unsafe.Pointer(text)), 0, 0) // refused, by the test
	}()
	fd, ok := <-opened
	if !ok {
		t.FailNow()
	}
	t.Cleanup(func() { unix.Close(int(fd)) })
	return int(fd)
}

// What is read by the number of a process is believed only while that process waits.
func TestMemoryOnlyWhileItWaits(t *testing.T) {
	fd := ask(t, &[6]byte{'s', 'e', 'c', 'r', 'e', 't'})
	q, err := Next(fd)
	if err != nil {
		t.Fatal(err)
	}
	data := make([]byte, 6)
	if err := q.Memory(fd, q.Args[0], data); err != nil || string(data) != "secret" {
		t.Errorf("while it waits: %q %v", data, err)
	}
	q.Refuse(fd, unix.EPERM)
	if err := q.Memory(fd, q.Args[0], data); err != unix.ESRCH {
		t.Errorf("afterwards: %v", err)
	}
}
