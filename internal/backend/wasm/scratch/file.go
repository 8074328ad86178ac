package scratch

import (
	"math"

	"github.com/tetratelabs/wazero/experimental/sys"

	"github.com/cordon-sandbox/cordon/internal/backend/wasm/guestfs"
)

// maxPiece limits the size of one read, because the guest cannot be ended during it.
const maxPiece = 1 << 20

// file is an open regular file.
type file struct {
	handle
	readable, writable, appends bool
	at                          int64
}

// IsDir implements sys.File.
func (f *file) IsDir() (bool, sys.Errno) { return false, 0 }

// IsAppend implements sys.File.
func (f *file) IsAppend() (appends bool) {
	return f.do(func() sys.Errno {
		appends = f.appends
		return 0
	}) == 0 && appends
}

// SetAppend implements sys.File.
func (f *file) SetAppend(enable bool) sys.Errno {
	return f.do(func() sys.Errno {
		f.appends = enable
		return 0
	})
}

// transfer calls work, which reads or writes data, with the lock held.
func (f *file) transfer(work func() (int, sys.Errno)) (n int, errno sys.Errno) {
	errno = f.do(func() (errno sys.Errno) {
		n, errno = work()
		return errno
	})
	return n, errno
}

// Read implements sys.File. wazero does not take a short read as the end of the file.
func (f *file) Read(buf []byte) (int, sys.Errno) {
	return f.transfer(func() (int, sys.Errno) {
		n, errno := f.read(buf, f.at)
		f.at += int64(n)
		return n, errno
	})
}

// Pread implements sys.File.
func (f *file) Pread(buf []byte, off int64) (int, sys.Errno) {
	return f.transfer(func() (int, sys.Errno) { return f.read(buf, off) })
}

func (f *file) read(buf []byte, off int64) (int, sys.Errno) {
	switch {
	case !f.readable:
		return 0, sys.EBADF
	case off < 0:
		return 0, sys.EINVAL
	}
	buf = buf[:max(0, min(int64(len(buf)), maxPiece, f.node.size-off))]
	f.node.pages.read(buf, off)
	return len(buf), 0
}

// Write implements sys.File.
func (f *file) Write(buf []byte) (int, sys.Errno) {
	return f.transfer(func() (int, sys.Errno) {
		at := f.at
		if f.appends {
			at = f.node.size
		}
		n, errno := f.write(buf, at)
		if errno == 0 {
			f.at = at + int64(n)
		}
		return n, errno
	})
}

// Pwrite implements sys.File.
func (f *file) Pwrite(buf []byte, off int64) (int, sys.Errno) {
	return f.transfer(func() (int, sys.Errno) { return f.write(buf, off) })
}

// write writes everything or nothing: after a short write, wazero continues with the guest's
// next buffer and would leave a gap.
func (f *file) write(buf []byte, off int64) (int, sys.Errno) {
	switch {
	case !f.writable:
		return 0, sys.EBADF
	case off < 0 || off > math.MaxInt64-int64(len(buf)):
		return 0, sys.EINVAL
	}
	if errno := f.fs.write(f.node, buf, off); errno != 0 {
		return 0, errno
	}
	return len(buf), 0
}

// Truncate implements sys.File. wazero also calls it for fd_allocate.
func (f *file) Truncate(size int64) sys.Errno {
	return f.do(func() sys.Errno {
		switch {
		case size < 0:
			return sys.EINVAL
		case !f.writable:
			return sys.EBADF
		}
		f.fs.cut(f.node, size)
		f.fs.touch(f.node)
		return 0
	})
}

// Seek implements sys.File.
func (f *file) Seek(offset position, whence int) (at position, errno sys.Errno) {
	errno = f.do(func() (errno sys.Errno) {
		if at, errno = guestfs.Seek(f.at, f.node.size, offset, whence); errno == 0 {
			f.at = at
		}
		return errno
	})
	return at, errno
}
