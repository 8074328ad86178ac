package jail

import (
	"context"
	"time"

	"golang.org/x/sys/unix"
)

// watcher enforces the limits that the kernel does not enforce for a tree of processes.
type watcher struct {
	guest       *guest
	disk        *diskWatch
	scratch     *diskWatch   // nil if the scratch space has a size
	memory      *memoryWatch // nil if a cgroup limits memory
	scratchFull bool
	crowded     bool // the last count of processes was above the limit
}

// watch kills the command when it exceeds a limit, and returns when it has ended.
func (g *guest) watch(ctx context.Context, ended <-chan struct{}) *watcher {
	w := &watcher{guest: g, disk: g.disk, scratch: g.scratch}
	wall := time.NewTimer(time.Until(g.began.Add(g.job.Limits.WallTime)))
	defer wall.Stop()
	cpu := time.NewTimer(w.soonest(0))
	defer cpu.Stop()
	memory := time.NewTimer(0)
	defer memory.Stop()
	if g.sandbox.group != nil {
		memory.Stop()
	} else {
		w.memory = &memoryWatch{quick: g.sandbox.quickMemory, exact: g.sandbox.exactMemory, limit: g.sandbox.memoryLimit(g.job.Limits)}
	}
	disk := time.NewTicker(diskEvery)
	defer disk.Stop()
	tasks := time.NewTicker(tasksEvery)
	defer tasks.Stop()
	if !g.sandbox.shared() {
		tasks.Stop() // the kernel refuses processes above the limit
	}
	var scratchWalked chan answer
	if w.scratch != nil {
		scratchWalked = w.scratch.walked
	}
	canceled, closed := ctx.Done(), g.backend.gate.Closed()
	var resize <-chan windowSize
	if t := g.job.Streams.Terminal; t != nil {
		resize = t.Resize
	}
	for {
		select {
		case <-ended:
			w.checkScratch()
			for _, walks := range w.walks() {
				walks.waitForWalk()
			}
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
			if used := g.sandbox.cpuTime(); used >= g.job.Limits.CPUTime {
				g.kill(killedCPU)
			} else {
				cpu.Reset(w.soonest(used))
			}
		case <-memory.C:
			over, next := w.memory.measure()
			if over {
				g.kill(killedMemory)
				continue
			}
			memory.Reset(next)
		case <-tasks.C:
			// Many short processes may be there at once on a busy host. One count is not
			// enough.
			before := w.crowded
			w.crowded = g.sandbox.processes().threads() > g.job.Limits.Processes
			if before && w.crowded {
				g.kill(killedProcesses)
			}
		case <-disk.C:
			w.checkScratch()
			for _, walks := range w.walks() {
				walks.startWalk()
			}
		case answer := <-scratchWalked:
			if w.scratch.finishWalk(answer); w.scratch.over != "" {
				g.kill(killedScratch)
			}
		case answer := <-w.disk.walked:
			if w.disk.finishWalk(answer); w.disk.over != "" {
				g.kill(w.disk.over.reason())
			}
		case size, open := <-resize:
			if !open {
				resize = nil
				continue
			}
			setWindowSize(g.sandbox.streams.stdout, size)
		}
	}
}

// walks are the watches of directories.
func (w *watcher) walks() []*diskWatch {
	if w.scratch == nil {
		return []*diskWatch{w.disk}
	}
	return []*diskWatch{w.disk, w.scratch}
}

// finalWalks checks the directories once more, and returns the limit that was passed, if any.
func (w *watcher) finalWalks(wrote int64) reason {
	if w.disk.finalWalk(wrote); w.disk.over != "" {
		return w.disk.over.reason()
	}
	if w.scratch != nil {
		if w.scratch.finalWalk(wrote); w.scratch.over != "" {
			return killedScratch
		}
	}
	return ""
}

// cpuTime is the CPU time of the command. A cgroup counts all processes; the sum over
// /proc misses some.
func (p *sandbox) cpuTime() time.Duration {
	used := cpuTime(p.processes())
	if p.group != nil {
		if usage, err := p.group.Usage(); err == nil {
			used = max(used, usage.CPU)
		}
	}
	return max(0, used-p.booting)
}

// checkScratch records whether the scratch space is full.
func (w *watcher) checkScratch() {
	if s := w.guest.sandbox; s.shared() || s.nested != nil {
		return // scratch watches it, or it is in the memory of gVisor
	}
	var stat unix.Statfs_t
	if err := unix.Fstatfs(w.guest.sandbox.Scratch, &stat); err == nil && (stat.Bavail == 0 || stat.Ffree == 0) {
		w.scratchFull = true
	}
}

const (
	// diskEvery is the pause between two checks of the disk, in which a command may
	// write past its limit.
	diskEvery = 20 * time.Millisecond
	// tasksEvery is the pause between two counts of the processes of a command without
	// namespaces.
	tasksEvery = 10 * time.Millisecond
	// cpuEvery is the shortest pause between two checks of CPU time.
	cpuEvery = 10 * time.Millisecond
)
