//go:build unix

package rootfs

import (
	"syscall"

	"github.com/tetratelabs/wazero/experimental/sys"

	"github.com/cordon-sandbox/cordon/internal/backend/wasm/guestfs"
)

// openNonblock keeps the open of a FIFO from waiting for its other end.
const openNonblock = syscall.O_NONBLOCK

// countsNames says whether a file tells how many names it has.
const countsNames = true

// separators are what a path may not contain beside slashes.
const separators = "\x00"

func hostErrno(errno syscall.Errno) (sys.Errno, bool) {
	switch errno {
	case syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG:
		return guestfs.ENOSPC, true
	case syscall.EMFILE, syscall.ENFILE:
		return guestfs.EMFILE, true
	case syscall.ENXIO, syscall.ENODEV: // a socket, a FIFO without its other end
		return sys.EPERM, true
	case syscall.EBUSY, syscall.ETXTBSY:
		return sys.EACCES, true
	case syscall.EXDEV, syscall.EOPNOTSUPP, syscall.EMLINK:
		return sys.ENOTSUP, true
	}
	return 0, false
}
