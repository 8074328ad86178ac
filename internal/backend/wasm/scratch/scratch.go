package scratch

import (
	"sync"
	"time"

	"github.com/tetratelabs/wazero/experimental/sys"
	wazerosys "github.com/tetratelabs/wazero/sys"

	"github.com/cordon-sandbox/cordon/internal/backend/wasm/guestfs"
)

// Limit is the name of the size limit in calls of Limits.Exceeded.
const Limit = "scratch"

// Limits bound a guest, except for the size: see FS.Allow. The functions may be nil. They are
// called during the guest's call.
type Limits struct {
	// Guest is the directory's path in the guest. Absolute links to paths below it are
	// followed.
	Guest string
	// View is the name of a directory that is also mounted, at the path ViewAt in the guest: see
	// FS.View. Absolute links to paths below that are followed, too.
	View, ViewAt string
	// Files counts open files, together with those of other mounts.
	Files *guestfs.OpenFiles
	// Exceeded is called with Limit each time that the guest exceeds the size.
	Exceeded func(limit string)
	// Now is the guest's clock. Without it, all times are the start of 1970.
	Now wazerosys.Walltime
}

// FS is the directory of one guest.
type FS struct {
	sys.UnimplementedFS
	limits  Limits
	handles *guestfs.Handles

	// mu guards the fields below and all nodes.
	mu     sync.Mutex
	budget int64
	used   int64
	inodes uint64
	top    node
	// spare are released pages, so that a guest that rewrites a file repeatedly causes no
	// work for the garbage collector.
	spare []*page
	made  map[string]bool  // directories of makeOnce
	host  func() time.Time // the clock of a change by the host; nil for one by the guest
}

var _ sys.FS = (*FS)(nil)

// New returns an empty directory of size 0.
func New(limits Limits) *FS { return &FS{limits: limits, handles: guestfs.HandlesOf(limits.Files)} }

// Allow sets the size in bytes. If more is in use, it stays.
func (f *FS) Allow(size int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.budget = size
	f.trim()
}

// Used returns the bytes in use.
func (f *FS) Used() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.used
}

// do calls work with the lock held, and then reports an exceeded size, so that callbacks may
// use the file system.
func (f *FS) do(work func() sys.Errno) sys.Errno {
	errno := f.locked(work)
	if errno == guestfs.ENOSPC && f.limits.Exceeded != nil {
		f.limits.Exceeded(Limit)
	}
	return errno
}

func (f *FS) locked(work func() sys.Errno) sys.Errno {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.begin()
	return work()
}

// begin creates the top directory on first use, when the guest has a clock.
func (f *FS) begin() {
	if f.top.names == nil {
		f.makeDirectory(&f.top, &f.top, topMode)
	}
}

// now returns the time of a change in nanoseconds.
func (f *FS) now() int64 {
	if f.host != nil {
		return f.host().UnixNano()
	}
	if f.limits.Now == nil {
		return 0
	}
	seconds, nanoseconds := f.limits.Now()
	return seconds*1e9 + int64(nanoseconds)
}
