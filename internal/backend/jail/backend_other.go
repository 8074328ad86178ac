//go:build !linux

package jail

import (
	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/portable"
	"github.com/cordon-sandbox/cordon/internal/launch"
)

// Backend is the tier on other systems than Linux. Each command runs behind the walls
// that the system has.
type Backend struct{ *portable.Commands }

var _ backend.Backend = (*Backend)(nil)

// New plans the walls. A required wall that the host cannot provide is an error here,
// before anything runs.
func New(options Options) (*Backend, error) {
	launcher, err := launch.New()
	if err != nil {
		return nil, err
	}
	o := options.resolved()
	commands, err := portable.NewCommands(portable.Options{
		Policy: options.Policy, Launcher: launcher, Load: o.Load,
	})
	if err != nil {
		return nil, err
	}
	return &Backend{commands}, nil
}
