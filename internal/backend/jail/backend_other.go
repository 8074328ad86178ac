//go:build !linux

package jail

import (
	"context"
	"runtime"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Backend exists on Linux alone.
type Backend struct{}

var _ backend.Backend = (*Backend)(nil)

// New refuses: the tier's walls are Linux's.
func New(Options) (*Backend, error) { return nil, refusal() }

func refusal() error {
	return run.Errorf(run.Unsupported, "the jail tier needs Linux, and this is %s: run cordon in a Linux virtual machine or container", runtime.GOOS)
}

// Tier is `jail`.
func (*Backend) Tier() policy.Tier { return policy.TierJail }

// Enforcement says that nothing is enforced.
func (*Backend) Enforcement() run.Enforcement { return run.Enforcement{Tier: policy.TierJail} }

// Stats are empty.
func (*Backend) Stats() observe.Stats { return nil }

// Open refuses.
func (*Backend) Open(context.Context, backend.Job) (backend.Sandbox, error) { return nil, refusal() }

// Close has nothing to close.
func (*Backend) Close() error { return nil }
