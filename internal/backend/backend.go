// Package backend is the seam between the Runner and the tiers. Nothing above
// it knows how to isolate; nothing below it knows which frontend a request came
// through.
package backend

import (
	"context"
	"errors"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Job is a request that has been checked against the policy: its limits are
// complete and within the maxima.
type Job struct {
	run.Request
	Limits        policy.Limits
	OnOutputLimit policy.OutputAction
}

// Tools are what its guest may call.
func (j Job) Tools() map[string]run.Tool {
	if j.Kind() == policy.GuestModule {
		return j.Module.Tools
	}
	return j.Script.Tools
}

// Deterministic reports whether its guest has no real clock and no randomness.
func (j Job) Deterministic() bool { return j.Script.Deterministic || j.Module.Deterministic }

// ErrNotStarted: the sandbox was gone before the guest was handed over.
var ErrNotStarted = errors.New("the guest was not started")

// UntilStarted repeats an attempt whose sandbox died before the guest was handed over. It
// gives up when this keeps happening: then something kills every sandbox.
func UntilStarted[T any](ctx context.Context, attempt func() (T, error)) (got T, err error) {
	const attempts = 100
	for range attempts {
		if got, err = attempt(); !errors.Is(err, ErrNotStarted) || ctx.Err() != nil {
			return got, err
		}
	}
	return got, run.Errorf(run.Internal, "%d places were killed before their guest could start: %w", attempts, err)
}

// Backend implements one tier under one policy.
type Backend interface {
	Tier() policy.Tier
	// Open leases one confined place that fits the job. It waits for one
	// while ctx lasts.
	Open(ctx context.Context, job Job) (Sandbox, error)
	// Enforcement says which walls stand between its guests and this host.
	Enforcement() run.Enforcement
	// Close ends every guest and leaves nothing behind.
	Close() error
}

// Sandbox is one confined place, for one run.
type Sandbox interface {
	// Run gives the guest's end as a Result, and an error only for a failure
	// of ours. ErrNotStarted among its causes says that no guest code ran, so
	// that the job can be given to another Sandbox.
	Run(ctx context.Context, job Job) (run.Result, error)
	Close() error
}
