package zygote

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
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
	w.limits.Store(&g.Limits)

	// Everything is in place before the guest is woken: from then on nothing
	// of ours competes with it until it answers.
	started := time.Now()
	watch := w.watch(ctx, g.Limits)
	defer watch.stop()
	out := w.collect(&w.stdout, g.Streams.Out, g)
	errs := w.collect(&w.stderr, g.Streams.Err, g)
	feeding := w.feed(g)
	if _, err := w.channel.Write(frame); err != nil && w.kill.reason() == "" {
		out.finish()
		errs.finish()
		feeding()
		return Ending{}, fmt.Errorf("%w: %w", ErrNotStarted, err)
	}

	var e Ending
	kind, payload, err := wire.ReadFrame(bufio.NewReaderSize(w.channel, 512), nil, run.MaxPayload)
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
		e.Memory = w.peakMemory()
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

func (w *Worker) threadLimit() int        { return w.limits.Load().Threads }
func (w *Worker) cpuLimit() time.Duration { return w.limits.Load().CPUTime.Std() }

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
	return &exit, w.orphaned
}

// watchdog ends a guest by the clocks and by its caller's wish.
type watchdog struct {
	wall   *time.Timer
	cancel func() bool

	mu      sync.Mutex
	cpu     *time.Timer
	stopped bool
}

func (w *Worker) watch(ctx context.Context, l policy.Limits) *watchdog {
	d := &watchdog{
		wall:   time.AfterFunc(l.WallTime.Std(), func() { w.Kill(KilledWall) }),
		cancel: context.AfterFunc(ctx, func() { w.Kill(KilledCanceled) }),
	}
	d.watchCPU(w, l.CPUTime.Std(), time.Duration(min(runtime.NumCPU(), max(1, l.Threads))))
	return d
}

// watchCPU looks again when the processor time could have run out at the
// earliest, on all cores: a short run is never asked.
func (d *watchdog) watchCPU(w *Worker, left, cores time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped {
		return
	}
	d.cpu = time.AfterFunc(max(left/cores, time.Millisecond), func() {
		used, err := cpuTime(w.PID)
		if err != nil {
			return // it is gone
		}
		if left := w.cpuLimit() - (used - w.cpu); left > 0 {
			d.watchCPU(w, left, cores)
		} else {
			w.Kill(KilledCPU)
		}
	})
}

func (d *watchdog) stop() {
	d.wall.Stop()
	d.cancel()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = true
	d.cpu.Stop()
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
		w.stdin.close()
		return func() {}
	}
	pipe := w.stdin.file("stdin")
	if pipe == nil {
		return func() {}
	}
	var feeder sync.WaitGroup
	feeder.Go(func() {
		// A guest that does not read, or dies, breaks the pipe: its choice.
		_, _ = io.Copy(pipe, input)
		pipe.Close()
	})
	return func() {
		_ = pipe.SetWriteDeadline(time.Unix(1, 0))
		if g.Streams.In == nil {
			feeder.Wait()
		}
		// A caller's reader may block for ever in its Read: it is left alone,
		// and ends with the reader.
	}
}
