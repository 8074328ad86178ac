package jail

import (
	"context"
	"time"

	"golang.org/x/sys/unix"
)

// watcher looks after what the kernel does not limit for a whole tree.
type watcher struct {
	guest       *guest
	disk        *diskWatch
	memory      *memoryWatch // nil where a cgroup does it
	scratchFull bool
}

// watch returns when the command has ended, whoever ended it.
func (g *guest) watch(ctx context.Context, ended <-chan struct{}) *watcher {
	w := &watcher{guest: g, disk: g.disk}
	wall := time.NewTimer(time.Until(g.began.Add(g.job.Limits.WallTime.Std())))
	defer wall.Stop()
	cpu := time.NewTimer(w.soonest(0))
	defer cpu.Stop()
	memory := time.NewTimer(0)
	defer memory.Stop()
	if g.place.group != nil {
		memory.Stop()
	} else {
		w.memory = &memoryWatch{proc: g.place.Proc, limit: int64(g.job.Limits.Memory)}
	}
	disk := time.NewTicker(diskEvery)
	defer disk.Stop()
	canceled, closed := ctx.Done(), g.backend.gate.Closed()
	var resize <-chan windowSize
	if t := g.job.Streams.Terminal; t != nil {
		resize = t.Resize
	}
	for {
		select {
		case <-ended:
			w.look()
			w.disk.await()
			return w
		case <-canceled:
			g.kill(killedCanceled)
			canceled = nil
		case <-closed:
			g.kill(killedCanceled)
			closed = nil
		case <-wall.C:
			g.kill(killedWall)
		case <-cpu.C:
			if used := g.cpuTime(); used >= g.job.Limits.CPUTime.Std() {
				g.kill(killedCPU)
			} else {
				cpu.Reset(w.soonest(used))
			}
		case <-memory.C:
			over, next := w.memory.look()
			if over {
				g.kill(killedMemory)
				continue
			}
			memory.Reset(next)
		case <-disk.C:
			w.look()
			w.disk.look()
		case answer := <-w.disk.walked:
			if w.disk.heard(answer); w.disk.over != "" {
				g.kill(w.disk.over.reason())
			}
		case size, open := <-resize:
			if !open {
				resize = nil
				continue
			}
			setWindowSize(g.place.streams.stdout, size)
		}
	}
}

// cpuTime is what the command has used. A cgroup that counts it misses nobody.
func (g *guest) cpuTime() time.Duration {
	used := cpuTime(g.place.Proc)
	if g.place.group != nil {
		if usage, err := g.place.group.Usage(); err == nil {
			used = max(used, usage.CPU)
		}
	}
	return used
}

// look at the scratch space.
func (w *watcher) look() {
	var stat unix.Statfs_t
	if err := unix.Fstatfs(w.guest.place.Scratch, &stat); err == nil && (stat.Bavail == 0 || stat.Ffree == 0) {
		w.scratchFull = true
	}
}

const (
	// diskEvery is how much a command may write between two looks.
	diskEvery = 20 * time.Millisecond
	// cpuEvery is how late we may be.
	cpuEvery = 10 * time.Millisecond
)
