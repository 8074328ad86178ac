//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package audit

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/cordon-sandbox/cordon/run"
)

// openFile opens a file of the log. A link in its place, symbolic or hard, is
// refused: who can plant one could have us write elsewhere. O_NONBLOCK keeps a FIFO from
// holding us up, and means nothing to a file.
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
	case flags&(os.O_WRONLY|os.O_RDWR) != 0 && names(info) > 1:
		err = run.Errorf(run.Invalid, "%s is another file's name, too (a hard link): remove it, so that nothing else is written to", path)
	case info.Mode().Perm()&0o022 != 0:
		err = run.Errorf(run.Invalid, "%s has mode %#o: others can change it; chmod 600 it", path, info.Mode().Perm())
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// names is how many a file has.
func names(info fs.FileInfo) uint64 {
	if state, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(state.Nlink) //nolint:unconvert // its type differs between systems
	}
	return 1
}

// tryLock takes the lock of a log, or says that somebody has it. It is gone with
// the process that holds it.
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

// syncDirectory makes new names in a directory last.
func syncDirectory(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
