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

	"github.com/cordon-sandbox/cordon/internal/wire"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// channelGrace is how long a worker may live without its channel, in case that it is
// about to end. One that is ending already takes as long as it takes: to free 4 GiB
// of shared memory is a second's work, which comes after the channel is closed.
const channelGrace = 200 * time.Millisecond

// Run hands the guest over and collects the evidence of its end. The worker
// is dead, or about to be, when it returns.
func (w *Worker) Run(ctx context.Context, g Guest) (Ending, error) {
	defer w.Kill(KilledDone)
	e, err := w.start(ctx, wire.KindStart, g)
	if err == nil && e.Exit == nil && g.Patience > 0 && !w.zygote.config.OneShot {
		stepAside(w.PID)
	}
	return e, err
}

// Check has the language rules judge the guest, which is not run. The worker is
// dead, or about to be, when it returns.
func (w *Worker) Check(ctx context.Context, g Guest) (Ending, error) {
	defer w.Kill(KilledDone)
	return w.start(ctx, wire.KindCheck, g)
}

// start sends the worker its first frame, and collects what it answers.
func (w *Worker) start(ctx context.Context, kind byte, g Guest) (Ending, error) {
	code, ask := g.Codes.find(source{g.Script, g.Name})
	frame, err := wire.AppendListFrame(make([]byte, 0, len(g.Script)+len(code)+512), kind,
		startFields(g, w.narrow(g.Limits), code, ask)...)
	if err != nil {
		return Ending{}, run.Errorf(run.Invalid, "%w", err)
	}
	w.limits.Store(&g.Limits)
	w.network.Store(g.Network)
	return w.exchange(ctx, frame, g, ask)
}

// exchange sends a frame, and collects the evidence of what came of it.
func (w *Worker) exchange(ctx context.Context, frame []byte, g Guest, ask bool) (Ending, error) {
	c := w.converse(g)
	defer c.end()
	frame, err := c.send(frame) // wakes the guest; all else can be done while it does
	uncanceled := w.killWhenCanceled(ctx)
	for err == nil && len(frame) > 0 {
		c.wait(unix.POLLOUT)
		frame, err = c.send(frame)
	}
	if err != nil && w.kill.reason() == "" {
		uncanceled()
		return Ending{}, fmt.Errorf("%w: %w", ErrNotStarted, err)
	}
	// Not before the guest has all it needs to start: a caller's input that was
	// read for one that never does would be lost to the next.
	c.open(g)

	var e Ending
	reader, most := w.reading(c), wire.MaxReport(g.Limits)
	kind, payload, err := wire.ReadFrame(reader, w.answer, most)
	if ask && err == nil && kind == wire.KindCode {
		// The worker answers before it runs anything of the guest's, and always:
		// the first frame is its own.
		g.Codes.keep(source{g.Script, g.Name}, bytes.Clone(payload))
		kind, payload, err = wire.ReadFrame(reader, nil, most)
	}
	switch {
	case err == nil && (kind == wire.KindDone || kind == wire.KindLast):
		e.Report, e.Malformed = wire.DecodeDict(payload)
		e.Last = kind == wire.KindLast
	case err == nil:
		e.Malformed = fmt.Errorf("a frame of kind %q", kind)
	case errors.Is(err, io.EOF) || errors.Is(err, unix.ECONNRESET):
		w.awaitDeath(channelGrace)
		e.Exit, e.Orphaned = w.burial()
	case errors.Is(err, io.ErrUnexpectedEOF):
		// It may have been killed in the middle of its report.
		e.Malformed = err
		w.awaitDeath(channelGrace)
		e.Exit, e.Orphaned = w.burial()
	default:
		e.Malformed = err
	}
	e.WallTime = time.Since(c.started)
	if e.Exit == nil {
		// Still there: it waits to be killed, or to be called again.
		if used, err := cpuTime(w.PID); err == nil {
			e.CPUTime, w.cpu = used-w.cpu, used
		}
		e.Memory = c.memory(e.WallTime)
	} else {
		e.CPUTime, e.Memory = max(0, e.Exit.CPUTime-w.cpu), e.Exit.Memory
	}
	uncanceled()
	e.Killed = w.kill.reason()
	if c.silent {
		e.Stdout, e.Stderr = c.stdout.Capture, c.stderr.Capture
	} else {
		e.Stdout, e.Stderr = c.stdout.finish(), c.stderr.finish()
	}
	if why := w.kill.reason(); why == KilledOutput {
		e.Killed = why // found by the last look into the pipes
	}
	e.Violations = w.denials.Take()
	return e, nil
}

// killWhenCanceled kills the worker when ctx is over, until it is told that the guest is
// done. A kill that has begun by then is waited for: it belongs to this call, and must not
// meet the next one.
func (w *Worker) killWhenCanceled(ctx context.Context) (done func()) {
	if ctx.Done() == nil {
		return func() {}
	}
	killed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		w.Kill(KilledCanceled)
		close(killed)
	})
	return func() {
		if !stop() {
			<-killed
		}
	}
}

// reading gives a reader of the channel; that of the last call, if there was one.
func (w *Worker) reading(c *conversation) *bufio.Reader {
	if w.reader == nil {
		w.reader = bufio.NewReaderSize(c, 512)
	} else {
		w.reader.Reset(c)
	}
	return w.reader
}

// narrow gives the limits of this run that are below the worker's own.
func (w *Worker) narrow(l policy.Limits) []any {
	if w.limited && l == w.Limits {
		return []any{}
	}
	return w.zygote.rlimits(l)
}

func (w *Worker) threadLimit() int { return w.limits.Load().Threads }

// awaitDeath returns when the worker is dead, after its channel was closed: by its
// death, or by a guest that wants to be clever. One that lives on without a channel has
// no way to give a result, and is killed.
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

// burial gives the exit, and whether the fork server died too.
func (w *Worker) burial() (*Exit, bool) {
	exit := w.exit
	return &exit, w.orphaned
}
