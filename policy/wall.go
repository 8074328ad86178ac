package policy

import "slices"

// Wall names a mechanism that isolates a guest from its host.
type Wall string

// The walls of the Linux tiers.
const (
	WallNoNewPrivs   Wall = "no_new_privs" // exec gains no privileges
	WallCapabilities Wall = "capabilities" // none held, none to gain
	WallUID          Wall = "uid"          // not uid 0 on the host
	WallUser         Wall = "userns"       // its own user namespace
	WallMount        Wall = "mount"        // a new root with only the granted files, a private /tmp
	WallPID          Wall = "pid"          // sees and signals no other process
	WallNet          Wall = "net"          // no interface that is up
	WallIPC          Wall = "ipc"          // no shared System V or POSIX queues
	WallUTS          Wall = "uts"          // its own host name
	WallCgroupNS     Wall = "cgroupns"     // the host's cgroup tree is not visible
	WallLandlock     Wall = "landlock"     // paths, TCP, signals and abstract sockets by the LSM
	WallSeccomp      Wall = "seccomp"      // an allowlist of system calls
	WallRlimit       Wall = "rlimit"       // per-process limits
	WallCgroup       Wall = "cgroup"       // memory, counted as it is used
	WallEnvironment  Wall = "environment"  // new environment variables, no inherited descriptors
)

// WallLanguage is inside the interpreter: rules for the code of a script. Unlike the
// other walls it is off by default. A request asks for it, or a policy requires it for
// all scripts.
const WallLanguage Wall = "language"

// Two walls add to the kernel's: the arguments of a command are checked before it
// starts, and a proxy in the Runner decides about each connection of a guest that may
// use the network.
const (
	WallCommand Wall = "command" // interpreters, paths outside the workspace
	WallEgress  Wall = "egress"  // destinations on the network
)

// The walls of other systems. Each exists on its own system only, and a host is not
// required to have a wall of another system: see docs/architecture.md.
const (
	WallSeatbelt     Wall = "seatbelt"      // macOS: files, network and programs by a profile
	WallJobObject    Wall = "job_object"    // Windows: memory, time and processes of a job, killed together
	WallToken        Wall = "token"         // Windows: a token without privileges, at low integrity
	WallAppContainer Wall = "app_container" // Windows: files and network by a separate identity
)

// WallWasm isolates a guest inside the Runner's process: its code is compiled so that
// it can access only its own memory and the functions it was given.
const WallWasm Wall = "wasm"

// WallGVisor is a kernel in user space: the guest's system calls do not reach the host's.
const WallGVisor Wall = "gvisor"

// Two needs, each of which any of several walls can meet.
const (
	WallFilesystem Wall = "filesystem" // mount or landlock; seatbelt; app_container
	WallNetwork    Wall = "network"    // net, or a seccomp filter without sockets; seatbelt; app_container
)

// Walls lists the walls of Linux in the order in which reports show them.
func Walls() []Wall {
	return []Wall{
		WallNoNewPrivs, WallCapabilities, WallUID, WallUser, WallMount, WallPID, WallNet, WallIPC,
		WallUTS, WallCgroupNS, WallLandlock, WallSeccomp, WallRlimit, WallCgroup, WallEnvironment,
	}
}

// OtherWalls lists the walls that are not of Linux's kernel. Reports show them after Walls.
func OtherWalls() []Wall {
	return []Wall{WallSeatbelt, WallJobObject, WallToken, WallAppContainer, WallLanguage, WallCommand, WallEgress, WallWasm, WallGVisor}
}

// Alternatives lists the walls of Linux, any one of which meets w.
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

// DefaultRequired lists the walls and needs without which nothing runs. It returns a
// new list each time, so that a caller cannot change it for the others.
func DefaultRequired() []Wall {
	return []Wall{
		WallNoNewPrivs, WallCapabilities, WallUID, WallFilesystem, WallNetwork,
		WallSeccomp, WallRlimit, WallEnvironment,
	}
}
