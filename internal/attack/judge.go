package attack

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// The states of a Verdict.
const (
	StateHeld    = "held"    // it tried, and gained nothing
	StateEscaped = "escaped" // it broke a promise
	StateBroken  = "broken"  // the attempt itself failed: it shows nothing
	StateSlow    = "slow"    // it ran out of time before it had tried everything: it shows nothing yet
	StateSkipped = "skipped" // this host has none of the walls, or lacks the target
)

// Verdict is what one attempt showed.
type Verdict struct {
	Attempt Attempt
	State   string
	Detail  string
	// Absent names what the act needs and what does not exist there.
	Absent []string
	Result run.Result
}

// claim is what a script reports about itself.
type claim struct {
	Escaped *bool  `json:"escaped"`
	Detail  string `json:"detail"`
	// Missing names what the script needs and the host lacks.
	Missing string `json:"missing"`
	// Absent names what does not exist where the script ran.
	Absent []string `json:"absent"`
}

// graceWall is how much later than its wall limit a run may be reported on a
// busy machine before that counts as a limit that does not hold.
const graceWall = 3 * time.Second

// graceCPU allows for the kernel, which counts whole seconds.
const graceCPU = 2 * time.Second

// Judge decides from the evidence in this order: what the host saw, how the run ended, and
// what the script says. On a slow host, pace stretches the time that a limit may be late.
func Judge(a Attempt, res run.Result, err error, touched []string, pace Pace) Verdict {
	v := Verdict{Attempt: a, Result: res}
	say := func(state, format string, args ...any) Verdict {
		v.State, v.Detail = state, fmt.Sprintf(format, args...)
		return v
	}
	var said claim
	parsed := len(res.Value) > 0 && json.Unmarshal(res.Value, &said) == nil && said.Escaped != nil

	gained := append(slices.Clone(touched), beyondLimits(a.Limits, res, pace)...)
	if parsed && *said.Escaped {
		gained = append(gained, said.Detail)
	}
	// Nothing that the host saw, and no limit: only what the script says.
	if ownKernel := a.GVisor != "" && enforced(policy.WallGVisor, res.Enforcement); ownKernel && len(gained) == 1 && parsed && *said.Escaped {
		return say(StateHeld, "%s: %s", a.GVisor, said.Detail)
	}
	if len(gained) > 0 {
		if !anyEnforced(a.Walls, res.Enforcement) {
			return say(StateSkipped, "needs one of %s, and this host has none: %s", join(a.Walls), strings.Join(gained, "; "))
		}
		return say(StateEscaped, "%s", strings.Join(gained, "; "))
	}

	switch {
	case err != nil:
		return say(StateBroken, "cordon failed: %v", err)
	case res.Outcome == run.Denied:
		return say(StateHeld, "ended by a wall: %s", describe(res))
	case res.Outcome != run.Succeeded && a.expects(res):
		return say(StateHeld, "ended: %s", describe(res))
	case outOfTime(res.Outcome):
		return say(StateSlow, "ran out of time: %s", describe(res))
	case res.Outcome != run.Succeeded:
		return say(StateBroken, "ended unexpectedly: %s", describe(res))
	case !parsed && slices.Contains(a.Expect, run.Succeeded):
		return say(StateHeld, "finished")
	case !parsed:
		return say(StateBroken, "reported no verdict: %.200s", res.Value)
	case len(said.Absent) > 0:
		return judgeAbsent(v, said)
	case said.Missing == "scratch" && (enforced(policy.WallMount, res.Enforcement) || enforced(policy.WallWasm, res.Enforcement)):
		// A private /tmp comes with these walls: without it, all attempts that
		// start there would be "held" for the wrong reason.
		return say(StateBroken, "has no scratch space: %s", said.Detail)
	case said.Missing != "":
		return say(StateSkipped, "lacks %s: %s", said.Missing, said.Detail)
	case !slices.Contains(a.Expect, Held):
		return say(StateBroken, "finished, which was not expected: %s", said.Detail)
	}
	return say(StateHeld, "%s", said.Detail)
}

// expects reports whether the run may end as it did. On WebAssembly a trap counts as a
// signal.
func (a Attempt) expects(res run.Result) bool {
	trapped := res.Outcome == run.Trapped && enforced(policy.WallWasm, res.Enforcement)
	return slices.Contains(a.Expect, res.Outcome) || trapped && slices.Contains(a.Expect, run.Signaled)
}

// judgeAbsent accepts that something does not exist only on WebAssembly, and only for names
// in the attempt's header: anything else is a mistake in its script.
func judgeAbsent(v Verdict, said claim) Verdict {
	v.State, v.Detail = StateBroken, "reports as absent: "+strings.Join(said.Absent, ", ")
	unknown := slices.ContainsFunc(said.Absent, func(name string) bool { return !v.Attempt.mayBeAbsent(name) })
	if e := v.Result.Enforcement; unknown || e.Tier != policy.TierWasm || !enforced(policy.WallWasm, e) {
		return v
	}
	v.State, v.Detail, v.Absent = StateHeld, said.Detail, said.Absent
	return v
}

// beyondLimits compares a run's usage and output with the limits that the attempt set;
// the policy's limits are not known here.
func beyondLimits(l policy.Limits, res run.Result, pace Pace) []string {
	var beyond []string
	for _, out := range []struct{ name, text string }{{"stdout", res.Stdout}, {"stderr", res.Stderr}} {
		if l.Output > 0 && policy.Bytes(len(out.text)) > l.Output {
			beyond = append(beyond, fmt.Sprintf("%s of %d bytes exceeds the limit of %v", out.name, len(out.text), l.Output))
		}
	}
	if l.WallTime > 0 && res.Usage.WallTime > l.WallTime+pace.stretch(graceWall) {
		beyond = append(beyond, fmt.Sprintf("ran for %v with a wall limit of %v", res.Usage.WallTime, l.WallTime))
	}
	if l.CPUTime > 0 && res.Usage.CPUTime > l.CPUTime+pace.stretch(graceCPU) {
		beyond = append(beyond, fmt.Sprintf("used %v of CPU time with a limit of %v", res.Usage.CPUTime, l.CPUTime))
	}
	return beyond
}

// anyEnforced reports whether one of walls stands. It is true for a Result without
// enforcement, and for WebAssembly, whose single wall has to hold everything.
func anyEnforced(walls []policy.Wall, e run.Enforcement) bool {
	return len(e.Walls) == 0 || enforced(policy.WallWasm, e) || slices.ContainsFunc(walls, func(w policy.Wall) bool { return enforced(w, e) })
}

func enforced(w policy.Wall, e run.Enforcement) bool {
	return e.Walls[w].Enforced()
}

func describe(res run.Result) string {
	text := string(res.Outcome)
	if res.Signal != "" {
		text += " by " + res.Signal
	}
	if res.Exception != nil {
		text += fmt.Sprintf(": %s: %s (line %d)", res.Exception.Type, res.Exception.Message, res.Exception.Line)
	} else if res.Error != "" {
		text += ": " + res.Error
	}
	return text
}

func join(walls []policy.Wall) string {
	names := make([]string, len(walls))
	for i, w := range walls {
		names[i] = string(w)
	}
	return strings.Join(names, ", ")
}
