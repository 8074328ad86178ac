// Package jail is the Linux confinement of a process.
//
// A plan is made by a pure function (plan.go) from the policy and the host's
// features. It is written down as a list of system calls (walls_linux.go), one
// straight line that builds a root from nothing, gives up what must not be
// kept, and ends in the execution of a program. Start (start_linux.go) clones
// this process into the planned namespaces, where the child (child_linux.go)
// makes those calls and nothing else. Whatever fails comes back as a SetupError
// with the step's name; nothing has run by then.
package jail

import "fmt"

// Spec is a program and its confinement.
type Spec struct {
	Plan Plan
	Argv []string
	Env  []string
	// Messages wait on the control socket for the program to read.
	Messages [][]byte
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
