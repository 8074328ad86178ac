//go:build !linux

package gvisor

import (
	"context"
	"runtime"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/run"
)

// Backend is the tier, which needs Linux.
type Backend struct{ backend.Backend }

// New returns an error: gVisor needs Linux.
func New(context.Context, Options) (*Backend, error) {
	return nil, run.Errorf(run.Unsupported, "tier gvisor needs Linux, and this is %s", runtime.GOOS)
}
