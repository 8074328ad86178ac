//go:build !linux

package confine

import "runtime"

// Process is a program behind its walls.
type Process struct{}

// OwnerMaps are Linux's.
type OwnerMaps struct{}

// Start refuses: these walls are Linux's.
func Start(Spec) (*Process, error) {
	return nil, &SetupError{Step: "clone", Cause: "there are no namespaces on " + runtime.GOOS}
}
