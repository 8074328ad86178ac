package zygote

import (
	"io"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/output"
	"github.com/cordon-sandbox/cordon/internal/tuning"
	"github.com/cordon-sandbox/cordon/policy"
)

// conversation is the Runner's side of one run: it waits for the guest's
// report, and meanwhile serves its streams and watches the clocks. It does so
// in the caller's own goroutine, in one poll: timers, goroutines and Go's
// poller would each wake a processor, which for a short run costs more than
// the run. Only streams of the caller, which may block, get goroutines.
type conversation struct {
	worker  *Worker
	channel int
	limits  policy.Limits
	again   bool   // the worker has served before, and will again
	silent  bool   // it had written nothing when its answer was there
	onWait  func() // nil when it was called

	started  time.Time
	patience time.Time // until then it looks again and again, and does not sleep
	deadline time.Time // of the wall clock
	lookCPU  time.Time // when CPU time could have run out at the earliest

	stdout, stderr collector
	input          string   // what is left for stdin
	feeding        *os.File // the pipe of a feeder that runs
}

// converse begins the clocks.
func (w *Worker) converse(g Guest) *conversation {
	now := time.Now()
	if w.zygote.config.Untuned.Has(tuning.Polling) {
		g.Patience = 0
	}
	c := &conversation{
		worker: w, channel: w.channel.number(), limits: g.Limits, again: g.again, onWait: g.OnWait,
		started: now, patience: now.Add(g.Patience), deadline: now.Add(g.Limits.WallTime),
	}
	c.planLook(now, g.Limits.CPUTime)
	return c
}

// open begins to serve the streams.
func (c *conversation) open(g Guest) {
	sink := output.Sink{Limit: int64(g.Limits.Output), OnLimit: g.OnOutputLimit, Kill: func() { c.worker.Kill(KilledOutput) }}
	c.stdout = collector{Stream: output.Stream{Sink: sink}, pipe: &c.worker.stdout}
	c.stderr = collector{Stream: output.Stream{Sink: sink}, pipe: &c.worker.stderr}
	c.stdout.Live, c.stderr.Live = g.Streams.Out, g.Streams.Err
	c.stdout.start()
	c.stderr.start()
	c.rehearse()
	if g.Streams.In == nil {
		c.input = g.Stdin
		c.feed()
		return
	}
	if c.feeding = c.worker.stdin.file("stdin"); c.feeding != nil {
		// A guest that does not read, or dies, breaks the pipe: its choice. A
		// reader that blocks for ever keeps its goroutine, and ends it.
		go func() {
			_, _ = io.Copy(c.feeding, g.Streams.In)
			c.feeding.Close()
		}()
	}
}

// rehearse asks what will be asked at the end, and forgets the answers. There is
// time now, and then the caches will have what it takes to answer.
func (c *conversation) rehearse() {
	if c.again || !c.patience.After(c.started) {
		return
	}
	_, _ = cpuTime(c.worker.PID)
	c.worker.peakMemory()
}

// memory is the most that the worker ever had. For a short call of a hook that
// is what it was when we last looked: to look takes as long as the call.
func (c *conversation) memory(took time.Duration) policy.Bytes {
	w := c.worker
	if !c.again || w.peak == 0 || took > time.Millisecond {
		w.peak = w.peakMemory()
	}
	return w.peak
}

// end lets go of the guest's streams.
func (c *conversation) end() {
	if c.feeding != nil {
		_ = c.feeding.SetWriteDeadline(time.Unix(1, 0)) // wakes the feeder, unless it has closed the pipe already
	}
}

// send writes what the channel takes, and gives the rest.
func (c *conversation) send(data []byte) (rest []byte, err error) {
	n, err := unix.Write(c.channel, data)
	if err == unix.EAGAIN || err == unix.EINTR {
		return data, nil
	}
	return data[max(0, n):], err
}

// Read reads from the channel, however long that takes. It looks at the clocks
// each time: a guest that never stops talking must not outlive its own.
func (c *conversation) Read(b []byte) (int, error) {
	if c.again && !c.patience.After(c.started) {
		c.wait(unix.POLLIN) // to look first would be in vain
	}
	for {
		now := time.Now()
		c.watch(now)
		n, err := unix.Read(c.channel, b)
		switch {
		case n > 0:
			return n, nil
		case err == nil:
			return 0, io.EOF
		case err != unix.EAGAIN && err != unix.EINTR:
			return 0, err
		}
		if len(c.input) > 0 || !now.Before(c.patience) {
			c.wait(unix.POLLIN)
		} else {
			// The guest may have been woken on our own processor. The call
			// cannot fail.
			_, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
		}
	}
}

// wait serves everything else until the channel may be ready.
func (c *conversation) wait(events int16) {
	if c.onWait != nil {
		c.onWait()
		c.onWait = nil
	}
	fds := [...]unix.PollFd{
		{Fd: int32(c.channel), Events: events},
		{Fd: c.stdout.wants(), Events: unix.POLLIN},
		{Fd: c.stderr.wants(), Events: unix.POLLIN},
		{Fd: -1, Events: unix.POLLOUT},
	}
	if len(c.input) > 0 {
		fds[3].Fd = int32(c.worker.stdin.number())
	}
	var timeout *unix.Timespec // nil: for ever
	if next := c.watch(time.Now()); next > 0 {
		ts := unix.NsecToTimespec(int64(next))
		timeout = &ts
	}
	if _, err := unix.Ppoll(fds[:], timeout, nil); err != nil {
		return // EINTR
	}
	// A hook's worker says one thing, after all that the call has printed.
	c.silent = c.again && fds[0].Revents != 0 && fds[1].Revents|fds[2].Revents == 0
	if fds[1].Revents != 0 {
		c.stdout.read()
	}
	if fds[2].Revents != 0 {
		c.stderr.read()
	}
	if fds[3].Revents != 0 {
		c.feed()
	}
}

// feed gives the guest as much of its standard input as the pipe takes, and
// closes it after the last byte. A guest that does not read breaks the pipe:
// its choice.
func (c *conversation) feed() {
	c.worker.stdin.use(func(fd int) {
		for len(c.input) > 0 {
			n, err := unix.Write(fd, []byte(c.input[:min(len(c.input), 64<<10)]))
			switch {
			case err == unix.EAGAIN:
				return
			case err != nil && err != unix.EINTR:
				c.input = ""
			default:
				c.input = c.input[max(0, n):]
			}
		}
	})
	if c.input == "" {
		c.worker.stdin.close()
	}
}

// watch kills a guest whose time is up, and says when to look again; 0 when
// there is nothing more to look for.
func (c *conversation) watch(now time.Time) time.Duration {
	if c.worker.kill.reason() != "" {
		return 0
	}
	if !now.Before(c.deadline) {
		c.worker.Kill(KilledWall)
		return 0
	}
	if !now.Before(c.lookCPU) {
		used, err := cpuTime(c.worker.PID)
		if err != nil {
			return 0 // it is gone
		}
		left := c.limits.CPUTime - (used - c.worker.cpu)
		if left <= 0 {
			c.worker.Kill(KilledCPU)
			return 0
		}
		c.planLook(now, left)
	}
	return min(c.deadline.Sub(now), c.lookCPU.Sub(now))
}

// planLook: on all cores, the CPU time cannot run out before.
func (c *conversation) planLook(now time.Time, left time.Duration) {
	cores := time.Duration(min(runtime.NumCPU(), max(1, c.limits.Threads)))
	c.lookCPU = now.Add(max(left/cores, time.Millisecond))
}
