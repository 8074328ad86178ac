package guestfs

import (
	"io"

	"github.com/tetratelabs/wazero/experimental/sys"
)

// accessMode are the two bits of an Oflag that are not flags.
const accessMode = sys.O_RDWR | sys.O_WRONLY

// OpenMode is the parsed flags of an open.
type OpenMode struct {
	Read, Write, Create, Exclusive, Truncate, Append, Directory, Follow, Sync bool
}

// ParseOpenMode parses the flags of an open, and refuses contradictory ones.
func ParseOpenMode(flag sys.Oflag) (OpenMode, sys.Errno) {
	has := func(f sys.Oflag) bool { return flag&f != 0 }
	access := flag & accessMode
	w := OpenMode{
		Read:      access == sys.O_RDONLY || access == sys.O_RDWR,
		Write:     access == sys.O_WRONLY || access == sys.O_RDWR,
		Create:    has(sys.O_CREAT),
		Exclusive: has(sys.O_CREAT) && has(sys.O_EXCL),
		Truncate:  has(sys.O_TRUNC),
		Append:    has(sys.O_APPEND),
		Directory: has(sys.O_DIRECTORY),
		Follow:    !has(sys.O_NOFOLLOW),
		Sync:      has(sys.O_SYNC | sys.O_DSYNC | sys.O_RSYNC),
	}
	switch {
	case access == accessMode, w.Truncate && !w.Write, w.Directory && (w.Create || w.Truncate):
		return w, sys.EINVAL
	case w.Directory:
		w.Read, w.Write = true, false // some libraries open directories with all rights
	}
	return w, 0
}

// Seek returns the new position in a file of this size.
func Seek(at, size, offset int64, whence int) (int64, sys.Errno) {
	var base int64
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		base = at
	case io.SeekEnd:
		base = size
	default:
		return 0, sys.EINVAL
	}
	if base+offset < 0 { // also on overflow
		return 0, sys.EINVAL
	}
	return base + offset, 0
}
