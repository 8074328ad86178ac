package process

import (
	"fmt"
	"path"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/confine"
	"github.com/cordon-sandbox/cordon/internal/output"
	"github.com/cordon-sandbox/cordon/internal/report"
	"github.com/cordon-sandbox/cordon/internal/zygote"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// evidence is all that is known about a run that is over.
type evidence struct {
	zygote.Ending
	Limits policy.Limits
	// Restricted says that the language rules were in force.
	Restricted bool
	OOMKills   int
	Plan       confine.Plan
}

// judge draws the conclusion. It is pure: the same evidence gives the same
// Result. What the host saw goes before what the guest says.
func judge(e evidence) (run.Result, error) {
	r := output.Result(e.Stdout, e.Stderr)
	r.Usage.WallTime, r.Usage.CPUTime, r.Usage.Memory = policy.Duration(e.WallTime), policy.Duration(e.CPUTime), e.Memory
	r.Violations = e.Violations
	switch {
	case e.Orphaned && e.Report == nil && e.Killed == "":
		return run.Result{}, run.Errorf(run.Internal, "the fork server died while the guest ran")
	case e.Killed == zygote.KilledOutput:
		end(&r, run.OutOfOutput, "SIGKILL", fmt.Sprintf("output limit of %v reached", e.Limits.Output))
	case e.Report == nil && (e.outOfMemory(&r) || e.killed(&r) || e.died(&r)):
	case e.Malformed != nil:
		report.Malformed(&r, e.Malformed, e.Limits)
	default:
		e.explain(&r, report.Read(&r, e.Report, report.Run{Limits: e.Limits, Restricted: e.Restricted}))
	}
	r.Status, r.ErrorType = r.Outcome.Status(), r.Outcome.ErrorType()
	return r, nil
}

func end(r *run.Result, o run.Outcome, signal, message string) {
	r.Outcome, r.Signal, r.Error = o, signal, message
}

// outOfMemory goes before everything else that ended the guest: what the cgroup counted
// is certain, and to free the memory takes so long that other clocks run out.
func (e evidence) outOfMemory(r *run.Result) bool {
	if e.OOMKills == 0 || e.Exit == nil {
		return false
	}
	end(r, run.OutOfMemory, e.Exit.Signal, fmt.Sprintf("memory limit of %v reached", e.Limits.Memory))
	return true
}

// killed: the guest is dead because we wanted it so.
func (e evidence) killed(r *run.Result) bool {
	if e.Killed == zygote.KilledChannel && e.Exit != nil && e.Exit.Signal != "SIGKILL" {
		return false // it was faster, and ended by itself
	}
	switch e.Killed {
	case zygote.KilledWall:
		end(r, run.TimedOut, "SIGKILL", fmt.Sprintf("timed out: wall time limit of %v reached", e.Limits.WallTime))
	case zygote.KilledCPU:
		end(r, run.OutOfCPU, "SIGKILL", fmt.Sprintf("CPU time limit of %v reached", e.Limits.CPUTime))
	case zygote.KilledCanceled:
		end(r, run.Canceled, "SIGKILL", "the caller canceled the run")
	case zygote.KilledHammering:
		end(r, run.Denied, "SIGKILL", "the guest kept trying what the sandbox denies")
	case zygote.KilledChannel:
		end(r, run.InvalidOutput, "SIGKILL", "the guest closed its result channel")
	default:
		return false
	}
	return true
}

// died: the guest's process ended by itself, without a report.
func (e evidence) died(r *run.Result) bool {
	switch exit := e.Exit; {
	case exit == nil:
		return false
	case (exit.Signal == "SIGXCPU" || exit.Signal == "SIGKILL") && e.CPUTime >= e.Limits.CPUTime.Std():
		end(r, run.OutOfCPU, exit.Signal, fmt.Sprintf("CPU time limit of %v reached", e.Limits.CPUTime))
	case exit.Signal == "SIGSYS":
		// The filter kills for one thing only, but nothing tells its signal from
		// one that the guest has sent itself.
		end(r, run.Signaled, exit.Signal, "the guest was ended by SIGSYS, as programs are that make system calls through a foreign ABI")
	case exit.Signal != "":
		end(r, run.Signaled, exit.Signal, "the guest crashed with "+exit.Signal)
	case exit.Code == 0 && e.Malformed != nil:
		return false
	case exit.Code == 0:
		r.Outcome, r.ExitCode = run.Succeeded, &exit.Code
	default:
		end(r, run.Exited, "", fmt.Sprintf("the guest left with exit code %d", exit.Code))
		r.ExitCode = &exit.Code
	}
	return true
}

// explain connects an exception with the wall behind it: the filter's denial
// gets its line, and a path that does not exist behind the walls is named.
func (e evidence) explain(r *run.Result, cause report.OSError) {
	const eperm, enoent, eacces, erofs = 1, 2, 13, 30
	if n := len(r.Violations); n > 0 && cause.Errno == eperm {
		r.Violations[n-1].Line = r.Exception.Line
		return
	}
	if !path.IsAbs(cause.Filename) || e.visible(cause.Filename) && cause.Errno != erofs {
		return
	}
	wall := policy.WallMount
	if e.Plan.Root == nil {
		wall = policy.WallLandlock
	}
	v := run.Violation{Wall: wall, Op: "open", Detail: cause.Filename, Claimed: true, Line: r.Exception.Line, Count: 1}
	switch cause.Errno {
	case enoent, eacces, eperm:
		v.Hint = "the guest can use only " + e.places() + "; grant the path with `read:` in the policy, or pass the data in as input"
	case erofs:
		v.Hint = "only " + confine.Scratch + " can be written to, and it is gone after the run: return the data in result instead"
	default:
		return
	}
	r.Violations = append(r.Violations, v)
}

// places are the files of a guest, in words.
func (e evidence) places() string {
	if e.Plan.Root == nil {
		return "the interpreter's files, to read, and has no " + confine.Scratch + " on this host"
	}
	return "the interpreter's files, to read, and its own " + confine.Scratch
}

func (e evidence) visible(filename string) bool {
	clean := path.Clean(filename)
	roots := e.Plan.Readable
	if e.Plan.Root != nil {
		roots = append([]string{confine.Scratch, "/dev"}, roots...)
	}
	for _, root := range roots {
		if clean == root || strings.HasPrefix(clean, root+"/") {
			return true
		}
	}
	return false
}
