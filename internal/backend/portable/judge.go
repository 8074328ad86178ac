package portable

import (
	"fmt"
	"time"

	"github.com/cordon-sandbox/cordon/internal/launch"
	"github.com/cordon-sandbox/cordon/internal/output"
	"github.com/cordon-sandbox/cordon/internal/report"
	"github.com/cordon-sandbox/cordon/internal/wire"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// evidence is all that is known about a run that is over.
type evidence struct {
	Command []string // nil for a script
	// Report is a script's own word, nil when it gave none; Malformed says what was
	// wrong with the bytes on its channel.
	Report    wire.Dict
	Malformed error
	// Killed is why we killed it; empty when we did not.
	Killed reason
	Exit   launch.Exit
	Limits policy.Limits
	// Restricted says that the language rules were in force.
	Restricted     bool
	Stdout, Stderr output.Capture
	WallTime       time.Duration
	CPUTime        time.Duration
	Memory         policy.Bytes
	Violations     []run.Violation
}

// judge draws the conclusion. It is pure: the same evidence gives the same Result. What
// the host saw goes before what the guest says.
func judge(e evidence) (run.Result, report.OSError) {
	r := output.Result(e.Stdout, e.Stderr)
	r.Usage.WallTime, r.Usage.CPUTime, r.Usage.Memory = policy.Duration(e.WallTime), policy.Duration(e.CPUTime), e.Memory
	r.Violations = e.Violations
	var cause report.OSError
	switch {
	case (e.Report == nil || e.Killed.written()) && e.killed(&r):
	case e.Malformed != nil:
		report.Malformed(&r, e.Malformed, e.Limits)
	case e.Report != nil:
		cause = report.Read(&r, e.Report, report.Run{Limits: e.Limits, Restricted: e.Restricted})
	default:
		e.ended(&r)
	}
	r.Status, r.ErrorType = r.Outcome.Status(), r.Outcome.ErrorType()
	return r, cause
}

// written: the reasons that count although a report came, since all that it says was
// written after too much was.
func (r reason) written() bool {
	return r == killedOutput || r == killedScratch || r == killedDisk || r == killedFiles
}

// who is the guest, in words.
func (e evidence) who() string {
	if e.Command != nil {
		return "command"
	}
	return "guest"
}

// killed: the guest is dead because we wanted it so.
func (e evidence) killed(r *run.Result) bool {
	end := func(o run.Outcome, format string, args ...any) {
		r.Outcome, r.Error, r.Signal = o, fmt.Sprintf(format, args...), e.Exit.Signal
	}
	switch e.Killed {
	case killedWall:
		end(run.TimedOut, "timed out: wall time limit of %v reached", e.Limits.WallTime)
	case killedCPU:
		end(run.OutOfCPU, "CPU time limit of %v reached", e.Limits.CPUTime)
	case killedMemory:
		end(run.OutOfMemory, "memory limit of %v reached", e.Limits.Memory)
	case killedProcs:
		end(run.OutOfProcs, "limit of %d processes reached", e.Limits.Processes)
	case killedOutput:
		end(run.OutOfOutput, "output limit of %v reached", e.Limits.Output)
	case killedScratch:
		end(run.OutOfDisk, "scratch limit of %v reached", e.Limits.Scratch)
	case killedFiles:
		end(run.OutOfDisk, "limit of %d new files reached", e.Limits.Files)
	case killedDisk:
		end(run.OutOfDisk, "disk limit of %v reached", e.Limits.Disk)
	case killedCanceled:
		end(run.Canceled, "the caller canceled the run")
	default:
		return false
	}
	return true
}

// ended: the guest's process ended by itself, and a script gave no report.
func (e evidence) ended(r *run.Result) {
	end := func(o run.Outcome, format string, args ...any) {
		r.Outcome, r.Error = o, fmt.Sprintf(format, args...)
	}
	exit := e.Exit
	failed := exit.Code != 0 || exit.Signal != ""
	if r.Signal = exit.Signal; exit.Signal == "" {
		r.ExitCode = &exit.Code
	}
	switch {
	case failed && exit.Limit == launch.LimitMemory:
		end(run.OutOfMemory, "memory limit of %v reached", e.Limits.Memory)
	case failed && (exit.Limit == launch.LimitCPUTime || usedUp(exit.Signal) && e.CPUTime >= e.Limits.CPUTime.Std()):
		end(run.OutOfCPU, "CPU time limit of %v reached", e.Limits.CPUTime)
	case failed && exit.Limit == launch.LimitProcesses:
		end(run.OutOfProcs, "limit of %d processes reached", e.Limits.Processes)
	case exit.Signal != "" && e.Command != nil:
		end(run.Signaled, "the command was ended by %s", exit.Signal)
	case exit.Signal != "":
		end(run.Signaled, "the guest crashed with %s", exit.Signal)
	case failed:
		end(run.Exited, "the %s left with exit code %d", e.who(), exit.Code)
	default:
		r.Outcome = run.Succeeded
	}
}

// usedUp reports signals by which a kernel ends a process that has used up its CPU time.
// If the time is not used up, the guest has sent the signal itself.
func usedUp(signal string) bool { return signal == "SIGXCPU" || signal == "SIGKILL" }
