package rootfs

import (
	"errors"
	"io"
	"io/fs"
	"syscall"

	"github.com/tetratelabs/wazero/experimental/sys"
)

// overQuota is ENOSPC because of our quota. It never leaves the package.
const overQuota sys.Errno = 0x2000

// errnoOf returns the guest's error number for an error of package os. The order matters:
// errors that differ between systems come before those that wazero knows by number.
func errnoOf(err error) sys.Errno {
	if err == nil || errors.Is(err, io.EOF) {
		return 0
	}
	var own sys.Errno
	if errors.As(err, &own) { // before the other: it unwraps to one
		return own
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		if known, ok := hostErrno(errno); ok {
			return known
		}
		return sys.UnwrapOSError(errno)
	}
	switch {
	case errors.Is(err, fs.ErrClosed):
		return sys.EBADF
	case errors.Is(err, fs.ErrNotExist):
		return sys.ENOENT
	case errors.Is(err, fs.ErrExist):
		return sys.EEXIST
	case errors.Is(err, fs.ErrPermission):
		return sys.EPERM
	case errors.Is(err, fs.ErrInvalid):
		return sys.EINVAL
	}
	return sys.EIO
}
