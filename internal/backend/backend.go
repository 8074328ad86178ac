// Package backend is the interface between the Runner and the tiers. The code above it does
// not know how guests are isolated; the code below it does not know which frontend a
// request came from.
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

// Tools returns the tools that the guest may call.
func (j Job) Tools() map[string]run.Tool {
	if j.Kind() == policy.GuestModule {
		return j.Module.Tools
	}
	return j.Script.Tools
}

// Deterministic reports whether the guest has no real clock and no randomness.
func (j Job) Deterministic() bool { return j.Script.Deterministic || j.Module.Deterministic }

// HasFiles reports whether files go into the run or come out of it.
func (j Job) HasFiles() bool { return len(j.Script.Files) > 0 || len(j.Script.Artifacts) > 0 }

// ErrNotStarted means that the sandbox died before it got the guest.
var ErrNotStarted = errors.New("the guest was not started")

// UntilStarted repeats an attempt whose sandbox died before it got the guest. It gives up
// after many attempts, because then something kills every sandbox.
func UntilStarted[T any](ctx context.Context, attempt func() (T, error)) (got T, err error) {
	const attempts = 100
	for range attempts {
		if got, err = attempt(); !errors.Is(err, ErrNotStarted) || ctx.Err() != nil {
			return got, err
		}
	}
	return got, run.Errorf(run.Internal, "%d sandboxes were killed before their guest could start: %w", attempts, err)
}

// Backend implements one tier under one policy.
type Backend interface {
	Tier() policy.Tier
	// Open returns a sandbox for the job. It waits for one until ctx ends.
	Open(ctx context.Context, job Job) (Sandbox, error)
	// Enforcement reports which walls stand between the guests and this host.
	Enforcement() run.Enforcement
	// Close ends every guest and leaves nothing behind.
	Close() error
}

// Sandbox confines one run.
type Sandbox interface {
	// Run returns the guest's end as a Result, and an error only if cordon itself
	// fails. If the error wraps ErrNotStarted, no guest code ran, and the job can be run
	// in another Sandbox.
	Run(ctx context.Context, job Job) (run.Result, error)
	Close() error
}
