package portable

import (
	"context"
	"time"

	"github.com/cordon-sandbox/cordon/internal/launch"
	"github.com/cordon-sandbox/cordon/policy"
)

// watch is what the Runner looks after itself, because the system may not.
type watch struct {
	// scratch is the private directory, and directories are those of the host that the guest
	// may change; what they had was before.
	scratch     scratch
	directories []string
	before      contents
	closed      <-chan struct{} // the backend's
}

const (
	// setupTime is how long an interpreter may take to start.
	setupTime = 30 * time.Second
	// usageEvery is how late we may be about CPU time and memory.
	usageEvery = 20 * time.Millisecond
	// diskEvery is how long a guest may write between two looks, or ten times as
	// long as a look takes.
	diskEvery = 100 * time.Millisecond
	// bareInterpreter is what a Python that runs nothing uses; limits are above it.
	bareInterpreter = 32 * policy.MiB
)

// watch returns when the guest has ended, whoever ended it.
func (g *guest) watch(ctx context.Context, ended <-chan struct{}, w watch) (most launch.Usage) {
	limits := g.job.Limits
	// A guest pays for its own time, not for that of an interpreter that starts.
	wall := time.NewTimer(setupTime)
	defer wall.Stop()
	late, ready := killedSetup, (<-chan struct{})(g.ready)
	usage := time.NewTicker(usageEvery)
	defer usage.Stop()
	disk := time.NewTimer(diskEvery)
	defer disk.Stop()
	look := func() {
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
		case <-ended:
			look() // it may have been quicker than we
			return most
		case <-canceled:
			g.kill(killedCanceled)
			canceled = nil
		case <-closed:
			g.kill(killedCanceled)
			closed = nil
		case <-ready:
			g.began = time.Now()
			wall.Reset(limits.WallTime.Std())
			late, ready = killedWall, nil
		case <-wall.C:
			g.kill(late)
		case <-usage.C:
			now := g.process.Usage()
			most.CPUTime, most.Memory = max(most.CPUTime, now.CPUTime), max(most.Memory, now.Memory)
			g.hold(now)
		case <-disk.C:
			began := time.Now()
			look()
			disk.Reset(max(diskEvery, 10*time.Since(began)))
		}
	}
}

// hold compares what is used with the limits.
func (g *guest) hold(now launch.Usage) {
	limits := g.job.Limits
	switch {
	case now.CPUTime >= limits.CPUTime.Std():
		g.kill(killedCPU)
	case now.Memory > limits.Memory+bareInterpreter:
		g.kill(killedMemory)
	case len(g.job.Command.Args) > 0 && now.Processes > limits.Processes:
		g.kill(killedProcs)
	}
}
