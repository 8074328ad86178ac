package policy

import "slices"

// Wall names one mechanism that stands between a guest and its host.
type Wall string

// The walls of the Linux tiers.
const (
	WallNoNewPrivs   Wall = "no_new_privs" // exec can gain nothing
	WallCapabilities Wall = "capabilities" // none held, none to be had
	WallUID          Wall = "uid"          // never uid 0 in the host's eyes
	WallUser         Wall = "userns"       // a user namespace of its own
	WallMount        Wall = "mount"        // a root built from nothing, a private /tmp
	WallPID          Wall = "pid"          // sees and signals nobody else
	WallNet          Wall = "net"          // no interface that is up
	WallIPC          Wall = "ipc"          // no shared System V or POSIX queues
	WallUTS          Wall = "uts"          // a host name of its own
	WallCgroupNS     Wall = "cgroupns"     // no sight of the cgroup tree
	WallLandlock     Wall = "landlock"     // paths, TCP, signals and abstract sockets by the LSM
	WallSeccomp      Wall = "seccomp"      // an allowlist of system calls
	WallRlimit       Wall = "rlimit"       // per-process limits
	WallCgroup       Wall = "cgroup"       // memory by what is really used
	WallEnvironment  Wall = "environment"  // a built environment, no inherited descriptors
)

// WallLanguage is inside of the interpreter: rules for what a script may say.
// Unlike the others it is not there by itself. A request asks for it, or a
// policy requires it of all.
const WallLanguage Wall = "language"

// Two walls stand before and beside the kernel's: what a command line says is
// looked at before it starts, and a proxy of the Runner's decides about each
// connection of a guest that may have some.
const (
	WallCommand Wall = "command" // interpreters, paths outside of the workspace
	WallEgress  Wall = "egress"  // where the network may be reached
)

// The walls of other systems. Each of them is there on its own system alone, and
// nothing is required of a host that it cannot have: see docs/architecture.md.
const (
	WallSeatbelt     Wall = "seatbelt"      // macOS: files, network and programs by a profile
	WallJobObject    Wall = "job_object"    // Windows: memory, time and processes of a job, ended as one
	WallToken        Wall = "token"         // Windows: a token without privileges, at low integrity
	WallAppContainer Wall = "app_container" // Windows: files and network by an identity of its own
)

// WallWasm is that of a guest inside of the Runner's process: its code is translated so
// that it reaches its own memory and the functions it was given, and nothing else.
const WallWasm Wall = "wasm"

// Two needs can be met by any of several walls.
const (
	WallFilesystem Wall = "filesystem" // mount or landlock; seatbelt; app_container
	WallNetwork    Wall = "network"    // net, or no sockets by seccomp; seatbelt; app_container
)

// Walls lists the mechanisms of Linux in the order in which reports show them.
func Walls() []Wall {
	return []Wall{
		WallNoNewPrivs, WallCapabilities, WallUID, WallUser, WallMount, WallPID, WallNet, WallIPC,
		WallUTS, WallCgroupNS, WallLandlock, WallSeccomp, WallRlimit, WallCgroup, WallEnvironment,
	}
}

// OtherWalls lists those that are not Linux's. Reports show them after Walls.
func OtherWalls() []Wall {
	return []Wall{WallSeatbelt, WallJobObject, WallToken, WallAppContainer, WallLanguage, WallCommand, WallEgress, WallWasm}
}

// Alternatives lists the walls of Linux of which one is enough to meet w.
func (w Wall) Alternatives() []Wall {
	switch w {
	case WallFilesystem:
		return []Wall{WallMount, WallLandlock}
	case WallNetwork:
		return []Wall{WallNet, WallSeccomp}
	}
	return []Wall{w}
}

// Known reports whether w names a wall or a need.
func (w Wall) Known() bool {
	return w == WallFilesystem || w == WallNetwork || w == WallLanguage || slices.Contains(Walls(), w)
}

// DefaultRequired is what must hold, or nothing runs. It gives a new list each
// time, as every function of its kind here: code elsewhere in a program cannot
// change what the others get.
func DefaultRequired() []Wall {
	return []Wall{
		WallNoNewPrivs, WallCapabilities, WallUID, WallFilesystem, WallNetwork,
		WallSeccomp, WallRlimit, WallEnvironment,
	}
}
