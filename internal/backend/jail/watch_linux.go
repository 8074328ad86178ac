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
	scratchFull bool
}

// watch returns when the command has ended, whoever ended it.
func (g *guest) watch(ctx context.Context, ended <-chan struct{}) *watcher {
	w := &watcher{guest: g, disk: newDiskWatch(g.recipe.changeable(g.backend.options.Policy), int64(g.job.Limits.Disk), g.place.Proc)}
	wall := time.NewTimer(time.Until(g.began.Add(g.job.Limits.WallTime.Std())))
	defer wall.Stop()
	cpu := time.NewTimer(w.soonest(0))
	defer cpu.Stop()
	disk := time.NewTicker(diskEvery)
	defer disk.Stop()
	var resize <-chan windowSize
	if t := g.job.Streams.Terminal; t != nil {
		resize = t.Resize
	}
	for {
		select {
		case <-ended:
			w.look()
			w.disk.last()
			return w
		case <-ctx.Done():
			g.kill(killedCanceled)
			<-ended
			return w
		case <-g.backend.gate.Closed():
			g.kill(killedCanceled)
			<-ended
			return w
		case <-wall.C:
			g.kill(killedWall)
		case <-cpu.C:
			if used := g.cpuTime(); used >= g.job.Limits.CPUTime.Std() {
				g.kill(killedCPU)
			} else {
				cpu.Reset(w.soonest(used))
			}
		case <-disk.C:
			w.look()
			w.disk.look()
		case answer := <-w.disk.walked:
			if w.disk.heard(answer); w.overDisk() {
				g.kill(killedDisk)
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

// cpuTime is what the command has used, by the cgroup if that counts it.
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

func (w *watcher) overDisk() bool { return w.disk.over }

const (
	// diskEvery is how much a command may write between two looks.
	diskEvery = 20 * time.Millisecond
	// cpuEvery is how late we may be.
	cpuEvery = 10 * time.Millisecond
)
