//go:build !linux

package confine

import (
	"context"
	"runtime"
)

// Process is a program behind its walls.
type Process struct{}

// OwnerMaps exist on Linux only.
type OwnerMaps struct{}

// Start fails: these walls exist on Linux only.
func Start(context.Context, Spec) (*Process, error) {
	return nil, &SetupError{Step: "clone", Cause: "there are no namespaces on " + runtime.GOOS}
}
