package seccomp

// Profile names the guests that a filter is for. There is no default: the zero value has
// no rules and no program.
type Profile string

const (
	// Script is for untrusted CPython: threads, files and time, but no other
	// process and no socket.
	Script Profile = "script"
	// Command is for any program, in namespaces of its own: processes and
	// sockets, but nothing that changes the namespaces or that the host's kernel
	// shares between them. It relies on a private root, on pid, net, ipc, uts and
	// cgroup namespaces, and on having no capabilities.
	Command Profile = "command"
	// Watched is Command without the kinds of memory that only a memory cgroup
	// counts.
	Watched Profile = "watched"
)

// Profiles are all profiles.
func Profiles() []Profile { return []Profile{Script, Command, Watched} }

// RulesOf is the allowlist of a profile: whatever it does not name is denied.
// An unknown profile has no rules, so that everything is.
func RulesOf(profile Profile) []Group {
	switch profile {
	case Script:
		return scriptRules()
	case Command:
		return commandRules(true)
	case Watched:
		return commandRules(false)
	}
	return nil
}

// Hot are the calls with conditions that guests of a profile make most, hottest
// first; the compiler tests for them before it searches. Calls without
// conditions need no help: since 5.11 the kernel remembers that a number is
// always allowed and does not run the program.
func Hot(profile Profile) []string {
	switch profile {
	case Script:
		return []string{"ioctl", "fcntl", "kill"}
	case Command, Watched:
		return []string{"openat", "ioctl", "fcntl"}
	}
	return nil
}
