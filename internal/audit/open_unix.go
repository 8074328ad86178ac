//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package audit

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/cordon-sandbox/cordon/run"
)

// openFile opens a file of the log. It refuses symbolic and hard links, with which an
// attacker could redirect writes to another file. O_NONBLOCK keeps open from waiting on a
// FIFO, and has no effect on a regular file.
func openFile(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, flags|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0o600)
	if errors.Is(err, syscall.ELOOP) {
		return nil, run.Errorf(run.Invalid, "%s is a symbolic link: name the file itself", path)
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = run.Errorf(run.Invalid, "%s is not a file", path)
	case flags&(os.O_WRONLY|os.O_RDWR) != 0 && linkCount(info) > 1:
		err = run.Errorf(run.Invalid, "%s has other names (hard links), so that another file would be written: remove it", path)
	case info.Mode().Perm()&0o022 != 0:
		err = run.Errorf(run.Invalid, "%s has mode %#o: others can change it; run chmod 600 on it", path, info.Mode().Perm())
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// linkCount returns the number of hard links to a file.
func linkCount(info fs.FileInfo) uint64 {
	if state, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(state.Nlink) //nolint:unconvert // its type differs between systems
	}
	return 1
}

// tryLock takes the lock of a log. held means that another process has it. The kernel
// releases the lock when its holder ends.
func tryLock(path string) (lock *os.File, held bool, err error) {
	f, err := openFile(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, false, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, true, nil
		}
		return nil, false, &fs.PathError{Op: "flock", Path: path, Err: err}
	}
	return f, false, nil
}

// syncDirectory makes new names in a directory survive a crash of the machine.
func syncDirectory(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
