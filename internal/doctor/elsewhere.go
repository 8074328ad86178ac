package doctor

import (
	"github.com/cordon-sandbox/cordon/internal/backend/portable"
	"github.com/cordon-sandbox/cordon/policy"
)

// linux is the system whose walls no other system has.
const linux = "linux"

// wallNames lists the walls of a system, in the order in which they are shown.
func wallNames(system string) []policy.Wall {
	switch system {
	case linux:
		return policy.Walls()
	case "darwin":
		return []policy.Wall{policy.WallSeatbelt, policy.WallPID, policy.WallRlimit, policy.WallEnvironment}
	case "windows":
		return []policy.Wall{policy.WallJobObject, policy.WallToken, policy.WallAppContainer, policy.WallRlimit, policy.WallEnvironment}
	}
	return nil
}

// otherWalls is walls for systems other than Linux, from the report of a launcher.
func otherWalls(system string, statuses map[policy.Wall]policy.WallStatus, p policy.Policy) []Wall {
	var all []Wall
	for _, name := range wallNames(system) {
		w := Wall{Name: name, Required: portable.Requires(p, name)}
		switch status, known := statuses[name]; {
		case !known:
		case status.Enforced():
			w.State, w.Detail = Enforced, status.Detail
		default:
			w.State, w.Reason = Missing, status.Detail
		}
		all = append(all, w)
	}
	return all
}

// unmetElsewhere is unmet for systems other than Linux.
func (r Report) unmetElsewhere(p policy.Policy) []string {
	statuses := map[policy.Wall]policy.WallStatus{}
	for _, w := range r.Walls {
		if w.State == Enforced {
			statuses[w.Name] = policy.EnforcedWall("")
		}
	}
	unmet, _ := portable.Unmet(p.Resolved(), statuses)
	names := make([]string, len(unmet))
	for i, w := range unmet {
		names[i] = string(w)
	}
	return names
}

// notes are facts about a system's walls that users should know in advance.
func notes(system string) []string {
	const refused = "third-party code is refused here, and commands have no terminal"
	switch system {
	case "darwin":
		return []string{
			"cordon on macOS is experimental: it has fewer walls than on Linux, and no Mac has run its tests",
			"these walls are Seatbelt's, from /usr/bin/sandbox-exec, which Apple calls deprecated: it still works, and cordon refuses to run if an update of macOS removes it",
			"system calls are not filtered here; memory and processes are watched 50 times a second, not limited",
			refused,
			"for all of cordon's walls use a Linux virtual machine: limactl start --name cordon deploy/lima.yaml, then limactl shell cordon cordon doctor (docs/macos.md)",
		}
	case "windows":
		return []string{
			"cordon on Windows is experimental: it has fewer walls than on Linux, and no Windows has run its tests",
			"system calls are not filtered here, and hosts cannot be allowed by name",
			"grants stay in the access list of their directory, for later runs with the same grants (docs/windows.md)",
			refused,
			"for all of cordon's walls use Linux in WSL 2 or in another virtual machine",
		}
	}
	return nil
}

// IdleCommand is a program that every host of a system has, and that does nothing.
func IdleCommand(system string) []string {
	if system == "windows" {
		return []string{"hostname"}
	}
	return []string{"true"}
}
