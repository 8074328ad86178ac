package audit

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/cordon-sandbox/cordon/run"
)

// openFile opens a file of the log. It refuses a link.
func openFile(path string, flags int) (*os.File, error) {
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() {
		return nil, run.Errorf(run.Invalid, "%s is not a file", path)
	}
	return os.OpenFile(path, flags, 0o600)
}

// errSharing is ERROR_SHARING_VIOLATION, which package syscall does not name.
const errSharing = syscall.Errno(32)

// tryLock takes the lock of a log. held means that another process has it: a file opened
// without sharing can be open only once at a time.
func tryLock(path string) (lock *os.File, held bool, err error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, false, err
	}
	handle, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil,
		syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	switch {
	case errors.Is(err, errSharing):
		return nil, true, nil
	case err != nil:
		return nil, false, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(handle), path), false, nil
}

// syncDirectory does nothing: NTFS journals file names.
func syncDirectory(string) error { return nil }
