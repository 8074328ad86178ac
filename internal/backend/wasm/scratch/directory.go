package scratch

import (
	"io"

	"github.com/tetratelabs/wazero/experimental/sys"
)

// maxNames bounds one request: wazero keeps the names while the directory is open, even after
// they are removed and no longer counted. wazero takes fewer names than it asked for as the end
// of the directory, so a larger request must fail instead of being cut. The C library asks for
// less than 200.
const maxNames = 256

// directory is an open directory.
type directory struct {
	sys.DirFile
	handle
	// A listing continues at its next name, and ends before names that were added after
	// it began.
	listing   bool
	next, end uint64
}

// Readdir implements sys.File. wazero adds the dots.
func (f *directory) Readdir(n int) (listed []sys.Dirent, errno sys.Errno) {
	errno = f.do(func() sys.Errno {
		names := f.node.names
		if !f.listing {
			f.listing, f.next, f.end = true, 0, names.next
		}
		next := f.next
		for _, e := range names.from(f.next) {
			if e.turn >= f.end || n > 0 && len(listed) == n {
				break
			}
			next = e.turn + 1
			if e.node == nil {
				continue
			}
			if len(listed) == maxNames {
				listed = nil
				return sys.ERANGE
			}
			listed = append(listed, sys.Dirent{Ino: e.node.ino, Name: e.name, Type: e.node.mode.Type()})
		}
		f.next = next
		return 0
	})
	return listed, errno
}

// Seek implements sys.File: a directory can be read again from the beginning.
func (f *directory) Seek(offset position, whence int) (position, sys.Errno) {
	return 0, f.do(func() sys.Errno {
		if offset != 0 || whence != io.SeekStart {
			return sys.EINVAL
		}
		f.listing = false
		return 0
	})
}
