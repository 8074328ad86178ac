package scratch

import (
	"io/fs"

	"github.com/tetratelabs/wazero/experimental/sys"
)

// linuxErrors adapts errors to those that wazero returns for package os.
type linuxErrors struct{ sys.FS }

// Mkdir returns ENOENT where a parent is a file.
func (l linuxErrors) Mkdir(path string, perm fs.FileMode) sys.Errno {
	errno := l.FS.Mkdir(path, perm)
	if errno == sys.ENOTDIR {
		errno = sys.ENOENT
	}
	return errno
}

// Rename to the same path succeeds without a check.
func (l linuxErrors) Rename(from, to string) sys.Errno {
	if from == to {
		return 0
	}
	return l.FS.Rename(from, to)
}
