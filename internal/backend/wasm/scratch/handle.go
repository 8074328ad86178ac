package scratch

import (
	"github.com/tetratelabs/wazero/experimental/sys"
	wazerosys "github.com/tetratelabs/wazero/sys"
)

// position is the type in the signature of Seek, because go vet would require that of
// io.Seeker for int64.
type position = int64

// handle is the common part of open files and directories.
type handle struct {
	sys.UnimplementedFile
	fs      *FS
	node    *node
	release func()
	closed  bool
}

// do calls work with the lock held, if the handle is open.
func (h *handle) do(work func() sys.Errno) sys.Errno {
	return h.fs.do(func() sys.Errno {
		if h.closed {
			return sys.EBADF
		}
		return work()
	})
}

// Dev implements sys.File.
func (h *handle) Dev() (uint64, sys.Errno) { return device, 0 }

// Ino implements sys.File. The number of a node never changes.
func (h *handle) Ino() (wazerosys.Inode, sys.Errno) { return h.node.ino, 0 }

// Stat implements sys.File.
func (h *handle) Stat() (st wazerosys.Stat_t, errno sys.Errno) {
	errno = h.do(func() sys.Errno {
		st = h.node.stat()
		return 0
	})
	return st, errno
}

// Utimens implements sys.File.
func (h *handle) Utimens(accessed, modified int64) sys.Errno {
	return h.do(func() sys.Errno {
		h.fs.setTimes(h.node, accessed, modified)
		return 0
	})
}

// Sync implements sys.File. There is nothing to write back.
func (h *handle) Sync() sys.Errno { return h.do(func() sys.Errno { return 0 }) }

// Datasync implements sys.File.
func (h *handle) Datasync() sys.Errno { return h.Sync() }

// Close implements sys.File. A second Close is no error, as in package rootfs.
func (h *handle) Close() sys.Errno {
	first := h.fs.locked(func() sys.Errno {
		if h.closed {
			return sys.EBADF
		}
		h.closed = true
		h.node.opens--
		h.fs.release(h.node)
		return 0
	}) == 0
	if first {
		h.release()
	}
	return 0
}
