package rootfs

import (
	"math"
	"sync"

	"github.com/tetratelabs/wazero/experimental/sys"

	"github.com/cordon-sandbox/cordon/internal/backend/wasm/guestfs"
)

// maxPiece bounds one read or write, and so how long the end of a run may wait for it.
const maxPiece = 1 << 20

// file is an open regular file. It keeps its own position, because the end of a write must be
// known before it starts.
type file struct {
	handle
	readable, writable bool

	mu      sync.Mutex
	at      int64
	appends bool
}

// IsDir implements sys.File.
func (f *file) IsDir() (bool, sys.Errno) { return false, 0 }

// IsAppend implements sys.File.
func (f *file) IsAppend() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.appends
}

// SetAppend implements sys.File.
func (f *file) SetAppend(enable bool) sys.Errno {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.appends = enable
	return 0
}

// Read implements sys.File. wazero does not take a short read as the end of the file.
func (f *file) Read(buf []byte) (int, sys.Errno) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, errno := f.Pread(buf, f.at)
	f.at += int64(n)
	return n, errno
}

// Pread implements sys.File.
func (f *file) Pread(buf []byte, off int64) (int, sys.Errno) {
	switch {
	case !f.readable:
		return 0, sys.EBADF
	case off < 0:
		return 0, sys.EINVAL
	}
	n, err := f.file.ReadAt(buf[:min(len(buf), maxPiece)], off)
	return n, errnoOf(err)
}

// Seek implements sys.File.
func (f *file) Seek(offset position, whence int) (position, sys.Errno) {
	f.mu.Lock()
	defer f.mu.Unlock()
	info, errno := f.info()
	if errno != 0 {
		return 0, errno
	}
	at, errno := guestfs.Seek(f.at, info.Size(), offset, whence)
	if errno == 0 {
		f.at = at
	}
	return at, errno
}

// Write implements sys.File.
func (f *file) Write(buf []byte) (int, sys.Errno) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.appends {
		info, errno := f.info()
		if errno != 0 {
			return 0, errno
		}
		f.at = info.Size()
	}
	n, errno := f.Pwrite(buf, f.at)
	f.at += int64(n)
	return n, errno
}

// Pwrite implements sys.File. It writes everything or fails: after a short write, wazero
// continues with the guest's next buffer and would leave a gap.
func (f *file) Pwrite(buf []byte, off int64) (int, sys.Errno) {
	switch {
	case !f.writable:
		return 0, sys.EBADF
	case off < 0 || off > math.MaxInt64-int64(len(buf)):
		return 0, sys.EINVAL
	}
	written := 0
	for written < len(buf) {
		piece := buf[written:min(len(buf), written+maxPiece)]
		n, errno := f.writePiece(piece, off+int64(written))
		written += n
		if errno != 0 {
			return written, f.set.reportLimit(errno)
		}
	}
	return written, 0
}

// writePiece charges the growth of the file before it writes.
func (f *file) writePiece(piece []byte, off int64) (n int, errno sys.Errno) {
	end := off + int64(len(piece))
	return n, f.grow(end, func() (err error) {
		n, err = f.file.WriteAt(piece, off)
		return err
	})
}

// grow calls change, which may extend the file to end, if the quota allows it. It releases
// the part that the file did not grow by because of an error.
func (f *file) grow(end int64, change func() error) sys.Errno {
	f.set.changing.Lock()
	defer f.set.changing.Unlock()
	before, errno := f.info()
	if errno != 0 {
		return errno
	}
	growth := max(0, end-before.Size())
	if !f.set.quota.take(growth) {
		return overQuota
	}
	err := change()
	if err != nil && growth > 0 {
		if after, errno := f.info(); errno == 0 {
			f.set.quota.give(growth - min(growth, max(0, after.Size()-before.Size())))
		}
	}
	return errnoOf(err)
}

// Truncate implements sys.File, for fd_allocate too.
func (f *file) Truncate(size int64) sys.Errno {
	switch {
	case size < 0:
		return sys.EINVAL
	case !f.writable:
		return sys.EBADF
	}
	return f.set.reportLimit(f.grow(size, func() error {
		before, err := f.file.Stat()
		if err != nil {
			return err
		}
		err = f.file.Truncate(size)
		if err == nil {
			f.set.quota.give(max(0, before.Size()-size))
		}
		return err
	}))
}

// Sync implements sys.File.
func (f *file) Sync() sys.Errno {
	if !f.writable {
		return 0
	}
	return errnoOf(f.file.Sync())
}

// Datasync implements sys.File.
func (f *file) Datasync() sys.Errno { return f.Sync() }
