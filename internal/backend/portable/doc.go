// Package portable is what the tiers `process` and `jail` have in common on systems
// without Linux's walls: one process a run, behind the walls of a [launch.Launcher].
//
// The road of a run: the request is looked at (scripts.go, commands.go), a private
// folder is made (scratch.go), the process is started and watched (guest.go, watch.go),
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
	"github.com/cordon-sandbox/cordon/internal/launch"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Options say how a tier is run.
type Options struct {
	Policy policy.Policy
	// Launcher is the system's.
	Launcher launch.Launcher
	// Concurrent bounds the runs under way, and Queue those that wait.
	Concurrent, Queue int
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

// Unmet lists what a policy, as its author wrote it, requires and none of these walls
// gives, with the reasons.
func Unmet(p policy.Policy, walls map[policy.Wall]string) (unmet []policy.Wall, reasons []string) {
	for _, need := range required(p) {
		enough := meets(need)
		if slices.ContainsFunc(enough, func(w policy.Wall) bool { return Stands(walls[w]) }) {
			continue
		}
		why := fmt.Sprintf("it does not exist on %s", runtime.GOOS)
		for _, w := range enough {
			if text, known := walls[w]; known {
				why = strings.TrimPrefix(fmt.Sprintf("%s: %s", w, strings.TrimPrefix(text, "missing: ")), string(need)+": ")
			}
		}
		unmet, reasons = append(unmet, need), append(reasons, fmt.Sprintf("%s (%s)", need, why))
	}
	return unmet, reasons
}

// required lists what must hold: what a policy names itself is required everywhere, and
// refused where there is no such thing. The defaults, all of them spelled out as presets
// have them, are still the defaults.
func required(p policy.Policy) []policy.Wall {
	all := slices.DeleteFunc(slices.Clone(needs), func(w policy.Wall) bool { return slices.Contains(p.Prefer, w) })
	defaults := (policy.Policy{Prefer: p.Prefer}).Required()
	spelled := !slices.ContainsFunc(defaults, func(w policy.Wall) bool { return !slices.Contains(p.Require, w) })
	for _, w := range p.Require {
		if slices.Contains(all, w) || spelled && slices.Contains(defaults, w) {
			continue
		}
		if w != policy.WallLanguage { // which no system lacks
			all = append(all, w)
		}
	}
	return all
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
