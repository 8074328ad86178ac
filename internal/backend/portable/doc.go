// Package portable is the common part of the tiers `process` and `jail` on systems other
// than Linux: one process for each run, behind the walls of a [launch.Launcher].
//
// For each run it checks the request (scripts.go, commands.go), makes a private directory
// (scratch.go), starts and watches the process (guest.go, watch.go), and makes a Result
// from the evidence (judge.go). A script uses the protocol of python/guest.py.
//
// A hook has a process that compiles it once and serves its calls (hooks.go); calls.go
// separates the output of one call from that of the next.
//
// Interpreters may be started ahead of scripts (waiting.go), which only gVisor's sandboxes need.
// It has no terminals or reports of what the walls denied. RATIONALE.md says why.
package portable

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/hook"
	"github.com/cordon-sandbox/cordon/internal/hostpath"
	"github.com/cordon-sandbox/cordon/internal/launch"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Options configure a tier.
type Options struct {
	Policy policy.Policy
	// Guests are the directories that guests may write to: no interpreter is taken from
	// there.
	Guests hostpath.Guests
	// Launcher starts processes behind the system's walls.
	Launcher launch.Launcher
	// Tier is that of the scripts; empty means `process`.
	Tier policy.Tier
	// Scratch is the private directory of each process, if the launcher makes it and limits
	// its size; empty means that it is made on the host.
	Scratch string
	// Filter is a system call filter that the interpreter installs when it is ready; nil means
	// none. It must let the interpreter of package script do its work.
	Filter []byte
	// AddressSpace says that the interpreter limits its address space to what it has when it
	// is ready and the memory limit: nothing else limits its memory at once. It needs a Filter.
	AddressSpace bool
	// Load is the Runner's; nil means that this is its only tier.
	Load *backend.Load
	// OwnNetwork says that the launcher's processes are launch.Networked.
	OwnNetwork bool
	// Waiting says how interpreters are started ahead of scripts; nil means that none is. It
	// needs a Scratch.
	Waiting *Waiting
	// Ahead bounds the processes that are started ahead of the calls of hooks; nil means
	// one for each hook.
	Ahead *hook.Ahead
}

// needs are the walls that every system must have, unless the policy only prefers them.
// The others of policy.DefaultRequired are mechanisms of Linux.
var needs = []policy.Wall{policy.WallFilesystem, policy.WallNetwork, policy.WallRlimit, policy.WallEnvironment}

// meets lists the walls that each meet a need.
func meets(need policy.Wall) []policy.Wall {
	if need == policy.WallFilesystem || need == policy.WallNetwork {
		return []policy.Wall{policy.WallSeatbelt, policy.WallAppContainer}
	}
	return []policy.Wall{need}
}

// Unmet lists what a policy requires and none of these walls provides, with the reasons.
func Unmet(p policy.Policy, walls map[policy.Wall]policy.WallStatus) (unmet []policy.Wall, reasons []string) {
	for _, need := range required(p) {
		enough := meets(need)
		if slices.ContainsFunc(enough, func(w policy.Wall) bool { return walls[w].Enforced() }) {
			continue
		}
		why := "there is no such wall on " + runtime.GOOS
		for _, w := range enough {
			if status, known := walls[w]; known && w == need {
				why = status.Detail
			} else if known {
				why = fmt.Sprintf("%s: %s", w, status.Detail)
			}
		}
		unmet, reasons = append(unmet, need), append(reasons, fmt.Sprintf("%s (%s)", need, why))
	}
	return unmet, reasons
}

// required lists what a policy requires. The walls that every policy requires by default
// are those of Linux; needs replaces them. Walls that a policy names beyond these are
// refused if the system does not have them.
func required(p policy.Policy) []policy.Wall {
	all := slices.DeleteFunc(slices.Clone(needs), func(w policy.Wall) bool { return slices.Contains(p.Prefer, w) })
	for _, w := range p.Require {
		if w != policy.WallLanguage && !slices.Contains(policy.DefaultRequired(), w) && !slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	return all
}

// Requires reports whether a policy needs this wall, or one that does the same.
func Requires(p policy.Policy, wall policy.Wall) bool {
	return slices.ContainsFunc(required(p), func(need policy.Wall) bool { return slices.Contains(meets(need), wall) })
}

// refuse returns an error if a required wall is missing, or a rule cannot be applied.
func refuse(p policy.Policy, walls map[policy.Wall]policy.WallStatus) error {
	if len(p.ModuleRules) > 0 {
		return run.Errorf(run.Unsupported, "module_rules need Linux, and this is %s: use a policy without them, or a Linux virtual machine", runtime.GOOS)
	}
	_, lines := Unmet(p, walls)
	if len(lines) == 0 {
		return nil
	}
	return run.Errorf(run.Unsupported, "this host cannot give a wall that the policy requires: %s; "+
		"a Linux virtual machine can, or tier wasm for Python and modules", strings.Join(lines, "; "))
}

// refuseJob refuses what works on Linux only.
func refuseJob(job backend.Job) error {
	if job.Streams.Terminal != nil {
		return run.Errorf(run.Unsupported, "a command has no terminal of its own on %s: give it pipes (--no-terminal)", runtime.GOOS)
	}
	return nil
}
