package wasm

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tetratelabs/wazero/sys"

	"github.com/cordon-sandbox/cordon/internal/backend/wasm/rootfs"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm/scratch"
	"github.com/cordon-sandbox/cordon/internal/output"
	"github.com/cordon-sandbox/cordon/internal/report"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// evidence is all that is known about a run that is over.
type evidence struct {
	Limits         policy.Limits
	Stdout, Stderr output.Capture
	WallTime       time.Duration
	CPUTime        time.Duration
	Memory         policy.Bytes
	Fuel           policy.Count
	Violations     []run.Violation

	restricted    bool        // the language rules were in force
	tooLarge      error       // it did not begin
	outcome       run.Outcome // why we ended it
	trap          string      // in whose words
	err           error       // what the engine says
	memoryRefused bool
	full          string // the limit of files that was reached
	value         value
}

// judge draws the conclusion. It is pure.
func judge(e evidence) run.Result {
	r := output.Result(e.Stdout, e.Stderr)
	r.Usage.WallTime, r.Usage.CPUTime, r.Usage.Memory, r.Usage.Fuel = policy.Duration(e.WallTime), policy.Duration(e.CPUTime), e.Memory, e.Fuel
	r.Violations = e.Violations
	var exit *sys.ExitError
	switch {
	case e.tooLarge != nil:
		end(&r, run.OutOfMemory, "%v", e.tooLarge)
	case e.outcome != "":
		e.ended(&r)
	case errors.As(e.err, &exit):
		e.left(&r, int(exit.ExitCode()))
	case e.err != nil:
		e.trapped(&r, e.err.Error())
	case e.value.tooLarge:
		report.TooLarge(&r, e.Limits)
	case e.value.wrong != "":
		end(&r, run.InvalidOutput, "%s", e.value.wrong)
	default:
		e.left(&r, 0)
		r.Value = e.value.json
		r.Usage.Result = r.ValueSize()
	}
	r.Status, r.ErrorType = r.Outcome.Status(), r.Outcome.ErrorType()
	return r
}

func end(r *run.Result, o run.Outcome, format string, args ...any) {
	r.Outcome, r.Error = o, fmt.Sprintf(format, args...)
}

// ended: the guest is over because we wanted it so.
func (e evidence) ended(r *run.Result) {
	l := e.Limits
	switch e.outcome {
	case run.TimedOut:
		end(r, e.outcome, "timed out: wall time limit of %v reached", l.WallTime)
	case run.OutOfCPU:
		end(r, e.outcome, "CPU time limit of %v reached", l.CPUTime)
	case run.OutOfFuel:
		end(r, e.outcome, "limit of %v instructions reached", l.Fuel)
	case run.OutOfOutput:
		end(r, e.outcome, "output limit of %v reached", l.Output)
	case run.Canceled:
		end(r, e.outcome, "the caller canceled the run")
	default:
		e.trapped(r, e.trap)
	}
}

// left: the guest came to its end, or left before.
func (e evidence) left(r *run.Result, code int) {
	r.ExitCode = &code
	switch {
	case code == 0:
		r.Outcome = run.Succeeded
	case e.scarce(r):
	default:
		end(r, run.Exited, "the module left with exit code %d", code)
	}
}

// scarce: a guest that fails after it was refused something fails for that.
func (e evidence) scarce(r *run.Result) bool {
	switch {
	case e.memoryRefused:
		end(r, run.OutOfMemory, "memory limit of %v reached", e.Limits.Memory)
	case e.full == rootfs.DiskLimit:
		end(r, run.OutOfDisk, "disk limit of %v reached", e.Limits.Disk)
	case e.full == scratch.Limit:
		end(r, run.OutOfDisk, "scratch limit of %v reached", e.Limits.Scratch)
	case e.full != "":
		end(r, run.Exited, "the module failed after it had reached its limit of %d open files", e.Limits.OpenFiles)
	default:
		return false
	}
	return true
}

// trapped: the guest did what its machine does not allow.
func (e evidence) trapped(r *run.Result, words string) {
	words, _, _ = strings.Cut(words, "\n\nGo runtime stack trace") // which is about us
	message, trace, _ := strings.Cut(strings.TrimPrefix(words, "wasm error: "), "\n")
	if strings.HasPrefix(message, "runtime error") {
		message = "a host function was called with what it cannot use"
	}
	r.Exception = &run.Exception{Type: "Trap", Message: message, Traceback: trace}
	if !e.scarce(r) {
		end(r, run.Trapped, "trap: %s", message)
	}
}

// ranOut: a script that ends by the error which it got for want of room has run out of
// that.
func (e evidence) ranOut(r *run.Result, cause report.OSError) {
	if r.Outcome == run.Raised && e.full == scratch.Limit && cause.Errno == wasiNOSPC {
		end(r, run.OutOfDisk, "scratch limit of %v reached (line %d)", e.Limits.Scratch, r.Exception.Line)
	}
}
