//go:build unix

package rootfs

import (
	"io/fs"
	"syscall"
	"testing"

	"github.com/tetratelabs/wazero/experimental/sys"

	"github.com/cordon-sandbox/cordon/internal/backend/wasm/guestfs"
)

func TestErrnoOfTheSystem(t *testing.T) {
	for errno, want := range map[syscall.Errno]sys.Errno{
		syscall.ENOENT: sys.ENOENT, syscall.EACCES: sys.EACCES, syscall.EPERM: sys.EPERM, syscall.ENOTDIR: sys.ENOTDIR,
		syscall.EISDIR: sys.EISDIR, syscall.ENOTEMPTY: sys.ENOTEMPTY, syscall.EEXIST: sys.EEXIST, syscall.ELOOP: sys.ELOOP,
		syscall.EROFS: sys.EROFS, syscall.ENAMETOOLONG: sys.ENAMETOOLONG, syscall.EINVAL: sys.EINVAL, syscall.EBADF: sys.EBADF,
		syscall.ENOSPC: guestfs.ENOSPC, syscall.EDQUOT: guestfs.EDQUOT, syscall.EFBIG: guestfs.EFBIG, syscall.EMFILE: guestfs.EMFILE, syscall.ENFILE: guestfs.ENFILE,
		syscall.ENXIO: sys.EPERM, syscall.EBUSY: guestfs.EBUSY, syscall.ETXTBSY: guestfs.ETXTBSY, syscall.EXDEV: guestfs.EXDEV, syscall.EMLINK: guestfs.EMLINK,
		syscall.EIO: sys.EIO, syscall.ESTALE: sys.EIO,
	} {
		check(t, errno.Error(), errnoOf(&fs.PathError{Err: errno}), want)
	}
}
