// Package backend is the seam between the Runner and the tiers. Nothing above
// it knows how to isolate; nothing below it knows which door a request came
// through.
package backend

import (
	"context"

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

// Backend implements one tier under one policy.
type Backend interface {
	Tier() policy.Tier
	// Open leases one confined place. It waits for one while ctx lasts.
	Open(ctx context.Context) (Sandbox, error)
	// Close ends every guest and leaves nothing behind.
	Close() error
}

// Sandbox is one confined place, for one run.
type Sandbox interface {
	// Run gives the guest's end as a Result, and an error only for a failure
	// of ours. ErrNotStarted among its causes says that no guest code ran.
	Run(ctx context.Context, job Job) (run.Result, error)
	Close() error
}
