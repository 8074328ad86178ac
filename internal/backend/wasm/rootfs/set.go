package rootfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/tetratelabs/wazero/experimental/sys"
)

// Limits bound one guest. Zero means none at all of it. The functions may be
// nil. They are called in the guest's own call, and may close the Set.
type Limits struct {
	// Disk is by how many bytes a guest may make its mounts larger.
	Disk int64
	// OpenFiles is how many files and folders it may have open at once, without
	// the standard streams.
	OpenFiles int
	// Exceeded is called with "disk" or "open_files", once for each, when a guest
	// wants more.
	Exceeded func(limit string)
	// Denied is called when a guest tries to leave a mount, to change what it may
	// only read, or to open what is no file: once for each attempt of a kind, and
	// no more than maxDenials times. The path is the guest's: unchecked words.
	Denied func(op, path string)
}

// maxDenials is how many of them a person would read.
const maxDenials = 64

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

	mu       sync.Mutex
	open     map[io.Closer]fs.FileInfo
	reserved int
	closed   bool
	told     map[denial]bool
	over     map[string]bool
}

// denial is what Limits.Denied was told.
type denial struct{ op, path string }

// NewSet makes the mounts of one guest.
func (r *Roots) NewSet(limits Limits) *Set {
	s := &Set{limits: limits, escapes: r.escapes}
	s.quota.budget = limits.Disk
	for i, p := range r.places {
		s.mounts = append(s.mounts, &mount{place: p, set: s, device: uint64(i + 1)})
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

// Reserve counts a file that is about to be opened, here or in a mount that shares the
// limit.
func (s *Set) Reserve() sys.Errno {
	s.mu.Lock()
	closed, full := s.closed, s.reserved >= s.limits.OpenFiles
	if !closed && !full {
		s.reserved++
	}
	s.mu.Unlock()
	switch {
	case closed:
		return sys.EBADF
	case full:
		s.exceeded("open_files")
		return EMFILE
	}
	return 0
}

// Unreserve is for a file that is not open, or not any more.
func (s *Set) Unreserve() {
	s.mu.Lock()
	s.reserved--
	s.mu.Unlock()
}

// keep has f closed with the set. It refuses after Close, which may have come
// between Reserve and here.
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

func (s *Set) exceeded(limit string) {
	s.mu.Lock()
	again := s.over[limit]
	if s.over == nil {
		s.over = map[string]bool{}
	}
	s.over[limit] = true
	s.mu.Unlock()
	if !again && s.limits.Exceeded != nil {
		s.limits.Exceeded(limit)
	}
}

func (s *Set) denied(op, path string) {
	s.mu.Lock()
	d := denial{op, path}
	quiet := s.told[d] || len(s.told) >= maxDenials
	if s.told == nil {
		s.told = map[denial]bool{}
	}
	if !quiet {
		s.told[d] = true
	}
	s.mu.Unlock()
	if !quiet && s.limits.Denied != nil {
		s.limits.Denied(op, path)
	}
}
