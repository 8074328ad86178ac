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

// Backend is the tier on systems without Linux's walls: one interpreter a script, behind
// the walls that the system has.
type Backend struct{ *portable.Scripts }

var _ backend.Backend = (*Backend)(nil)

// New decides on the walls. A required one that this host cannot give is an error here,
// before anything runs.
func New(ctx context.Context, options Options) (*Backend, error) {
	launcher, err := launch.New()
	if err != nil {
		return nil, err
	}
	o := options.resolved()
	scripts, err := portable.NewScripts(ctx, portable.Options{
		Policy: options.Policy, Guests: o.guests(), Launcher: launcher, Turns: o.Turns,
	})
	if err != nil {
		return nil, err
	}
	return &Backend{scripts}, nil
}

// Plan is Linux's, and says which of these walls stand.
func (b *Backend) Plan() confine.Plan {
	return confine.Plan{Walls: b.Enforcement().Walls, UID: os.Getuid(), GID: os.Getgid()}
}

// OpenHook refuses.
func (*Backend) OpenHook(context.Context, run.HookSpec, policy.Limits) (*hook.Hook, error) {
	return nil, refuseHooks()
}

// refuseHooks: a hook is called in microseconds, and there is no fork server here.
func refuseHooks() error {
	return run.Errorf(run.Unsupported, "hooks need Linux, and this is %s: run the script each time, or use a session of tier wasm, or a Linux virtual machine", runtime.GOOS)
}
