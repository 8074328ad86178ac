package rootfs

import (
	"errors"
	"io"
	"io/fs"

	"github.com/tetratelabs/wazero/experimental/sys"
	wazerosys "github.com/tetratelabs/wazero/sys"
)

const (
	// namesPiece is how many names are read at a time.
	namesPiece = 1024
	// maxNames bounds one request. wazero takes fewer names than it asked for as the end
	// of the directory, so a larger request must fail instead of being cut.
	maxNames = 64 * namesPiece
)

// directory is an open directory.
type directory struct {
	sys.DirFile
	handle
}

// Readdir implements sys.File.
func (f *directory) Readdir(n int) ([]sys.Dirent, sys.Errno) {
	wanted := n
	if n <= 0 || n > maxNames {
		wanted = maxNames + 1
	}
	var names []sys.Dirent
	for len(names) < wanted {
		// os.File examines each name relative to the open directory, not by path.
		entries, err := f.file.ReadDir(min(namesPiece, wanted-len(names)))
		for _, e := range entries {
			if d, ok := direntOf(e); ok {
				names = append(names, d)
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			if !f.set.keeps(f.file) {
				return nil, sys.EBADF // package os has another error for it here
			}
			return nil, errnoOf(err)
		}
	}
	if len(names) > maxNames {
		return nil, sys.ERANGE
	}
	return names, 0
}

// direntOf returns false for a file that was removed after it was listed.
func direntOf(e fs.DirEntry) (sys.Dirent, bool) {
	info, err := e.Info()
	if err != nil {
		return sys.Dirent{}, false
	}
	return sys.Dirent{Ino: wazerosys.NewStat_t(info).Ino, Name: e.Name(), Type: info.Mode().Type()}, true
}

// Seek implements sys.File: a directory can be read again from the beginning.
func (f *directory) Seek(offset position, whence int) (position, sys.Errno) {
	if offset != 0 || whence != io.SeekStart {
		return 0, sys.EINVAL
	}
	at, err := f.file.Seek(0, io.SeekStart)
	return at, errnoOf(err)
}
