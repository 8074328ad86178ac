package confine

import (
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// A child that uses our memory until execve is faster to start than one that gets a copy:
// nothing is copied, neither page tables nor, afterwards, the pages that we write to. For
// a Runner with 64 MiB that is a sixth of the time. It gets a copy if other processes could
// reach the memory through it (switchUser), or if Go has one CPU: then the child would wait
// for a goroutine that waits for the child.

func severalCPUs() bool { return runtime.GOMAXPROCS(0) > 1 }

// sharing counts the children that use our memory.
var sharing struct {
	mu       sync.Mutex
	children int
	dumpable uintptr // whether we are dumpable without them: 0 or 1
}

// fork starts the child. With shared memory, it returns when the child has executed its
// program.
func (p *program) fork(namespaces uintptr) syscall.Errno {
	if !p.shared {
		return fork(namespaces, p)
	}
	sharing.mu.Lock()
	if sharing.children == 0 {
		sharing.dumpable = 0
		if value, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0); err == nil && value == 1 {
			sharing.dumpable = 1
		}
	}
	sharing.children++
	sharing.mu.Unlock()
	errno := fork(namespaces|unix.CLONE_VM|unix.CLONE_VFORK, p)
	// When a child changes its user, the kernel makes its memory, and so ours, not
	// dumpable. Some children need the opposite. The last one undoes it.
	sharing.mu.Lock()
	defer sharing.mu.Unlock()
	if sharing.children--; sharing.children == 0 {
		_ = unix.Prctl(unix.PR_SET_DUMPABLE, sharing.dumpable, 0, 0, 0) // cannot fail with 0 or 1
	}
	return errno
}
