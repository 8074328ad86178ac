//go:build !linux

package process

import (
	"context"
	"os"
	"runtime"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/hook"
	"github.com/cordon-sandbox/cordon/internal/backend/portable"
	"github.com/cordon-sandbox/cordon/internal/confine"
	"github.com/cordon-sandbox/cordon/internal/launch"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Backend is the tier on other systems than Linux. Each script gets an interpreter behind
// the walls that the system has.
type Backend struct{ *portable.Scripts }

var _ backend.Backend = (*Backend)(nil)

// New plans the walls. A required wall that this host cannot provide is an error here,
// before anything runs.
func New(ctx context.Context, options Options) (*Backend, error) {
	launcher, err := launch.New()
	if err != nil {
		return nil, err
	}
	o := options.resolved()
	scripts, err := portable.NewScripts(ctx, portable.Options{
		Policy: options.Policy, Guests: o.guests(), Launcher: launcher, Load: o.Load,
	})
	if err != nil {
		return nil, err
	}
	return &Backend{scripts}, nil
}

// Plan returns an empty plan: its walls exist on Linux only.
func (b *Backend) Plan() confine.Plan {
	return confine.Plan{Walls: b.Enforcement().Walls, UID: os.Getuid(), GID: os.Getgid()}
}

// OpenHook returns an error.
func (*Backend) OpenHook(context.Context, run.HookSpec, policy.Limits) (*hook.Hook, error) {
	return nil, refuseHooks()
}

// refuseHooks returns the error for hooks: a call takes microseconds only with a fork
// server, which this system does not have.
func refuseHooks() error {
	return run.Errorf(run.Unsupported, "hooks need Linux, and this is %s: run the script each time, use a session of the tier wasm, or use a Linux virtual machine", runtime.GOOS)
}
