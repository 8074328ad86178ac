package zygote

import (
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// descriptor is an open file that Go's poller does not use. Its zero value is closed. A
// timer may use it while its owner closes it; the lock keeps the timer from using a
// number that belongs to another file by then.
type descriptor struct {
	mu   sync.Mutex
	fd   int
	open bool
}

func (d *descriptor) set(fd int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fd, d.open = fd, true
}

// use calls f with the number while it is open.
func (d *descriptor) use(f func(fd int)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open {
		f(d.fd)
	}
}

// number is -1 if the descriptor is closed. Only its owner may call it.
func (d *descriptor) number() int {
	if !d.open {
		return -1
	}
	return d.fd
}

// file hands the descriptor over to Go's poller and closes d.
func (d *descriptor) file(name string) *os.File {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.open {
		return nil
	}
	d.open = false
	return os.NewFile(uintptr(d.fd), name)
}

// copy hands a copy over to Go's poller. It returns nil if d is closed, or if this process
// has no descriptor left.
func (d *descriptor) copy(name string) (file *os.File) {
	d.use(func(fd int) {
		if made, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0); err == nil {
			file = os.NewFile(uintptr(made), name)
		}
	})
	return file
}

func (d *descriptor) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open {
		d.open = false
		unix.Close(d.fd)
	}
}
