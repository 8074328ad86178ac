// Package confine is the Linux confinement of a process.
//
// A plan is made by a pure function (plan.go) from the policy and the host's
// features. It is written down as a list of system calls (walls_linux.go), one
// straight line that builds a root from nothing, gives up what must not be
// kept, and ends in the execution of a program. Start (start_linux.go) clones
// this process into the planned namespaces, where the child (child_unsafe.go)
// makes those calls and nothing else. Whatever fails comes back as a SetupError
// with the step's name; nothing has run by then.
package confine

import (
	"fmt"
	"syscall"

	"github.com/cordon-sandbox/cordon/internal/landlock"
)

// Spec is a program and its confinement.
type Spec struct {
	Plan Plan
	Argv []string
	Env  []string
	// Messages wait on the control socket for the program to read.
	Messages [][]byte
	// Command is there for a program that may have children. See Command.
	Command *Command
}

// Command asks for a place in which a command can be executed (Process.Execute):
// the first child of an init, in the streams of its caller. With it goes
// everything that it has started. The Spec's program is not used.
type Command struct {
	// Join puts the child into a group before it does anything; Groups are
	// descriptors of files that it writes itself into. Both may be nil.
	Join   func(pid int) error
	Groups []int
	// CgroupNamespace asks for one that begins with these groups. The plan's own
	// would begin with the Runner's.
	CgroupNamespace bool
	// Streams are descriptors of ours for its standard streams.
	Streams [3]int
	// Terminal says that Streams are a terminal, which is to be its own. With
	// NewTerminal, they are replaced by one that is made inside, and has a name
	// there; our end comes with the Handles.
	Terminal, NewTerminal bool
	// Dir is where it starts.
	Dir    string
	Limits []Limit
	// Init is the descriptor of the init's program, see OpenInit.
	Init int
	// Kept are descriptors that the command has too, from FirstKeptFD on: a few.
	Kept []int
	// Scratch is where its /tmp lies while the place is built.
	Scratch string
	// Landlock and Filter are installed last of the walls.
	Landlock landlock.Ruleset
	Filter   []byte
	// ProxyPort asks for a listening socket on its loopback.
	ProxyPort int
	// Owners makes files on a mount with MapOwner belong to the guest.
	Owners *OwnerMaps
}

// Limit is one of setrlimit(2), soft and hard.
type Limit struct {
	Resource int
	Value    uint64
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

	// FirstKeptFD is the first descriptor that a command has beside its streams.
	FirstKeptFD = initControlFD + 1
	// initControlFD is where the init of a command has the socket.
	initControlFD = 3
	// initFD and firstGiftFD are used while the place of a command is built.
	initFD      = 1021
	firstGiftFD = 1015
	// What a child inherits has none of the numbers that it will give others: not
	// those below the first, and not those from the first to the last reserved.
	maxKept                     = 4
	firstInherited              = FirstKeptFD + maxKept
	firstReserved, lastReserved = firstGiftFD, PIDNSFD
)

// SetupError is a step that failed before anything ran.
type SetupError struct {
	Step  string
	Cause string
	// Errno is what the kernel said; 0 if it was not asked.
	Errno syscall.Errno
	// Namespace says that the host refused a namespace or a mount, so that a
	// plan without namespaces may still work.
	Namespace bool
}

func (e *SetupError) Error() string { return fmt.Sprintf("%s: %s", e.Step, e.Cause) }
