package scratch

import (
	"sync"

	"github.com/tetratelabs/wazero/experimental/sys"
	wazerosys "github.com/tetratelabs/wazero/sys"

	"github.com/cordon-sandbox/cordon/internal/backend/wasm/guestfs"
)

// Limit is how Limits.Exceeded calls the size.
const Limit = "scratch"

// Limits are what a guest may do, but for the size: see FS.Allow. The functions may be
// nil. They are called in the guest's own call.
type Limits struct {
	// Guest is where the guest finds the directory: absolute links below it lead into it.
	Guest string
	// Files counts what is open, together with those of other mounts.
	Files *guestfs.OpenFiles
	// Exceeded is called with Limit each time that the guest wants more than its size.
	Exceeded func(limit string)
	// Now is the guest's clock. Without one it is always the beginning of 1970.
	Now wazerosys.Walltime
}

// FS is the directory of one guest.
type FS struct {
	sys.UnimplementedFS
	limits  Limits
	handles *guestfs.Handles

	// mu guards all below it, and all nodes.
	mu     sync.Mutex
	budget int64
	used   int64
	inodes uint64
	top    node
	// spare are pages that files gave back: a guest that writes the same file again and
	// again makes no work for the garbage collector.
	spare []*page
}

var _ sys.FS = (*FS)(nil)

// New gives an empty directory in which there is no room.
func New(limits Limits) *FS { return &FS{limits: limits, handles: guestfs.HandlesOf(limits.Files)} }

// Allow says how many bytes the guest may have. If it has more by then, it keeps that.
func (f *FS) Allow(size int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.budget = size
	f.trim()
}

// Used is how many it has.
func (f *FS) Used() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.used
}

// do does something with the tree, and tells if there was no room for it: after that,
// so that callbacks may use the file system.
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

// begin makes the directory itself, when somebody first looks: by then its guest has a
// clock.
func (f *FS) begin() {
	if f.top.names == nil {
		f.beDirectory(&f.top, &f.top, topMode)
	}
}

// now is the guest's time, in nanoseconds.
func (f *FS) now() int64 {
	if f.limits.Now == nil {
		return 0
	}
	seconds, nanoseconds := f.limits.Now()
	return seconds*1e9 + int64(nanoseconds)
}
