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
	variables := g.Variables
	if variables == nil {
		variables = []string{}
	}
	stdin := g.Stdin
	g.Stdin = "" // it comes with the frame: a pipe could not end with each step
	return w.ask(ctx, g, []wire.Field{
		numberField,
		{Name: "script", Value: g.Script},
		{Name: "name", Value: g.Name},
		{Name: "context", Value: g.Context},
		{Name: "variables", Value: variables},
		{Name: "stdin", Value: stdin},
		{Name: "max_answer", Value: wire.MaxReport(g.Limits)},
	})
}

// interruption ends a step that has reached a limit. It is used by the conversation and by the
// end of the caller's context, and sends one signal: a second one could hit code of ours.
type interruption struct {
	worker *Worker
	grace  time.Duration // 0: the worker is killed at once

	mu     sync.Mutex
	reason Reason
	late   *time.Timer
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
	i.reason = reason
	i.worker.pidfd.use(func(fd int) {
		_ = unix.PidfdSendSignal(fd, unix.SIGINT, nil, 0) // ESRCH: dead already
	})
	i.late = time.AfterFunc(i.grace, func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		if i.late != nil {
			i.worker.Kill(reason)
		}
	})
}

// end returns why the step was interrupted, empty if it was not. Nothing is killed afterwards.
func (i *interruption) end() Reason {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.late != nil {
		i.late.Stop()
		i.late = nil
	}
	return i.reason
}

// begun reports whether the step was interrupted.
func (i *interruption) begun() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.reason != ""
}
