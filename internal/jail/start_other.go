//go:build !linux

package jail

import "runtime"

// Embryo is a child that waits for its plan.
type Embryo struct{}

// Conceive refuses: these walls are Linux's.
func Conceive(struct{}) (*Embryo, error) {
	return nil, &SetupError{Step: "clone", Cause: "there are no namespaces on " + runtime.GOOS}
}
