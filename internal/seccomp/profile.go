package seccomp

// Profile is the kind of guest that a filter is for. The zero value has no rules and no
// program.
type Profile string

const (
	// Script is for untrusted CPython: threads, files and time, but no processes and
	// no sockets.
	Script Profile = "script"
	// Networked is Script with TCP connections. It relies on a network in which nothing
	// but the Runner's proxy can be reached.
	Networked Profile = "networked"
	// Command is for any program in its own namespaces: processes and sockets, but
	// nothing that changes namespaces or that the kernel shares between them. It
	// relies on a private root, on pid, net, ipc, uts and cgroup namespaces, and on
	// having no capabilities.
	Command Profile = "command"
	// Watched is Command without the kinds of memory that only a memory cgroup can
	// count.
	Watched Profile = "watched"
	// Shared is for commands without namespaces. It relies on Landlock, and on the
	// Runner, which answers the calls with the action Ask.
	Shared Profile = "shared"
	// Unscoped is Shared where Landlock does not restrict signals.
	Unscoped Profile = "unscoped"
	// GVisor is for gVisor's program runsc around a guest of its own. It relies on what
	// Command relies on.
	GVisor Profile = "gvisor"
)

// Profiles lists all profiles.
func Profiles() []Profile {
	return []Profile{Script, Networked, Command, Watched, Shared, Unscoped, GVisor}
}

// RulesOf returns the allowlist of a profile. Calls that it does not name are denied. An
// unknown profile has no rules, so every call is denied.
func RulesOf(profile Profile) []Group {
	switch profile {
	case Script:
		return scriptRules()
	case Networked:
		return networkedRules()
	case Command:
		return commandRules(true)
	case Watched:
		return commandRules(false)
	case Shared:
		return sharedRules(true)
	case Unscoped:
		return sharedRules(false)
	case GVisor:
		return gvisorRules()
	}
	return nil
}

// Hot lists the calls with conditions that guests of a profile make most, the most
// frequent first. The compiler tests for them before its search. Calls without
// conditions need no help: since 5.11 the kernel caches that a number is always allowed
// and does not run the program.
func Hot(profile Profile) []string {
	switch profile {
	case Script, Networked:
		return []string{"ioctl", "fcntl", "kill"}
	case Command, Watched, Shared, Unscoped, GVisor:
		return []string{"openat", "ioctl", "fcntl"}
	}
	return nil
}
