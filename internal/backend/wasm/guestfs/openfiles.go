package guestfs

import (
	"sync"
	"sync/atomic"

	"github.com/tetratelabs/wazero/experimental/sys"
)

// Limit is the name of the limit of open files in calls of Exceeded.
const Limit = "open_files"

// OpenFiles counts the open files of a guest. Each takes memory or a descriptor of the Runner,
// not of the guest. Nil allows none.
type OpenFiles struct {
	exceeded func(limit string)

	mu         sync.Mutex
	most, open int
}

// NewOpenFiles returns a count that allows none yet. Exceeded may be nil. It is called, during
// the guest's call, each time that the guest exceeds the limit.
func NewOpenFiles(exceeded func(limit string)) *OpenFiles { return &OpenFiles{exceeded: exceeded} }

// Allow sets the limit. Files that are already open above it stay open.
func (o *OpenFiles) Allow(most int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.most = most
}

// reserve counts one more file, within the limit.
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

// Handles counts the files of one mount. wazero itself opens each mount when the guest first
// uses it. That handle is not counted, because wazero panics without it.
type Handles struct {
	files  *OpenFiles
	handed atomic.Bool
}

// HandlesOf returns the count of another mount.
func HandlesOf(files *OpenFiles) *Handles { return &Handles{files: files} }

// Open calls open to open a file. The file must call release once when it is closed.
func (h *Handles) Open(path string, flag sys.Oflag, open func(release func()) (sys.File, sys.Errno)) (sys.File, sys.Errno) {
	top := path == "." && flag == sys.O_RDONLY // as wazero opens a mount
	f, errno := h.open(top, open)
	if errno != 0 && top {
		return nil, sys.ENOENT // wazero panics at any other error
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
