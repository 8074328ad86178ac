package wasm

import (
	"io/fs"

	"github.com/tetratelabs/wazero/experimental/sys"

	"github.com/cordon-sandbox/cordon/internal/backend/wasm/rootfs"
)

// counted is a mount of which a guest may have only so many files open, as its limits
// say. The library is one too: an open file is memory of ours, and not of the guest.
type counted struct {
	sys.FS
	guest *guest
}

// OpenFile implements sys.FS.
func (c counted) OpenFile(path string, flag sys.Oflag, perm fs.FileMode) (sys.File, sys.Errno) {
	if c.guest.opened >= c.guest.limits.OpenFiles-standardStreams {
		c.guest.exceeded("open_files")
		if path == "." {
			return nil, sys.ENOENT // wazero panics at anything else for a mount's own folder
		}
		return nil, rootfs.EMFILE
	}
	f, errno := c.FS.OpenFile(path, flag, perm)
	if errno != 0 {
		return nil, errno
	}
	c.guest.opened++
	return &countedFile{File: f, guest: c.guest}, 0
}

type countedFile struct {
	sys.File
	guest  *guest
	closed bool
}

// Close implements sys.File.
func (f *countedFile) Close() sys.Errno {
	if !f.closed {
		f.closed = true
		f.guest.opened--
	}
	return f.File.Close()
}
