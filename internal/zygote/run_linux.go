package zygote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/wire"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// burialTimeout bounds the wait for a worker that closed its channel to be
// reported dead; it may also be alive, and then it is killed.
const burialTimeout = 200 * time.Millisecond

// Run hands the guest over and collects the evidence of its end. The worker
// is dead, or about to be, when it returns.
func (w *Worker) Run(ctx context.Context, g Guest) (Ending, error) {
	frame, err := wire.AppendDictFrame(nil, wire.KindStart, startFields(g, w.narrow(g.Limits))...)
	if err != nil {
		return Ending{}, run.Errorf(run.Invalid, "%w", err)
	}
	w.threads.Store(int32(g.Limits.Threads))

	started := time.Now()
	watch := w.watch(ctx, g.Limits)
	defer watch.stop()
	if _, err := w.channel.Write(frame); err != nil {
		if why := w.kill.reason(); why == "" || ctx.Err() == nil && why == KilledDone {
			return Ending{}, fmt.Errorf("%w: %w", ErrNotStarted, err)
		}
	}
	out := w.collect(w.stdout, g.Streams.Out, g)
	errs := w.collect(w.stderr, g.Streams.Err, g)
	feeding := w.feed(g)

	var e Ending
	kind, payload, err := wire.ReadFrame(w.channel, nil, run.MaxPayload)
	switch {
	case err == nil && kind == wire.KindDone:
		e.Report, e.Malformed = wire.DecodeDict(payload)
	case err == nil:
		e.Malformed = fmt.Errorf("a frame of kind %q", kind)
	case errors.Is(err, io.EOF) || errors.Is(err, unix.ECONNRESET):
		w.awaitDeath()
		e.Exit, e.Orphaned = w.burial()
	default:
		e.Malformed = err
	}
	e.WallTime = time.Since(started)
	watch.stop()
	if e.Exit == nil {
		// Still there: it waits to be killed after its report.
		if used, err := cpuTime(w.PID); err == nil {
			e.CPUTime = used - w.cpu
		}
		e.Memory = peakMemory(w.PID)
	} else {
		e.CPUTime, e.Memory = max(0, e.Exit.CPUTime-w.cpu), e.Exit.Memory
	}
	e.Killed = w.kill.reason()
	e.Stdout, e.Stderr = out.finish(), errs.finish()
	if why := w.kill.reason(); why == KilledOutput {
		e.Killed = why // found by the last look into the pipes
	}
	w.Kill(KilledDone)
	feeding()
	e.Violations = w.denials.list()
	return e, nil
}

// narrow gives the limits of this run that are below the worker's own.
func (w *Worker) narrow(l policy.Limits) []any {
	if l == w.Limits {
		return []any{}
	}
	return w.zygote.rlimits(l)
}

func (w *Worker) threadLimit() int { return int(w.threads.Load()) }

// awaitDeath: the channel is closed, by death or by a guest that wants to be
// clever. One without a channel has no way to give a result.
func (w *Worker) awaitDeath() {
	timer := time.NewTimer(burialTimeout)
	defer timer.Stop()
	select {
	case <-w.exited:
	case <-timer.C:
		w.Kill(KilledChannel)
		<-w.exited
	}
}

// burial gives the exit, and whether the fork server died too.
func (w *Worker) burial() (*Exit, bool) {
	exit := w.exit
	select {
	case <-w.zygote.done:
		return &exit, true
	default:
		return &exit, w.orphaned
	}
}

// watchdog ends a guest by the clocks and by its caller's wish.
type watchdog struct {
	wall, cpu *time.Timer
	cancel    func() bool
}

func (w *Worker) watch(ctx context.Context, l policy.Limits) *watchdog {
	d := &watchdog{
		wall:   time.AfterFunc(l.WallTime.Std(), func() { w.Kill(KilledWall) }),
		cancel: context.AfterFunc(ctx, func() { w.Kill(KilledCanceled) }),
	}
	// Processor time cannot run out before it could have been used on all
	// cores: a short run is never asked.
	cores := time.Duration(min(runtime.NumCPU(), max(1, l.Threads)))
	limit := l.CPUTime.Std()
	d.cpu = time.AfterFunc(limit/cores, func() {
		used, err := cpuTime(w.PID)
		if err != nil {
			return // it is gone
		}
		left := limit - (used - w.cpu)
		if left <= 0 {
			w.Kill(KilledCPU)
			return
		}
		d.cpu.Reset(max(left/cores, time.Millisecond))
	})
	return d
}

func (d *watchdog) stop() {
	d.wall.Stop()
	d.cpu.Stop()
	d.cancel()
}

// feed gives the guest its standard input. The returned function waits until
// the feeder is gone; the guest must be dead by then, or it may never read.
func (w *Worker) feed(g Guest) func() {
	var input io.Reader
	switch {
	case g.Streams.In != nil:
		input = g.Streams.In
	case g.Stdin != "":
		input = strings.NewReader(g.Stdin)
	default:
		w.stdin.Close()
		return func() {}
	}
	var feeder sync.WaitGroup
	feeder.Go(func() {
		// A guest that does not read, or dies, breaks the pipe: its choice.
		_, _ = io.Copy(w.stdin, input)
		w.stdin.Close()
	})
	return func() {
		_ = w.stdin.SetWriteDeadline(time.Unix(1, 0))
		if g.Streams.In == nil {
			feeder.Wait()
		}
		// A caller's reader may block for ever in its Read: it is left alone,
		// and ends with the reader.
	}
}

// collector reads one stream while the guest runs. What goes over the limit
// is counted and dropped, before it can take any memory.
type collector struct {
	worker  *Worker
	file    *os.File
	live    io.Writer
	limit   int64
	onLimit policy.OutputAction
	capture Capture
	done    sync.WaitGroup
}

var buffers = sync.Pool{New: func() any { return new([16 << 10]byte) }}

func (w *Worker) collect(file *os.File, live io.Writer, g Guest) *collector {
	c := &collector{worker: w, file: file, live: live, limit: int64(g.Limits.Output), onLimit: g.OnOutputLimit}
	c.done.Go(func() { c.copy(c.file.Read) })
	return c
}

func (c *collector) copy(read func([]byte) (int, error)) {
	buffer := buffers.Get().(*[16 << 10]byte)
	defer buffers.Put(buffer)
	for {
		n, err := read(buffer[:])
		if n > 0 {
			c.take(buffer[:n])
		}
		if err != nil || n == 0 {
			return
		}
	}
}

func (c *collector) take(data []byte) {
	c.capture.Size += int64(len(data))
	if room := c.limit - int64(len(c.capture.Data)); int64(len(data)) > room {
		data = data[:max(0, room)]
		if c.onLimit == policy.OutputKill {
			c.worker.Kill(KilledOutput)
		}
	}
	c.capture.Data = append(c.capture.Data, data...)
	if c.live != nil && len(data) > 0 {
		if _, err := c.live.Write(data); err != nil {
			c.live = nil // the caller went away; the Result still has it
		}
	}
}

// finish takes what is left in the pipe. All that the guest wrote before its
// report is there by now; nobody waits for what comes after.
func (c *collector) finish() Capture {
	_ = c.file.SetReadDeadline(time.Unix(1, 0))
	c.done.Wait()
	raw, err := c.file.SyscallConn()
	if err != nil {
		return c.capture
	}
	_ = raw.Control(func(fd uintptr) {
		left := 64 // bounded: other threads of the guest may still be writing
		c.copy(func(b []byte) (int, error) {
			if left--; left < 0 {
				return 0, io.EOF
			}
			return unix.Read(int(fd), b)
		})
	})
	return c.capture
}
