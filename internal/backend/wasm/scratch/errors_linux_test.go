package scratch

import (
	"io/fs"

	"github.com/tetratelabs/wazero/experimental/sys"
)

// linuxErrors has what wazero makes of errors on its way through package os.
type linuxErrors struct{ sys.FS }

// Mkdir is ENOENT where a file is in the way.
func (l linuxErrors) Mkdir(path string, perm fs.FileMode) sys.Errno {
	errno := l.FS.Mkdir(path, perm)
	if errno == sys.ENOTDIR {
		errno = sys.ENOENT
	}
	return errno
}

// Rename to the same path is done without a look.
func (l linuxErrors) Rename(from, to string) sys.Errno {
	if from == to {
		return 0
	}
	return l.FS.Rename(from, to)
}
