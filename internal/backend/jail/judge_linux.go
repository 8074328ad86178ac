package jail

import (
	"fmt"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/cgroup"
	"github.com/cordon-sandbox/cordon/internal/confine"
	"github.com/cordon-sandbox/cordon/internal/output"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// evidence is all that is known about a run that is over.
type evidence struct {
	Program string
	End     confine.CommandEnd
	// NotExecuted says that another builder has failed, in its own words.
	NotExecuted    bool
	Killed         reason
	Limits         policy.Limits
	Stdout, Stderr output.Capture
	WallTime       time.Duration
	CPUTime        time.Duration
	Memory         policy.Bytes
	// OOMKills and ForksRefused are what the cgroup has counted.
	OOMKills, ForksRefused int
	ScratchFull            bool
	Violations             []run.Violation
}

// addGroup adds what the cgroup knows.
func (e *evidence) addGroup(g *cgroup.Group) (err error) {
	if g == nil {
		return nil
	}
	usage, err := g.Usage()
	if err == nil {
		e.OOMKills, err = g.OOMKills()
	}
	if err == nil && g.CountsProcesses() {
		e.ForksRefused, err = g.ForksRefused()
	}
	if err != nil {
		return run.Errorf(run.Internal, "cgroup: %w", err)
	}
	e.Memory = max(policy.Bytes(usage.PeakMemory), e.Memory)
	e.CPUTime = max(usage.CPU, e.CPUTime)
	return nil
}

// judge draws the conclusion. It is pure: the same evidence gives the same
// Result.
func judge(e evidence) (run.Result, error) {
	if e.End.Failure != 0 {
		return run.Result{}, notExecuted(e.Program, e.End.Failure)
	}
	if e.NotExecuted && e.OOMKills == 0 && e.End.Status != nil && e.End.Status.Exited() {
		return run.Result{}, run.Errorf(run.Unsupported, "the sandbox cannot be set up: %s", strings.TrimSpace(string(e.Stderr.Data)))
	}
	if e.End.Status == nil && e.Killed == "" && e.OOMKills == 0 {
		return run.Result{}, killedFromOutside()
	}
	r := output.Result(e.Stdout, e.Stderr)
	r.Usage.WallTime, r.Usage.CPUTime, r.Usage.Memory = policy.Duration(e.WallTime), policy.Duration(e.CPUTime), e.Memory
	r.Violations = e.Violations
	e.conclude(&r)
	r.Status, r.ErrorType = r.Outcome.Status(), r.Outcome.ErrorType()
	return r, nil
}

func killedFromOutside() error {
	return run.Errorf(run.Internal, "the sandbox was killed from outside")
}

func (e evidence) conclude(r *run.Result) {
	end := func(o run.Outcome, format string, args ...any) {
		r.Outcome, r.Error = o, fmt.Sprintf(format, args...)
	}
	code, signal := 0, syscall.Signal(0) // 0 is none
	switch status := e.End.Status; {
	case status == nil:
	case status.Signaled():
		signal = status.Signal()
		r.Signal = run.SignalName(int(signal))
	default:
		code = status.ExitStatus()
		r.ExitCode = &code
	}
	failed := code != 0 || signal != 0 || e.End.Status == nil
	if e.Killed != "" {
		r.Signal, r.ExitCode = "SIGKILL", nil
	}
	switch {
	case e.Killed == killedWall:
		end(run.TimedOut, "timed out: wall time limit of %v reached", e.Limits.WallTime)
	case e.Killed == killedCPU:
		end(run.OutOfCPU, "CPU time limit of %v reached", e.Limits.CPUTime)
	case e.Killed == killedOutput:
		end(run.OutOfOutput, "output limit of %v reached", e.Limits.Output)
	case e.Killed == killedMemory:
		end(run.OutOfMemory, "memory limit of %v reached", e.Limits.Memory)
	case e.Killed == killedFiles:
		end(run.OutOfDisk, "limit of %d new files reached", e.Limits.Files)
	case e.Killed == killedDisk:
		end(run.OutOfDisk, "disk limit of %v reached", e.Limits.Disk)
	case e.Killed == killedCanceled:
		end(run.Canceled, "the caller canceled the run")
	case e.Killed == killedHammering:
		end(run.Denied, "the command kept trying what the sandbox denies")
	case failed && e.OOMKills > 0:
		end(run.OutOfMemory, "memory limit of %v reached", e.Limits.Memory)
	case (signal == unix.SIGXCPU || signal == unix.SIGKILL) && e.CPUTime >= e.Limits.CPUTime.Std():
		// The kernel's limit was faster than ours. Without the time it is a
		// signal that the command has sent itself.
		end(run.OutOfCPU, "CPU time limit of %v reached", e.Limits.CPUTime)
	case failed && e.ForksRefused > 0:
		end(run.OutOfProcs, "limit of %d processes reached", e.Limits.Processes)
	case failed && e.ScratchFull:
		end(run.OutOfDisk, "scratch limit of %v reached", e.Limits.Scratch)
	case signal == unix.SIGSYS:
		// The filter kills for one thing only, but nothing tells its signal from
		// one that the command has sent itself.
		end(run.Signaled, "the command was ended by SIGSYS, as programs are that make system calls through a foreign ABI")
	case signal != 0:
		end(run.Signaled, "the command was ended by %s", r.Signal)
	case code != 0:
		end(run.Exited, "the command left with exit code %d", code)
	default:
		r.Outcome = run.Succeeded
	}
}

// notExecuted gives the classes that shells have codes for.
func notExecuted(program string, errno syscall.Errno) error {
	class := run.Internal
	switch errno {
	case unix.ENOENT:
		class = run.NotFound
	case unix.EACCES, unix.ENOEXEC, unix.EPERM, unix.ELIBBAD, unix.ETXTBSY:
		class = run.NotExecutable
	case unix.E2BIG:
		class = run.Invalid
	}
	return run.Errorf(class, "%s cannot be executed: %w", program, errno)
}
