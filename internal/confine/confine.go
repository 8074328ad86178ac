// Package confine confines a process on Linux.
//
// A pure function makes a plan (plan.go) from the policy and the host's features. The
// plan is turned into a list of system calls (walls_linux.go): one straight line that
// builds a root from nothing, gives up privileges, and ends by executing a program. Start
// (start_linux.go) clones this process into the planned namespaces, where the child
// (child_unsafe.go) makes those calls and nothing else. If one fails, nothing has run, and
// a SetupError names the step.
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
	// Messages returns what is put on the control socket for the program to read; nil means
	// nothing. It is called while the kernel clones the child, and must not start a process.
	Messages func() ([][]byte, error)
	// Command is set for a program that may have children. See Command.
	Command *Command
}

// Command asks for a sandbox in which a command can be executed (Process.Execute), as the
// first child of an init, with its caller's streams. When the command ends, everything
// that it started ends too. The Spec's program is not used.
type Command struct {
	// Join puts the child into a cgroup before it does anything else; Groups are
	// descriptors of cgroup files to which the child writes itself. Both may be nil.
	Join   func(pid int) error
	Groups []int
	// CgroupNamespace asks for a namespace that begins at these groups. The plan's own
	// would begin at the Runner's.
	CgroupNamespace bool
	// Streams are our descriptors for its standard streams.
	Streams [3]int
	// Terminal says that Streams are a terminal, which becomes its controlling terminal.
	// With NewTerminal they are replaced by one that is made inside the sandbox, where
	// it has a name; our end is in Handles.
	Terminal, NewTerminal bool
	// Dir is its working directory.
	Dir    string
	Limits []Limit
	// Init is the descriptor of the init's program, see OpenInit.
	Init int
	// Kept are a few descriptors that the command inherits, from FirstKeptFD on.
	Kept []int
	// Scratch is where its /tmp is while the sandbox is built. With MakeScratch the child
	// makes that directory.
	Scratch     string
	MakeScratch bool
	// Landlock and Filter are the last walls. Extra is a filter in addition, without a
	// listener; nil means none.
	Landlock      landlock.Ruleset
	Filter, Extra []byte
	// ProxyPort asks for a listening socket on its loopback.
	ProxyPort int
	// Owners makes the files on a mount with MapOwner belong to the guest.
	Owners *OwnerMaps
}

// Limit is a soft and hard limit for setrlimit(2).
type Limit struct {
	Resource int
	Value    uint64
}

// Descriptors of the executed program. They are above every number that a guest may open,
// so that the system call filter can recognize them by number.
const (
	// ControlFD is the socket to the Runner.
	ControlFD = 1020
	// MountNSFD and PIDNSFD are the namespaces to which the fork server returns after
	// each fork.
	MountNSFD = 1021
	PIDNSFD   = 1022
	// descriptorLimit makes room for them.
	descriptorLimit = 1024

	// FirstKeptFD is the first descriptor that a command has besides its streams.
	FirstKeptFD = initControlFD + 1
	// initControlFD is the control socket of a command's init. An init without a pid
	// namespace also has the Landlock ruleset of the command.
	initControlFD = 3
	rulesetFD     = initControlFD + 1
	// NestedControlFD is that of an init that another program starts: see ControlNested.
	NestedControlFD = initControlFD
	// initFD and firstGiftFD are used while the sandbox of a command is built.
	initFD      = 1021
	firstGiftFD = 1015
	// lateFD is used for what becomes rulesetFD.
	lateFD = 1018
	// Inherited descriptors must not have the numbers that the child assigns: not those
	// below the first, and not those from the first to the last reserved.
	maxKept                     = 4
	firstInherited              = FirstKeptFD + maxKept
	firstReserved, lastReserved = firstGiftFD, PIDNSFD
)

// SetupError names a step that failed before anything ran.
type SetupError struct {
	Step  string
	Cause string
	// Errno is the kernel's error; 0 if it was not a system call.
	Errno syscall.Errno
	// Namespace says that the host refused a namespace or a mount, so that a plan
	// without namespaces may still work.
	Namespace bool
}

func (e *SetupError) Error() string { return fmt.Sprintf("%s: %s", e.Step, e.Cause) }
