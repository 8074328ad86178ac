package process

import (
	"cmp"
	"path"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/backend/verdict"
	"github.com/cordon-sandbox/cordon/internal/confine"
	"github.com/cordon-sandbox/cordon/internal/hints"
	"github.com/cordon-sandbox/cordon/internal/report"
	"github.com/cordon-sandbox/cordon/internal/zygote"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// evidence is everything that is known about a finished run.
type evidence struct {
	zygote.Ending
	report.Run
	OOMKills int
	Plan     confine.Plan
}

// judge returns the Result of a run, or an error if the fork server failed.
func judge(e evidence) (run.Result, error) {
	if e.Orphaned && e.Report == nil && e.Killed == "" {
		return run.Result{}, run.Errorf(run.Internal, "the fork server died while the guest ran")
	}
	v := verdict.Evidence{
		Guest: verdict.Script, Limits: e.Limits, Stdout: e.Stdout, Stderr: e.Stderr,
		Usage:      run.Usage{WallTime: e.WallTime, CPUTime: e.CPUTime, Memory: e.Memory},
		Violations: e.Violations, Killed: string(e.Killed), Interrupted: string(e.Interrupted), Report: e.Report, Malformed: e.Malformed, Restricted: e.Restricted, Modules: e.Modules,
	}
	if e.Exit != nil {
		v.Exit = &verdict.Exit{Code: e.Exit.Code, Signal: e.Exit.Signal}
	}
	switch {
	case e.Killed == zygote.KilledOutput, e.Killed != "" && e.Killed != zygote.KilledChannel && e.OOMKills == 0:
		v.Exit = &verdict.Exit{Signal: "SIGKILL"}
	case e.OOMKills > 0 && e.Exit != nil:
		// The cgroup's count is certain. Freeing the memory may take so long that a time
		// limit is reached too.
		v.Killed = "memory"
	}
	r, cause := verdict.Judge(v)
	e.explain(&r, cause)
	return r, nil
}

// explain relates an exception to the wall that caused it: the last denial gets the line
// and the module of the exception, and a path that does not exist inside the walls becomes
// a violation.
func (e evidence) explain(r *run.Result, cause report.OSError) {
	const eperm, enoent, eacces, erofs = 1, 2, 13, 30
	if v := lastDenial(r.Violations); v != nil && mayCause(*v, cause) {
		v.Line, v.Module = r.Exception.Line, cmp.Or(v.Module, cause.Module)
		return
	}
	if !path.IsAbs(cause.Filename) || e.visible(cause.Filename) && cause.Errno != erofs {
		return
	}
	wall := policy.WallMount
	if e.Plan.Root == nil {
		wall = policy.WallLandlock
	}
	v := run.Violation{Wall: wall, Op: "open", Detail: cause.Filename, Claimed: true, Line: r.Exception.Line, Module: cause.Module, Count: 1}
	switch cause.Errno {
	case enoent, eacces, eperm:
		v = hints.Give(v, run.HintPassData, hints.Data{"available": e.availableFiles()})
	case erofs:
		v = hints.Give(v, hints.ReturnData, hints.Data{"scratch": confine.Scratch})
	default:
		return
	}
	r.Violations = append(r.Violations, v)
}

// lastDenial returns the last violation that the host saw, or nil.
func lastDenial(violations []run.Violation) *run.Violation {
	for i := len(violations) - 1; i >= 0; i-- {
		if !violations[i].Claimed {
			return &violations[i]
		}
	}
	return nil
}

// mayCause reports whether a denial fits an exception. Clients that the proxy refuses
// raise their own exceptions, without an error number.
func mayCause(v run.Violation, cause report.OSError) bool {
	const eperm, enetunreach = 1, 101
	if v.Wall == policy.WallEgress {
		return cause.Raised && (cause.Errno == 0 || cause.Errno == enetunreach)
	}
	return cause.Errno == eperm
}

// availableFiles describes the files that a guest has, for a hint.
func (e evidence) availableFiles() string {
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
