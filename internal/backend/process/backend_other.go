//go:build !linux

package process

import (
	"context"
	"os"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/portable"
	"github.com/cordon-sandbox/cordon/internal/confine"
	"github.com/cordon-sandbox/cordon/internal/launch"
)

// Backend is the tier on other systems than Linux. Each script gets an interpreter behind
// the walls that the system has, and each hook one that is kept.
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
		Policy: options.Policy, Guests: o.guests(), Launcher: launcher, Load: o.Load, Ahead: o.ahead(),
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
