package confine

import (
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// A child that uses our memory until execve is faster to start than one that gets a copy:
// nothing is copied, neither page tables nor, afterwards, the pages that we write to. For
// a Runner with 64 MiB that is a sixth of the time. But the child has our memory while it
// has another user already, so no process of that user may read or change it: the child
// hides the memory before it changes its user (switchUser).

// sharing counts the children that use our memory.
var sharing struct {
	mu       sync.Mutex
	children int
	visible  bool // whether we are dumpable without them
}

// sharesMemory reports whether children use our memory. With one CPU for Go, they would
// wait for a goroutine that waits for them.
func sharesMemory() bool { return runtime.GOMAXPROCS(0) > 1 }

// fork starts the child. With shared memory, it returns when the child has executed its
// program.
func (p *program) fork(namespaces uintptr) syscall.Errno {
	if !p.shared {
		return fork(namespaces, p)
	}
	sharing.mu.Lock()
	if sharing.children == 0 {
		dumpable, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
		sharing.visible = err == nil && dumpable == 1
	}
	sharing.children++
	sharing.mu.Unlock()
	errno := fork(namespaces|unix.CLONE_VM|unix.CLONE_VFORK, p)
	// A child that changes its user hides the memory, and so hides us. Undo that when no
	// other child does so.
	sharing.mu.Lock()
	defer sharing.mu.Unlock()
	if sharing.children--; sharing.children == 0 && sharing.visible {
		_ = unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0) // cannot fail
	}
	return errno
}
