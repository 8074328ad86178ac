// Package observe defines the events of the service for its observers: metrics, traces
// and the audit log. Others implement and register the observers.
package observe

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/cordon-sandbox/cordon/run"
)

// Frontend is the frontend that received a request.
type Frontend string

// The frontends of the service.
const (
	HTTP Frontend = "http"
	MCP  Frontend = "mcp"
)

// Kind is the kind of a request.
type Kind string

// The kinds of requests. A check runs nothing and is not observed.
const (
	Script  Kind = "script"
	Command Kind = "command"
	Hook    Kind = "hook" // one call
)

// Run is a request that has ended.
type Run struct {
	ID       string // assigned by the service, unique
	Caller   string // the name of a token, or "local"
	Frontend Frontend
	Kind     Kind
	// Code is what ran: a script, or the arguments of a command joined by NUL bytes.
	// Observers keep at most its hash.
	Code string

	// Err is why nothing ran; Result is how the run ended.
	Result run.Result
	Err    error

	// Started is when its turn came; zero if it never did.
	Arrived, Started, Ended time.Time
}

// Gone is the class of requests that the caller canceled before anything ran. It is not a
// failure of cordon.
const Gone run.Class = "gone"

// ClassOf returns why nothing ran: one of run.Classes, or Gone.
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

// Observer receives each run at its end, from many goroutines at once. It must be fast:
// the answer waits for it.
type Observer interface {
	Ended(ctx context.Context, r Run)
}

// Stage is a part of a request's time.
type Stage string

// The stages: a request waits for its turn, gets a sandbox, and its guest runs.
const (
	Request Stage = "request"
	Queue   Stage = "queue"
	Lease   Stage = "lease"
	Guest   Stage = "guest"
)

// Tracer receives the beginning and end of stages.
type Tracer interface {
	// Begin is called when a stage begins, and end when it ends. The context is for the
	// stages inside.
	Begin(ctx context.Context, s Stage) (inside context.Context, end func(error))
}

type tracerKey struct{}

// WithTracer returns a context whose stages t receives.
func WithTracer(ctx context.Context, t Tracer) context.Context {
	return context.WithValue(ctx, tracerKey{}, t)
}

// Begin calls the context's Tracer, if it has one.
func Begin(ctx context.Context, s Stage) (inside context.Context, end func(error)) {
	t, ok := ctx.Value(tracerKey{}).(Tracer)
	if !ok {
		return ctx, ignore
	}
	return t.Begin(ctx, s)
}

func ignore(error) {}
