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

// judge draws the conclusion.
func judge(e evidence) (run.Result, report.OSError) {
	seen := verdict.Evidence{
		Guest: verdict.Script, Limits: e.Limits, Stdout: e.Stdout, Stderr: e.Stderr,
		Usage:      run.Usage{WallTime: e.WallTime, CPUTime: e.CPUTime, Memory: e.Memory},
		Violations: e.Violations, Killed: string(e.Killed), Exit: &verdict.Exit{Code: e.Exit.Code, Signal: e.Exit.Signal},
		Report: e.Report, Malformed: e.Malformed, Restricted: e.Restricted,
	}
	if e.Command != nil {
		seen.Guest = verdict.Command
	}
	if e.Killed == killedDone {
		seen.Exit = nil // it is ours, after the guest had said all
	}
	if e.Exit.Limit != "" {
		seen.Refused = []string{string(e.Exit.Limit)}
	}
	return verdict.Judge(seen)
}
