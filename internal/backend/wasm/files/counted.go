package files

import (
	"io/fs"

	"github.com/tetratelabs/wazero/experimental/sys"

	"github.com/cordon-sandbox/cordon/internal/backend/wasm/guestfs"
)

// counted counts the open files of a mount that does not count them itself.
type counted struct {
	sys.FS
	handles *guestfs.Handles
}

// OpenFile implements sys.FS.
func (c *counted) OpenFile(path string, flag sys.Oflag, perm fs.FileMode) (sys.File, sys.Errno) {
	return c.handles.Open(path, flag, func(release func()) (sys.File, sys.Errno) {
		f, errno := c.FS.OpenFile(path, flag, perm)
		if errno != 0 {
			return nil, errno
		}
		return &countedFile{File: f, release: release}, 0
	})
}

type countedFile struct {
	sys.File
	release func()
	closed  bool
}

// Close implements sys.File.
func (f *countedFile) Close() sys.Errno {
	if !f.closed {
		f.closed = true
		f.release()
	}
	return f.File.Close()
}
