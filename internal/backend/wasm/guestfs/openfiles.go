package guestfs

import (
	"sync"
	"sync/atomic"

	"github.com/tetratelabs/wazero/experimental/sys"
)

// Limit is how Exceeded calls the number of open files.
const Limit = "open_files"

// OpenFiles counts what a guest has open: each file is memory of ours, or a descriptor,
// and not the guest's. Nil allows none.
type OpenFiles struct {
	exceeded func(limit string)

	mu         sync.Mutex
	most, open int
}

// NewOpenFiles gives a count that allows none yet. Exceeded may be nil. It is called, in
// the guest's own call, each time that the guest wants more.
func NewOpenFiles(exceeded func(limit string)) *OpenFiles { return &OpenFiles{exceeded: exceeded} }

// Allow says how many may be open. If there are more by then, they stay.
func (o *OpenFiles) Allow(most int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.most = most
}

// reserve counts one more, if there may be one.
func (o *OpenFiles) reserve() sys.Errno {
	if o == nil {
		return EMFILE
	}
	o.mu.Lock()
	full := o.open >= o.most
	if !full {
		o.open++
	}
	o.mu.Unlock()
	if !full {
		return 0
	}
	if o.exceeded != nil {
		o.exceeded(Limit)
	}
	return EMFILE
}

func (o *OpenFiles) release() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.open--
}

// Handles count those of one mount. wazero opens each mount itself when the guest first
// uses it. That handle is not the guest's, and not counted: without it wazero panics.
type Handles struct {
	files  *OpenFiles
	handed atomic.Bool
}

// HandlesOf gives the count of one more mount.
func HandlesOf(files *OpenFiles) *Handles { return &Handles{files: files} }

// Open has a file opened by a function, which gets what is to be called, once, when the
// file is closed again.
func (h *Handles) Open(path string, flag sys.Oflag, open func(release func()) (sys.File, sys.Errno)) (sys.File, sys.Errno) {
	top := path == "." && flag == sys.O_RDONLY // as wazero does it
	f, errno := h.open(top, open)
	if errno != 0 && top {
		return nil, sys.ENOENT // at anything else wazero panics
	}
	return f, errno
}

func (h *Handles) open(top bool, open func(release func()) (sys.File, sys.Errno)) (sys.File, sys.Errno) {
	release := func() {}
	if !top || !h.handed.CompareAndSwap(false, true) {
		if errno := h.files.reserve(); errno != 0 {
			return nil, errno
		}
		release = h.files.release
	}
	f, errno := open(release)
	if errno != 0 {
		release()
		return nil, errno
	}
	return f, 0
}
