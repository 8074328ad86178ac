//go:build unix

package rootfs

import (
	"syscall"

	"github.com/tetratelabs/wazero/experimental/sys"

	"github.com/cordon-sandbox/cordon/internal/backend/wasm/guestfs"
)

// openNonblock keeps the open of a FIFO from waiting for its other end.
const openNonblock = syscall.O_NONBLOCK

// countsNames says whether the number of names of a file is known.
const countsNames = true

// separators are characters that a path may not contain.
const separators = "\x00"

func hostErrno(errno syscall.Errno) (sys.Errno, bool) {
	switch errno {
	case syscall.ENOSPC:
		return guestfs.ENOSPC, true
	case syscall.EDQUOT:
		return guestfs.EDQUOT, true
	case syscall.EFBIG:
		return guestfs.EFBIG, true
	case syscall.EMFILE:
		return guestfs.EMFILE, true
	case syscall.ENFILE:
		return guestfs.ENFILE, true
	case syscall.ENXIO, syscall.ENODEV: // a socket, or a FIFO without a reader
		return sys.EPERM, true
	case syscall.EBUSY:
		return guestfs.EBUSY, true
	case syscall.ETXTBSY:
		return guestfs.ETXTBSY, true
	case syscall.EXDEV:
		return guestfs.EXDEV, true
	case syscall.EMLINK:
		return guestfs.EMLINK, true
	case syscall.EOPNOTSUPP:
		return sys.ENOTSUP, true
	}
	return 0, false
}
