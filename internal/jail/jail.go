// Package jail is the Linux confinement of a process.
//
// A plan is made by a pure function (plan.go) from the policy and the host's
// features. Conceive (clone_linux.go) clones the current binary into the
// planned namespaces, Start sends it the plan, and the child (child_linux.go)
// walks one straight line: it
// builds a root from nothing, gives up what it must not keep, and executes
// the program. Whatever fails on that line comes back as a SetupError with
// the step's name; nothing has run by then.
package jail

import "fmt"

// Spec is what the child is told, in one message on its control socket.
type Spec struct {
	Plan Plan
	Argv []string
	Env  []string
	// Messages follow the plan on the control socket, for the program to read.
	Messages [][]byte `json:"-"`
}

// Descriptors of the executed program. They are above every number that a
// guest may open, so that the system call filter can tell them by number.
const (
	// ControlFD is the socket to the Runner.
	ControlFD = 1020
	// MountNSFD and PIDNSFD are the namespaces that the fork server goes back
	// to after each fork.
	MountNSFD = 1021
	PIDNSFD   = 1022
	// descriptorLimit makes room for them.
	descriptorLimit = 1024
)

// SetupError is a step that failed before anything ran.
type SetupError struct {
	Step  string
	Cause string
	// Namespace says that the host refused a namespace or a mount, so that a
	// plan without namespaces may still work.
	Namespace bool
}

func (e *SetupError) Error() string { return fmt.Sprintf("%s: %s", e.Step, e.Cause) }
