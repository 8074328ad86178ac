// Package portable is what the tiers `process` and `jail` have in common on systems
// without Linux's walls: one process a run, behind the walls of a [launch.Launcher].
//
// A run: the request is looked at (scripts.go, commands.go), a private
// directory is made (scratch.go), the process is started and watched (guest.go, watch.go),
// and from what was seen a Result is made (judge.go). A script speaks the protocol of
// python/guest.py.
//
// What it does not have: workers that wait, hooks, terminals, and a report of what the
// walls have denied. RATIONALE.md says why.
package portable

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/hostpath"
	"github.com/cordon-sandbox/cordon/internal/launch"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Options say how a tier is run.
type Options struct {
	Policy policy.Policy
	// Guests are where guests may write: no interpreter is taken from there.
	Guests hostpath.Guests
	// Launcher is the system's.
	Launcher launch.Launcher
	// Turns bounds the runs under way, and those that wait.
	Turns *backend.Turns
}

// needs are what must hold on every system, unless the policy prefers it. The others
// of policy.DefaultRequired are mechanisms of Linux alone.
var needs = []policy.Wall{policy.WallFilesystem, policy.WallNetwork, policy.WallRlimit, policy.WallEnvironment}

// meets lists the walls of which one is enough to meet a need.
func meets(need policy.Wall) []policy.Wall {
	if need == policy.WallFilesystem || need == policy.WallNetwork {
		return []policy.Wall{policy.WallSeatbelt, policy.WallAppContainer}
	}
	return []policy.Wall{need}
}

// Unmet lists what a policy requires and none of these walls gives, with the reasons.
func Unmet(p policy.Policy, walls map[policy.Wall]string) (unmet []policy.Wall, reasons []string) {
	for _, need := range required(p) {
		enough := meets(need)
		if slices.ContainsFunc(enough, func(w policy.Wall) bool { return Stands(walls[w]) }) {
			continue
		}
		why := "there is no such wall on " + runtime.GOOS
		for _, w := range enough {
			if text, known := walls[w]; known {
				why = strings.TrimPrefix(fmt.Sprintf("%s: %s", w, strings.TrimPrefix(text, "missing: ")), string(need)+": ")
			}
		}
		unmet, reasons = append(unmet, need), append(reasons, fmt.Sprintf("%s (%s)", need, why))
	}
	return unmet, reasons
}

// required lists what must hold under a policy. Walls that every policy requires unless
// it says otherwise are Linux's, and the needs stand for them; what a policy requires
// beyond is its author's wish, and is refused where there is no such thing.
func required(p policy.Policy) []policy.Wall {
	all := slices.DeleteFunc(slices.Clone(needs), func(w policy.Wall) bool { return slices.Contains(p.Prefer, w) })
	for _, w := range p.Require {
		if w != policy.WallLanguage && !slices.Contains(policy.DefaultRequired(), w) && !slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	return all
}

// Requires says whether a policy needs this wall, or one that does the same.
func Requires(p policy.Policy, wall policy.Wall) bool {
	return slices.ContainsFunc(required(p), func(need policy.Wall) bool { return slices.Contains(meets(need), wall) })
}

// refuse is the fail-closed step.
func refuse(p policy.Policy, walls map[policy.Wall]string) error {
	_, lines := Unmet(p, walls)
	if len(lines) == 0 {
		return nil
	}
	return run.Errorf(run.Unsupported, "this host cannot give a wall that the policy requires: %s; "+
		"a Linux virtual machine can, or tier wasm for Python and modules", strings.Join(lines, "; "))
}

// Stands says whether a wall does, by its words.
func Stands(words string) bool { return strings.HasPrefix(words, "enforced") }

// refuseJob refuses what only Linux has.
func refuseJob(job backend.Job) error {
	if job.Streams.Terminal != nil {
		return run.Errorf(run.Unsupported, "a command has no terminal of its own on %s: give it pipes (--no-terminal)", runtime.GOOS)
	}
	return nil
}
