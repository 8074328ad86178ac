package portable

import (
	"time"

	"github.com/cordon-sandbox/cordon/internal/backend/verdict"
	"github.com/cordon-sandbox/cordon/internal/launch"
	"github.com/cordon-sandbox/cordon/internal/output"
	"github.com/cordon-sandbox/cordon/internal/report"
	"github.com/cordon-sandbox/cordon/internal/wire"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// evidence is everything that is known about a finished run.
type evidence struct {
	Command []string // nil for a script
	// Report is the script's report, nil if it sent none. Malformed describes what was
	// wrong with the bytes on its channel.
	Report    wire.Dict
	Malformed error
	// Killed is the reason why cordon killed the guest, or empty.
	Killed reason
	Exit   launch.Exit
	Limits policy.Limits
	// Restricted means that the language rules were in force.
	Restricted     bool
	Stdout, Stderr output.Capture
	WallTime       time.Duration
	CPUTime        time.Duration
	Memory         policy.Bytes
	Violations     []run.Violation
}

// judge returns the Result of a run, and the OSError of an uncaught exception.
func judge(e evidence) (run.Result, report.OSError) {
	v := verdict.Evidence{
		Guest: verdict.Script, Limits: e.Limits, Stdout: e.Stdout, Stderr: e.Stderr,
		Usage:      run.Usage{WallTime: e.WallTime, CPUTime: e.CPUTime, Memory: e.Memory},
		Violations: e.Violations, Killed: string(e.Killed), Exit: &verdict.Exit{Code: e.Exit.Code, Signal: e.Exit.Signal},
		Report: e.Report, Malformed: e.Malformed, Restricted: e.Restricted,
	}
	if e.Command != nil {
		v.Guest = verdict.Command
	}
	if e.Killed == killedDone {
		v.Exit = nil // cordon killed the guest after its report
	}
	if e.Exit.Limit != "" {
		v.Refused = []string{string(e.Exit.Limit)}
	}
	return verdict.Judge(v)
}
