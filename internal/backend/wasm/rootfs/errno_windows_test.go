package rootfs

import (
	"io/fs"
	"syscall"
	"testing"

	"github.com/tetratelabs/wazero/experimental/sys"
	"golang.org/x/sys/windows"

	"github.com/cordon-sandbox/cordon/internal/backend/wasm/guestfs"
)

func TestErrnoOfTheSystem(t *testing.T) {
	for errno, want := range map[syscall.Errno]sys.Errno{
		windows.ERROR_FILE_NOT_FOUND: sys.ENOENT, windows.ERROR_PATH_NOT_FOUND: sys.ENOENT,
		windows.ERROR_ACCESS_DENIED: sys.EACCES, windows.ERROR_SHARING_VIOLATION: sys.EACCES,
		windows.ERROR_ALREADY_EXISTS: sys.EEXIST, windows.ERROR_FILE_EXISTS: sys.EEXIST,
		windows.ERROR_DIR_NOT_EMPTY: sys.ENOTEMPTY, windows.ERROR_DIRECTORY: sys.ENOTDIR,
		windows.ERROR_DISK_FULL: guestfs.ENOSPC, windows.ERROR_TOO_MANY_OPEN_FILES: guestfs.EMFILE,
		windows.ERROR_NOT_SAME_DEVICE: guestfs.EXDEV, windows.ERROR_TOO_MANY_LINKS: guestfs.EMLINK,
		windows.ERROR_PRIVILEGE_NOT_HELD: sys.EPERM, windows.ERROR_INVALID_NAME: sys.EINVAL,
	} {
		check(t, errno.Error(), errnoOf(&fs.PathError{Err: errno}), want)
	}
}

// A colon names another stream of a file, which is not part of its size.
func TestWindowsPathsAreInvalid(t *testing.T) {
	w := newWorld(t, true, generous)
	for _, path := range []string{`sub\deep.txt`, `..\outside\secret`, `C:\Windows`, "in.txt:stream"} {
		check(t, path, w.opens(path, sys.O_RDONLY), sys.EINVAL)
	}
	if errno := w.opens("NUL", sys.O_RDONLY); errno == 0 {
		t.Error("opened a device")
	}
}
