package zygote

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/confine"
	"github.com/cordon-sandbox/cordon/internal/wire"
	"github.com/cordon-sandbox/cordon/run"
)

// channelGrace is how long a worker may live after its channel closed, in case it is
// about to end. A worker that is already ending gets as long as it takes: freeing 4 GiB
// of shared memory takes a second, and happens after the channel is closed.
const channelGrace = 200 * time.Millisecond

// Run hands the guest over and collects the evidence of its end. When it returns, the
// worker is dead or about to be.
func (w *Worker) Run(ctx context.Context, g Guest) (Ending, error) {
	defer w.Kill(KilledDone)
	return w.start(ctx, wire.KindStart, g)
}

// Check applies the language rules to the guest without running it. When it returns, the
// worker is dead or about to be.
func (w *Worker) Check(ctx context.Context, g Guest) (Ending, error) {
	defer w.Kill(KilledDone)
	return w.start(ctx, wire.KindCheck, g)
}

// start sends the worker its first frame and collects its answer.
func (w *Worker) start(ctx context.Context, kind byte, g Guest) (Ending, error) {
	if w.zygote.config.OneShot {
		g.Codes = nil // its worker compiles in another way, see quick_compiler in system.py
	}
	code, ask := g.Codes.find(source{g.Script, g.Name})
	limits, err := w.appendLimits(make([]byte, 0, len(g.Script)+len(code)+512), g.Limits)
	if err != nil {
		return Ending{}, notStarted(err)
	}
	frame, err := wire.AppendListFrame(limits, kind, startFields(g, code, ask)...)
	if err != nil {
		return Ending{}, run.Errorf(run.Invalid, "%w", err)
	}
	w.limits.Store(&g.Limits)
	w.network.Store(g.Network)
	// A guest that may use one CPU can wait for this until its first thread, unless it can
	// start one without asking. The others see from their start which CPUs they have.
	if g.Limits.CPUs > 1 || w.zygote.config.Plan.Seccomp == confine.SeccompErrno {
		if err := w.holdToCPUs(); err != nil {
			return Ending{}, notStarted(err)
		}
	}
	return w.exchange(ctx, frame, g, ask)
}

// notStarted returns the error for a worker that cannot get its guest. If it has died,
// another one can.
func notStarted(err error) error {
	if errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("%w: %w", ErrNotStarted, err)
	}
	return run.Errorf(run.Internal, "%w", err)
}

// exchange sends a frame and collects the evidence of what came of it.
func (w *Worker) exchange(ctx context.Context, frame []byte, g Guest, ask bool) (Ending, error) {
	c := w.converse(g)
	defer c.end()
	frame, err := c.send(frame) // wakes the guest; the rest happens meanwhile
	uncanceled := c.stopWhenCanceled(ctx)
	for err == nil && len(frame) > 0 {
		c.wait(unix.POLLOUT)
		frame, err = c.send(frame)
	}
	if err != nil && w.kill.reason() == "" {
		uncanceled()
		return Ending{}, fmt.Errorf("%w: %w", ErrNotStarted, err)
	}
	// Not before the guest has all it needs to start: if it never starts, input that was
	// already read from the caller would be lost for the next worker.
	c.open(g)

	var e Ending
	reader, most := w.channelReader(c), wire.MaxReport(g.Limits)
	kind, payload, err := wire.ReadFrame(reader, w.answer, most)
	if ask && err == nil && kind == wire.KindCode {
		// The worker sends this frame before it runs any guest code, so the first one
		// is genuine.
		g.Codes.keep(source{g.Script, g.Name}, bytes.Clone(payload))
		kind, payload, err = wire.ReadFrame(reader, nil, most)
	}
	switch {
	case err == nil && (kind == wire.KindDone || kind == wire.KindLast):
		e.Report, e.Malformed = wire.DecodeDict(payload)
		e.Last = kind == wire.KindLast
	case err == nil:
		e.Malformed = fmt.Errorf("a frame of unknown kind %q", kind)
	case errors.Is(err, io.EOF) || errors.Is(err, unix.ECONNRESET):
		w.awaitDeath(channelGrace)
		e.Exit, e.Orphaned = w.exitStatus()
	case errors.Is(err, io.ErrUnexpectedEOF):
		// It may have been killed while it sent its report.
		e.Malformed = err
		w.awaitDeath(channelGrace)
		e.Exit, e.Orphaned = w.exitStatus()
	default:
		e.Malformed = err
	}
	e.WallTime = time.Since(c.started)
	if e.Exit == nil {
		// It is still alive: it waits to be killed or called again.
		if used, err := cpuTime(w.PID); err == nil {
			e.CPUTime, w.cpu = used-w.cpu, used
		}
		e.Memory = c.memory(e.WallTime)
	} else {
		e.CPUTime, e.Memory = max(0, e.Exit.CPUTime-w.cpu), e.Exit.Memory
	}
	uncanceled()
	e.Interrupted, e.Killed = c.interruption.end(), w.kill.reason()
	if c.silent {
		e.Stdout, e.Stderr = c.stdout.Capture, c.stderr.Capture
	} else {
		e.Stdout, e.Stderr = c.stdout.finish(), c.stderr.finish()
	}
	if why := w.kill.reason(); why == KilledOutput {
		e.Killed = why // by the last read from the pipes
	}
	e.Violations = w.denials.Take()
	return e, nil
}

// stopWhenCanceled kills or interrupts the worker when ctx ends, until done is called. If
// that has begun by then, done waits for it, so that it does not hit the next call.
func (c *conversation) stopWhenCanceled(ctx context.Context) (done func()) {
	if ctx.Done() == nil {
		return func() {}
	}
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		c.interruption.begin(KilledCanceled)
		close(stopped)
	})
	return func() {
		if !stop() {
			<-stopped
		}
	}
}

// channelReader returns a reader of the channel, reusing that of the last call.
func (w *Worker) channelReader(c *conversation) *bufio.Reader {
	if w.reader == nil {
		w.reader = bufio.NewReaderSize(c, 512)
	} else {
		w.reader.Reset(c)
	}
	return w.reader
}

func (w *Worker) threadLimit() int { return w.limits.Load().Threads }

// awaitDeath returns when the worker is dead, after its channel was closed by its death
// or by the guest on purpose. A worker that lives on without a channel cannot report a
// result, and is killed.
func (w *Worker) awaitDeath(grace time.Duration) {
	began := time.Now()
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		select {
		case <-w.exited:
			return
		case <-time.After(pause):
		}
		if time.Since(began) >= grace && !dying(w.PID) {
			w.Kill(KilledChannel)
			<-w.exited
			return
		}
	}
}

// exitStatus returns the exit, and whether the fork server died too.
func (w *Worker) exitStatus() (*Exit, bool) {
	exit := w.exit
	return &exit, w.orphaned
}
