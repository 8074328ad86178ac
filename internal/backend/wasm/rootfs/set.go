package rootfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/tetratelabs/wazero/experimental/sys"

	"github.com/cordon-sandbox/cordon/internal/backend/wasm/guestfs"
)

// Limits bound one guest. Zero allows nothing. The functions may be nil. They are called
// during the guest's call, and may close the Set.
type Limits struct {
	// Disk is how many bytes a guest may add to its mounts.
	Disk int64
	// Files counts its open files, together with those of other mounts.
	Files *guestfs.OpenFiles
	// Exceeded is called with DiskLimit each time that a guest exceeds Disk.
	Exceeded func(limit string)
	// Denied is called each time that a guest tries to leave a mount, to change a
	// read-only grant, or to open a special file. The path is untrusted text of the
	// guest.
	Denied func(op, path string)
}

// DiskLimit is the name of the disk limit in calls of Limits.Exceeded.
const DiskLimit = "disk"

// Mount is a file system with its path in the guest.
type Mount struct {
	Guest string
	FS    sys.FS
}

// Set is one guest's access to the Roots.
type Set struct {
	limits  Limits
	escapes error
	mounts  []*mount
	quota   quota

	// changing is held from the check of a size to the change, so that two threads of a
	// guest cannot use the same quota twice.
	changing sync.Mutex

	mu     sync.Mutex
	open   map[io.Closer]fs.FileInfo
	closed bool
}

// NewSet returns the mounts of one guest.
func (r *Roots) NewSet(limits Limits) *Set {
	s := &Set{limits: limits, escapes: r.escapes}
	s.quota.budget = limits.Disk
	for i, p := range r.mountPoints {
		s.mounts = append(s.mounts, &mount{mountPoint: p, set: s, device: uint64(i + 1), handles: guestfs.HandlesOf(limits.Files)})
	}
	return s
}

// Mounts lists the guest's mounts, sorted by path.
func (s *Set) Mounts() []Mount {
	var mounts []Mount
	for _, m := range s.mounts {
		mounts = append(mounts, Mount{Guest: m.guest, FS: m})
	}
	return mounts
}

// Added returns how much the guest has added to its mounts, including the cost of names.
func (s *Set) Added() int64 { return s.quota.used.Load() }

// Close closes every file that the guest left open and makes all later calls fail. A call in
// progress ends soon.
func (s *Set) Close() error {
	s.mu.Lock()
	open := s.open
	s.open, s.closed = nil, true
	s.mu.Unlock()
	var errs []error
	for f := range open {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// ended reports whether the set is closed.
func (s *Set) ended() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// keep registers f to be closed with the set. It fails after Close, which may have happened
// while f was being opened.
func (s *Set) keep(f io.Closer, info fs.FileInfo) sys.Errno {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return sys.EBADF
	}
	if s.open == nil {
		s.open = map[io.Closer]fs.FileInfo{}
	}
	s.open[f] = info
	return 0
}

// keeps reports whether f is still open.
func (s *Set) keeps(f io.Closer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, open := s.open[f]
	return open
}

// forget removes f, and reports whether it was open.
func (s *Set) forget(f io.Closer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, open := s.open[f]
	delete(s.open, f)
	return open
}

// isOpen reports whether the guest has this file open, under any name.
func (s *Set) isOpen(info fs.FileInfo) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, other := range s.open {
		if os.SameFile(info, other) {
			return true
		}
	}
	return false
}

func (s *Set) denied(op, path string) {
	if s.limits.Denied != nil {
		s.limits.Denied(op, path)
	}
}
