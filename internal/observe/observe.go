// Package observe is what those who watch the service see of it: metrics, traces and the
// audit log. It says what is told; who listens is somebody else's business.
package observe

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/cordon-sandbox/cordon/run"
)

// Frontend is where a request came in.
type Frontend string

// The frontends of the service.
const (
	HTTP Frontend = "http"
	MCP  Frontend = "mcp"
)

// Kind is what was asked for.
type Kind string

// The kinds of requests. A check runs nothing, and is not observed.
const (
	Script  Kind = "script"
	Command Kind = "command"
	Hook    Kind = "hook" // one call of it
)

// Run is a request that has come to its end, one way or the other.
type Run struct {
	ID       string // ours: no two requests have the same
	Caller   string // the name of a token, or "local"
	Frontend Frontend
	Kind     Kind
	// Code is what ran: a script, or the words of a command with a NUL byte between
	// them. Observers keep its hash, if anything.
	Code string

	// Err is why nothing ran, and Result is how it ended if something did.
	Result run.Result
	Err    error

	// Started is when it had its turn, and zero if it never had.
	Arrived, Started, Ended time.Time
}

// Gone is the class of requests whose caller gave up before anything ran: that is nothing
// of ours to mend.
const Gone run.Class = "gone"

// ClassOf is why nothing ran: one of run.Classes, or Gone.
func ClassOf(err error) run.Class {
	class := run.ClassOf(err)
	switch {
	case class == run.Internal && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)):
		return Gone
	case slices.Contains(run.Classes(), class):
		return class
	}
	return run.Internal
}

// Observer is told of each run at its end, by many goroutines at once. It must be quick:
// the answer waits for it.
type Observer interface {
	Ended(ctx context.Context, r Run)
}

// Stage is a part of a request's time.
type Stage string

// The stages: a request waits for its turn, a place is found for the guest, the guest
// runs.
const (
	Request Stage = "request"
	Queue   Stage = "queue"
	Lease   Stage = "lease"
	Guest   Stage = "guest"
)

// Tracer is told where the time goes.
type Tracer interface {
	// Begin is called where a stage begins, and end where it ends. The context is for
	// the stages inside.
	Begin(ctx context.Context, s Stage) (inside context.Context, end func(error))
}

type tracerKey struct{}

// WithTracer gives a context whose stages are told to t.
func WithTracer(ctx context.Context, t Tracer) context.Context {
	return context.WithValue(ctx, tracerKey{}, t)
}

// Begin tells the context's Tracer, if it has one.
func Begin(ctx context.Context, s Stage) (inside context.Context, end func(error)) {
	t, ok := ctx.Value(tracerKey{}).(Tracer)
	if !ok {
		return ctx, ignore
	}
	return t.Begin(ctx, s)
}

func ignore(error) {}
