//go:build !linux

package process

import (
	"context"
	"runtime"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/hook"
	"github.com/cordon-sandbox/cordon/internal/interpreter"
	"github.com/cordon-sandbox/cordon/internal/jail"
	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Backend exists on Linux alone.
type Backend struct{}

var _ backend.Backend = (*Backend)(nil)

// New refuses: the tier's walls are Linux's.
func New(context.Context, Options) (*Backend, error) {
	return nil, refusal()
}

func refusal() error {
	return run.Errorf(run.Unsupported, "the process tier needs Linux, and this is %s: run cordon in a Linux virtual machine or container", runtime.GOOS)
}

// Tier is `process`.
func (*Backend) Tier() policy.Tier { return policy.TierProcess }

// Plan is empty.
func (*Backend) Plan() jail.Plan { return jail.Plan{} }

// Interpreter is empty.
func (*Backend) Interpreter() interpreter.Interpreter { return interpreter.Interpreter{} }

// Enforcement says that nothing is enforced.
func (*Backend) Enforcement() run.Enforcement { return run.Enforcement{Tier: policy.TierProcess} }

// Stats are empty.
func (*Backend) Stats() observe.Stats { return nil }

// Open refuses.
func (*Backend) Open(context.Context, backend.Job) (backend.Sandbox, error) { return nil, refusal() }

// Check refuses.
func (*Backend) Check(context.Context, run.Check) ([]run.Finding, error) { return nil, refusal() }

// OpenHook refuses.
func (*Backend) OpenHook(context.Context, run.Hook, policy.Limits) (*hook.Hook, error) {
	return nil, refusal()
}

// Close has nothing to close.
func (*Backend) Close() error { return nil }
