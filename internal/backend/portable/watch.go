package portable

import (
	"context"
	"time"

	"github.com/cordon-sandbox/cordon/internal/launch"
	"github.com/cordon-sandbox/cordon/policy"
)

// watch checks the limits that the system may not enforce.
type watch struct {
	// scratch is the private directory. directories are those of the host that the guest
	// may change, and before are their contents at the start.
	scratch     scratch
	directories []string
	before      contents
	closed      <-chan struct{} // of the backend
}

const (
	// setupTime is how long an interpreter may take to start.
	setupTime = 30 * time.Second
	// usageEvery is the pause between two checks of CPU time and memory.
	usageEvery = 20 * time.Millisecond
	// diskEvery is the pause between two checks of the disk; it is at least ten times as
	// long as a check takes.
	diskEvery = 100 * time.Millisecond
	// idleEvery is the pause between two checks of a process that waits for a call.
	idleEvery = time.Second
	// bareInterpreter is the memory of a Python that runs nothing. It does not count
	// against the limit.
	bareInterpreter = 32 * policy.MiB
)

// watch kills the guest when it exceeds a limit, and returns when it has ended, or has
// answered a call.
func (g *guest) watch(ctx context.Context, done <-chan struct{}, w watch) (most launch.Usage) {
	limits := g.job.Limits
	// The time that the interpreter takes to start does not count for the guest.
	wall := time.NewTimer(setupTime)
	defer wall.Stop()
	late, ready := killedSetup, (<-chan struct{})(g.ready)
	usage := time.NewTicker(usageEvery)
	defer usage.Stop()
	disk := time.NewTimer(diskEvery)
	defer disk.Stop()
	check := func() {
		if limits.Scratch > 0 && w.scratch.size() > int64(limits.Scratch) {
			g.kill(killedScratch)
		}
		if len(w.directories) == 0 {
			return
		}
		switch now := measure(w.directories); {
		case now.size-w.before.size > int64(limits.Disk):
			g.kill(killedDisk)
		case now.files-w.before.files > limits.Files:
			g.kill(killedFiles)
		}
	}
	canceled, closed := ctx.Done(), w.closed
	for {
		select {
		case <-done:
			check() // the guest may have been faster than the check
			return most
		case <-canceled:
			g.kill(killedCanceled)
			canceled = nil
		case <-closed:
			g.kill(killedCanceled)
			closed = nil
		case <-ready:
			g.began = time.Now()
			wall.Reset(limits.WallTime)
			late, ready = killedWall, nil
		case <-wall.C:
			g.kill(late)
		case <-usage.C:
			now := g.process.Usage()
			most.CPUTime, most.Memory = max(most.CPUTime, now.CPUTime), max(most.Memory, now.Memory)
			g.hold(now)
		case <-disk.C:
			began := time.Now()
			check()
			disk.Reset(max(diskEvery, 10*time.Since(began)))
		}
	}
}

// hold compares the usage with the limits. They do not hold while the interpreter starts, which
// takes longer on a busy machine.
func (g *guest) hold(now launch.Usage) {
	if !g.isReady() {
		return
	}
	limits := g.job.Limits
	switch {
	case now.CPUTime-time.Duration(g.cpu.Load()) >= limits.CPUTime:
		g.kill(killedCPU)
	case now.Memory > limits.Memory+bareInterpreter:
		g.kill(killedMemory)
	case len(g.job.Command.Args) > 0 && now.Processes > limits.Processes:
		g.kill(killedProcs)
	}
}
