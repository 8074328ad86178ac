package zygote

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/wire"
)

// OpenSession makes the worker keep its globals and wait for steps. A report other than
// "opened" says why that failed; the worker is then useless.
func (w *Worker) OpenSession(ctx context.Context, g Guest) (Ending, error) {
	return w.start(ctx, wire.KindOpen, g)
}

// Step runs one step of the session. A step that reaches a time limit, or whose context ends,
// is interrupted. If it has not ended after the guest's grace, the worker is killed.
func (w *Worker) Step(ctx context.Context, g Guest) (Ending, error) {
	stdin := g.Stdin
	g.Stdin = "" // it comes with the frame: a pipe could not end with each step
	return w.ask(ctx, g, wire.KindCall, []wire.Field{
		numberField,
		{Name: "script", Value: g.Script},
		{Name: "name", Value: g.Name},
		{Name: "context", Value: g.Context},
		{Name: "variables", Value: g.Variables},
		{Name: "args", Value: g.Args},
		{Name: "stdin", Value: stdin},
		{Name: "max_answer", Value: wire.MaxReport(g.Limits)},
	})
}

// Variables lists the variables of the session, within the limits of a step.
func (w *Worker) Variables(ctx context.Context, g Guest) (Ending, error) {
	return w.ask(ctx, g, wire.KindList, []wire.Field{numberField, {Name: "max_answer", Value: wire.MaxReport(g.Limits)}})
}

// Complete lists what the name at the end of the line can become.
func (w *Worker) Complete(ctx context.Context, line string, g Guest) (Ending, error) {
	return w.ask(ctx, g, wire.KindNames, []wire.Field{numberField, {Name: "line", Value: line}, {Name: "max_answer", Value: wire.MaxReport(g.Limits)}})
}

// CPUTime returns what the worker has used since its last answer.
func (w *Worker) CPUTime() (time.Duration, error) {
	used, err := cpuTime(w.PID)
	return used - w.cpu, err
}

// repeatAfter is when a step that was interrupted and still runs is interrupted again: a signal
// that arrives before the code of the step runs has no effect.
const repeatAfter = 20 * time.Millisecond

// interruption ends a step that has reached a limit. The conversation and the end of the
// caller's context use it. The guest gets at most one KeyboardInterrupt: see session.py.
type interruption struct {
	worker *Worker
	grace  time.Duration // 0: the worker is killed at once

	mu     sync.Mutex
	reason Reason
	until  time.Time   // then the worker is killed
	next   *time.Timer // nil if the step was not interrupted, or has ended
}

// begin interrupts the step, unless that has happened already.
func (i *interruption) begin(reason Reason) {
	if i.grace == 0 {
		i.worker.Kill(reason)
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.reason != "" {
		return
	}
	i.reason, i.until = reason, time.Now().Add(i.grace)
	i.signal()
	i.next = time.AfterFunc(repeatAfter, i.again)
}

// again interrupts the step once more, or kills the worker.
func (i *interruption) again() {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case i.next == nil:
	case time.Now().Before(i.until):
		i.signal()
		i.next.Reset(repeatAfter)
	default:
		i.worker.Kill(i.reason)
	}
}

func (i *interruption) signal() {
	i.worker.pidfd.use(func(fd int) {
		_ = unix.PidfdSendSignal(fd, unix.SIGINT, nil, 0) // ESRCH: dead already
	})
}

// end returns why the step was interrupted, empty if it was not. Nothing is signaled or killed
// afterwards.
func (i *interruption) end() Reason {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.next != nil {
		i.next.Stop()
		i.next = nil
	}
	return i.reason
}

// begun reports whether the step was interrupted.
func (i *interruption) begun() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.reason != ""
}
