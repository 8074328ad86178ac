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

// conversation is the Runner's side of one run. It waits for the guest's report, and
// meanwhile serves the guest's streams and checks its time limits. All of this is one
// poll in the caller's goroutine: timers, other goroutines and Go's poller would each
// wake a CPU, which costs more than a short run. Only the caller's own streams, which
// may block, get goroutines.
type conversation struct {
	worker  *Worker
	channel int
	limits  policy.Limits
	again   bool   // the worker serves many calls, and this is not the first
	silent  bool   // the guest had written no output when its answer arrived
	onWait  func() // nil after it was called

	interruption interruption

	started  time.Time
	patience time.Time // until then it polls without sleeping
	deadline time.Time // of the wall time limit
	checkCPU time.Time // the earliest time at which the CPU time limit can be reached

	stdout, stderr collector
	input          string        // the unsent rest of stdin
	feeding        *os.File      // the pipe of a running feeder
	ended          chan struct{} // closed at the end, if bufferOutput was called
}

// converse starts the clocks of a run.
func (w *Worker) converse(g Guest) *conversation {
	now := time.Now()
	if w.zygote.config.Untuned.Has(tuning.Polling) {
		g.Patience = 0
	}
	c := &conversation{
		worker: w, channel: w.channel.number(), limits: g.Limits, again: g.again, onWait: g.OnWait,
		interruption: interruption{worker: w, grace: g.Grace},
		started:      now, patience: now.Add(g.Patience), deadline: now.Add(g.Limits.WallTime),
	}
	c.planCPUCheck(now, g.Limits.CPUTime)
	return c
}

// open starts to serve the streams.
func (c *conversation) open(g Guest) {
	stdout, stderr := output.Sinks(g.Limits, g.OnOutputLimit, g.Streams, func() { c.worker.Kill(KilledOutput) })
	if !c.again {
		stdout.OnMuch = c.bufferOutput
	}
	c.stdout = collector{Stream: output.Stream{Sink: stdout}, pipe: &c.worker.stdout, again: c.again}
	c.stderr = collector{Stream: output.Stream{Sink: stderr}, pipe: &c.worker.stderr, again: c.again}
	c.stdout.start()
	c.stderr.start()
	c.prefetch()
	if g.Streams.In == nil {
		c.input = g.Stdin
		c.feed()
		return
	}
	if c.feeding = c.worker.stdin.file("stdin"); c.feeding != nil {
		// If the guest does not read, or dies, the write fails; that is not an error. If
		// the caller's reader blocks forever, so does this goroutine.
		go func() {
			_, _ = io.Copy(c.feeding, g.Streams.In)
			c.feeding.Close()
		}()
	}
}

// prefetch makes the system calls of the run's end once, while the guest runs, so that
// their code and data are in the CPU's caches when they count. It ignores the results.
func (c *conversation) prefetch() {
	if c.again || !c.patience.After(c.started) {
		return
	}
	_, _ = cpuTime(c.worker.PID)
	c.worker.peakMemory()
}

// memory returns the worker's peak memory. For a short call of a hook it returns the last
// reading, because reading it takes as long as the call.
func (c *conversation) memory(took time.Duration) policy.Bytes {
	w := c.worker
	if !c.again || w.peak == 0 || took > time.Millisecond {
		w.peak = w.peakMemory()
	}
	return w.peak
}

// flushInterval is how often a guest with buffered output writes out its buffer.
const flushInterval = 20 * time.Millisecond

// bufferOutput makes a guest that prints much buffer its standard output, which otherwise
// takes a system call for each line. See buffer_output in worker.py.
func (c *conversation) bufferOutput() {
	c.ended = make(chan struct{})
	go func() {
		flush := time.NewTicker(flushInterval)
		defer flush.Stop()
		for {
			c.worker.pidfd.use(func(fd int) {
				_ = unix.PidfdSendSignal(fd, unix.SIGURG, nil, 0) // ESRCH: dead already
			})
			select {
			case <-flush.C:
			case <-c.ended:
				return
			}
		}
	}()
}

// end stops the goroutines that serve the guest's streams.
func (c *conversation) end() {
	if c.ended != nil {
		close(c.ended)
	}
	if c.feeding != nil {
		_ = c.feeding.SetWriteDeadline(time.Unix(1, 0)) // wakes the feeder; fails if the feeder has closed the pipe
	}
}

// send writes as much as the channel accepts, and returns the rest.
func (c *conversation) send(data []byte) (rest []byte, err error) {
	n, err := unix.Write(c.channel, data)
	if err == unix.EAGAIN || err == unix.EINTR {
		return data, nil
	}
	return data[max(0, n):], err
}

// Read blocks until the channel has data. It checks the time limits before each read, so
// that a guest that sends without pause is killed in time too.
func (c *conversation) Read(b []byte) (int, error) {
	if c.again && !c.patience.After(c.started) {
		c.wait(unix.POLLIN) // there cannot be an answer yet
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
			tuning.Yield()
		}
	}
}

// wait serves the streams and the time limits until the channel may be ready.
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
	var timeout *unix.Timespec // nil: no timeout
	if next := c.watch(time.Now()); next > 0 {
		ts := unix.NsecToTimespec(int64(next))
		timeout = &ts
	}
	if _, err := unix.Ppoll(fds[:], timeout, nil); err != nil {
		return // EINTR
	}
	// A worker that serves many calls answers once, after all output of the call. Live
	// streams are not in fds.
	c.silent = c.again && c.stdout.file == nil && c.stderr.file == nil && fds[0].Revents != 0 && fds[1].Revents|fds[2].Revents == 0
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

// feed writes as much of the guest's standard input as the pipe accepts, and closes the
// pipe after the last byte. If the guest does not read, the write fails; that is not an
// error.
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

// watch stops a guest that has reached a time limit. It returns when to call it again, or
// 0 if that is not needed.
func (c *conversation) watch(now time.Time) time.Duration {
	if c.worker.kill.reason() != "" || c.interruption.begun() {
		return 0
	}
	if !now.Before(c.deadline) {
		c.interruption.begin(KilledWall)
		return 0
	}
	if !now.Before(c.checkCPU) {
		used, err := cpuTime(c.worker.PID)
		if err != nil {
			return 0 // it is gone
		}
		left := c.limits.CPUTime - (used - c.worker.cpu)
		if left <= 0 {
			c.interruption.begin(KilledCPU)
			return 0
		}
		c.planCPUCheck(now, left)
	}
	return min(c.deadline.Sub(now), c.checkCPU.Sub(now))
}

// planCPUCheck sets the next check to the time at which a guest that keeps all cores busy
// would have used up what is left.
func (c *conversation) planCPUCheck(now time.Time, left time.Duration) {
	cores := time.Duration(min(runtime.NumCPU(), max(1, c.limits.Threads)))
	c.checkCPU = now.Add(max(left/cores, time.Millisecond))
}
