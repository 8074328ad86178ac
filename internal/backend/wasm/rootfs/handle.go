package rootfs

import (
	"io/fs"
	"os"

	"github.com/tetratelabs/wazero/experimental/sys"
	wazerosys "github.com/tetratelabs/wazero/sys"
)

// position is the type in the signature of Seek, because go vet would require that of
// io.Seeker for int64.
type position = int64

// handle is the common part of open files and directories.
type handle struct {
	sys.UnimplementedFile
	mount    *mount
	set      *Set
	location location
	file     *os.File
	release  func()
}

func (h *handle) info() (fs.FileInfo, sys.Errno) {
	info, err := h.file.Stat()
	return info, errnoOf(err)
}

// Dev implements sys.File.
func (h *handle) Dev() (uint64, sys.Errno) { return h.mount.device, 0 }

// Ino implements sys.File.
func (h *handle) Ino() (wazerosys.Inode, sys.Errno) {
	st, errno := h.Stat()
	return st.Ino, errno
}

// Stat implements sys.File.
func (h *handle) Stat() (wazerosys.Stat_t, sys.Errno) {
	info, errno := h.info()
	if errno != 0 {
		return wazerosys.Stat_t{}, errno
	}
	return h.mount.statOf(info), 0
}

// Utimens implements sys.File. Package os sets times only by path, so the path must still
// name this file.
func (h *handle) Utimens(atim, mtim int64) sys.Errno {
	s := h.location
	if !s.write {
		return h.mount.deny("utimens", s, sys.EROFS)
	}
	mine, errno := h.info()
	if errno != 0 {
		return errno
	}
	there, err := s.stat(true)
	if err != nil {
		return h.mount.failed("utimens", s, err)
	}
	if !os.SameFile(mine, there) {
		return sys.ENOENT
	}
	return h.mount.failed("utimens", s, s.root.Chtimes(s.name, timeOf(atim), timeOf(mtim)))
}

// Close implements sys.File.
func (h *handle) Close() sys.Errno {
	if !h.set.forget(h.file) {
		return 0 // already closed, perhaps by the set
	}
	h.release()
	return errnoOf(h.file.Close())
}
