package rootfs

import (
	"syscall"

	"github.com/tetratelabs/wazero/experimental/sys"
	"golang.org/x/sys/windows"

	"github.com/cordon-sandbox/cordon/internal/backend/wasm/guestfs"
)

// No file in a directory of Windows blocks an open.
const openNonblock = 0

// countsNames says whether the number of names of a file is known.
const countsNames = false

// separators are characters that a path may not contain: a guest's paths are those of WASI,
// and a colon names another stream of a file, which is not part of its size.
const separators = "\x00\\:"

func hostErrno(errno syscall.Errno) (sys.Errno, bool) {
	switch errno {
	case windows.ERROR_PATH_NOT_FOUND: // wazero would return ENOTDIR, even if the directory is missing
		return sys.ENOENT, true
	case windows.ERROR_ACCESS_DENIED, windows.ERROR_SHARING_VIOLATION, windows.ERROR_LOCK_VIOLATION:
		return sys.EACCES, true
	case windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL:
		return guestfs.ENOSPC, true
	case windows.ERROR_TOO_MANY_OPEN_FILES:
		return guestfs.EMFILE, true
	case windows.ERROR_NOT_SAME_DEVICE:
		return guestfs.EXDEV, true
	case windows.ERROR_TOO_MANY_LINKS:
		return guestfs.EMLINK, true
	case windows.ERROR_NOT_SUPPORTED:
		return sys.ENOTSUP, true
	case windows.ERROR_FILENAME_EXCED_RANGE:
		return sys.ENAMETOOLONG, true
	}
	return 0, false
}
