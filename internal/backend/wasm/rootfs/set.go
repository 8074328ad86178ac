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

// Limits bound one guest. Zero means none at all of it. The functions may be
// nil. They are called in the guest's own call, and may close the Set.
type Limits struct {
	// Disk is by how many bytes a guest may make its mounts larger.
	Disk int64
	// Files counts what it has open, together with those of other mounts.
	Files *guestfs.OpenFiles
	// Exceeded is called with DiskLimit each time that a guest wants more than that.
	Exceeded func(limit string)
	// Denied is called each time that a guest tries to leave a mount, to change what
	// it may only read, or to open what is no file. The path is the guest's: unchecked
	// words.
	Denied func(op, path string)
}

// DiskLimit is how Limits.Exceeded calls the disk.
const DiskLimit = "disk"

// Mount is what the guest's path leads to.
type Mount struct {
	Guest string
	FS    sys.FS
}

// Set is what one guest has of the Roots.
type Set struct {
	limits  Limits
	escapes error
	mounts  []*mount
	quota   quota

	// changing is held while something is measured and then changed, so that two
	// threads of a guest cannot use the same room twice.
	changing sync.Mutex

	mu     sync.Mutex
	open   map[io.Closer]fs.FileInfo
	closed bool
}

// NewSet makes the mounts of one guest.
func (r *Roots) NewSet(limits Limits) *Set {
	s := &Set{limits: limits, escapes: r.escapes}
	s.quota.budget = limits.Disk
	for i, p := range r.places {
		s.mounts = append(s.mounts, &mount{place: p, set: s, device: uint64(i + 1), handles: guestfs.HandlesOf(limits.Files)})
	}
	return s
}

// Mounts lists where the guest finds what it is granted, in the order of paths.
func (s *Set) Mounts() []Mount {
	var mounts []Mount
	for _, m := range s.mounts {
		mounts = append(mounts, Mount{Guest: m.guest, FS: m})
	}
	return mounts
}

// Added is by how much the guest made its mounts larger, names counted.
func (s *Set) Added() int64 { return s.quota.used.Load() }

// Close closes every file that the guest left open, and makes all further calls
// fail. It may be called while the guest is in one: that ends soon.
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

// ended says whether the set is closed.
func (s *Set) ended() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// keep has f closed with the set. It refuses after Close, which may have come
// while f was opened.
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

// keeps says whether f is still open.
func (s *Set) keeps(f io.Closer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, open := s.open[f]
	return open
}

// forget says whether f was open until now.
func (s *Set) forget(f io.Closer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, open := s.open[f]
	delete(s.open, f)
	return open
}

// isOpen says whether the guest has this file open, under whatever name.
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
