package jail

import (
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/backend/verdict"
	"github.com/cordon-sandbox/cordon/internal/cgroup"
	"github.com/cordon-sandbox/cordon/internal/confine"
	"github.com/cordon-sandbox/cordon/internal/output"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// evidence is everything that is known about a finished run.
type evidence struct {
	Program string
	End     confine.CommandEnd
	// NotExecuted means that bubblewrap failed to build the sandbox. Its message is in
	// Stderr.
	NotExecuted    bool
	Killed         reason
	Limits         policy.Limits
	Stdout, Stderr output.Capture
	WallTime       time.Duration
	CPUTime        time.Duration
	Memory         policy.Bytes
	// OOMKills and ForksRefused are the cgroup's counts.
	OOMKills, ForksRefused int
	ScratchFull            bool
	Violations             []run.Violation
}

// addGroup adds the counts and the usage of the cgroup.
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

// judge returns an error for a failure of cordon, and otherwise the Result of the command.
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
	r, _ := verdict.Judge(e.forVerdict())
	return r, nil
}

// forVerdict converts the evidence. Limits that refused the command something are listed
// in order of precedence.
func (e evidence) forVerdict() verdict.Evidence {
	v := verdict.Evidence{
		Guest: verdict.Command, Limits: e.Limits, Stdout: e.Stdout, Stderr: e.Stderr,
		Usage:      run.Usage{WallTime: e.WallTime, CPUTime: e.CPUTime, Memory: e.Memory},
		Violations: e.Violations, Killed: string(e.Killed),
	}
	switch status := e.End.Status; {
	case e.Killed != "":
		v.Exit = &verdict.Exit{Signal: "SIGKILL"}
	case status == nil: // out of memory, the kernel killed the init
		v.Killed = "memory"
	case status.Signaled():
		v.Exit = &verdict.Exit{Signal: run.SignalName(int(status.Signal()))}
	default:
		v.Exit = &verdict.Exit{Code: status.ExitStatus()}
	}
	for _, limit := range []struct {
		key     string
		refused bool
	}{{"memory", e.OOMKills > 0}, {"processes", e.ForksRefused > 0}, {"scratch", e.ScratchFull}} {
		if limit.refused {
			v.Refused = append(v.Refused, limit.key)
		}
	}
	return v
}

func killedFromOutside() error {
	return run.Errorf(run.Internal, "the sandbox was killed from outside")
}

// notExecuted returns the error for a program that could not be executed. The classes are
// those for which shells have exit codes.
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
