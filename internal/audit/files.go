package audit

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cordon-sandbox/cordon/run"
)

// part is one file of a log, open for reading.
type part struct {
	*os.File
	name  string // without its directory, for messages
	first uint64 // the first line, as the name of a rotated file says
}

// errRotated means that the writer rotated while we opened the files.
var errRotated = errors.New("the log was rotated while it was opened")

// openLog opens all files of a log, the oldest first. A writer may rotate at the same
// time: an open file stays readable whatever its name is.
func openLog(path string) ([]part, error) {
	for try := 0; ; try++ {
		parts, err := openOnce(path)
		if err == nil || !errors.Is(err, errRotated) && !errors.Is(err, fs.ErrNotExist) || try == 10 {
			return parts, err
		}
	}
}

func openOnce(path string) (parts []part, err error) {
	defer func() {
		if err != nil {
			closeAll(parts)
			parts = nil
		}
	}()
	// The newest first: if it is rotated now, it is the one file that is found twice.
	active, err := os.Open(path)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return nil, run.Wrap(run.Invalid, err)
	}
	old, err := listRotated(path)
	if err == nil && missing && len(old) == 0 {
		err = run.Errorf(run.Invalid, "there is no audit log at %s", path)
	}
	for _, r := range old {
		if err != nil {
			break
		}
		var f *os.File
		if f, err = os.Open(r.path); err != nil {
			break
		}
		if !missing && sameFile(f, active) {
			f.Close()
			continue
		}
		parts = append(parts, part{f, filepath.Base(r.path), r.first})
	}
	if !missing {
		parts = append(parts, part{active, filepath.Base(path), 0})
	}
	// A rotation removes old files, and the newest file that we have open would still say
	// that they are kept.
	if err == nil && missing != isMissing(path) || err == nil && !missing && !isNamed(active, path) {
		err = errRotated
	}
	return parts, err
}

func isMissing(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

func isNamed(f *os.File, path string) bool {
	ours, err1 := f.Stat()
	named, err2 := os.Stat(path)
	return err1 == nil && err2 == nil && os.SameFile(ours, named)
}

func sameFile(a, b *os.File) bool {
	x, err1 := a.Stat()
	y, err2 := b.Stat()
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

func closeAll(parts []part) {
	for _, p := range parts {
		p.Close()
	}
}

// isBeingWritten reports whether a writer has the log open.
func isBeingWritten(path string) bool {
	if _, err := os.Lstat(path + lockSuffix); err != nil {
		return false // and checking creates no lock file
	}
	lock, held, err := tryLock(path + lockSuffix)
	if err == nil && !held {
		lock.Close()
	}
	return held
}
