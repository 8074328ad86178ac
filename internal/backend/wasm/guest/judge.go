package guest

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

// Evidence is all that is known about a run that has ended.
type Evidence struct {
	Limits         policy.Limits
	Stdout, Stderr output.Capture
	WallTime       time.Duration
	CPUTime        time.Duration
	Memory         policy.Bytes
	Fuel           policy.Count
	Violations     []run.Violation

	TooLarge error       // the module needs more memory than the limit, and did not begin
	Outcome  run.Outcome // why cordon ended it
	Err      error       // what the engine says
	Value    Value       // what a call gave

	trap          string // with Outcome Trapped
	memoryRefused bool
	full          string // the limit of files that was reached
}

// Value is what a call gave.
type Value struct {
	JSON []byte
	// Wrong says why there is none.
	Wrong string
	// TooLarge says that it is above the limit on results.
	TooLarge bool
}

// errnoNOSPC is the number that WASI has for ENOSPC.
const errnoNOSPC = 51

// Evidence is what is known of a guest that has ended; err is what the engine says.
func (g *Guest) Evidence(err error) Evidence {
	e := Evidence{Limits: g.limits, WallTime: time.Since(g.started), Err: err}
	e.CPUTime = g.cpu.used(e.WallTime - g.waited)
	e.Fuel = policy.Count(g.granted)
	if g.fuel < 0 {
		e.Fuel = 0
	}
	e.Memory, e.memoryRefused, e.full = policy.Bytes(g.Memory.Size), g.Memory.Refused, g.full
	e.Stdout, e.Stderr = g.stdout.Capture, g.stderr.Capture
	e.Violations = g.violations
	e.Outcome, e.trap = g.outcome, g.trap
	return e
}

// Complaint is the last line on a guest's standard error.
func (g *Guest) Complaint() string {
	text := strings.TrimSpace(string(g.stderr.Capture.Data))
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// Judge decides what a run came to. It is a pure function.
func Judge(e Evidence) run.Result {
	r := output.Result(e.Stdout, e.Stderr)
	r.Usage.WallTime, r.Usage.CPUTime, r.Usage.Memory, r.Usage.Fuel = policy.Duration(e.WallTime), policy.Duration(e.CPUTime), e.Memory, e.Fuel
	r.Violations = e.Violations
	var exit *sys.ExitError
	switch {
	case e.TooLarge != nil:
		end(&r, run.OutOfMemory, "%v", e.TooLarge)
	case e.Outcome != "":
		e.ended(&r)
	case errors.As(e.Err, &exit):
		e.left(&r, int(exit.ExitCode()))
	case e.Err != nil:
		e.trapped(&r, e.Err.Error())
	case e.Value.TooLarge:
		report.TooLarge(&r, e.Limits)
	case e.Value.Wrong != "":
		end(&r, run.InvalidOutput, "%s", e.Value.Wrong)
	default:
		e.left(&r, 0)
		r.Value = e.Value.JSON
		r.Usage.Result = r.ValueSize()
	}
	r.Status, r.ErrorType = r.Outcome.Status(), r.Outcome.ErrorType()
	return r
}

func end(r *run.Result, o run.Outcome, format string, args ...any) {
	r.Outcome, r.Error = o, fmt.Sprintf(format, args...)
}

// ended is for a guest that cordon ended.
func (e Evidence) ended(r *run.Result) {
	l := e.Limits
	switch e.Outcome {
	case run.TimedOut:
		end(r, e.Outcome, "timed out: wall time limit of %v reached", l.WallTime)
	case run.OutOfCPU:
		end(r, e.Outcome, "CPU time limit of %v reached", l.CPUTime)
	case run.OutOfFuel:
		end(r, e.Outcome, "limit of %v instructions reached", l.Fuel)
	case run.OutOfOutput:
		end(r, e.Outcome, "output limit of %v reached", l.Output)
	case run.Canceled:
		end(r, e.Outcome, "the caller canceled the run")
	default:
		e.trapped(r, e.trap)
	}
}

// left is for a guest that returned or exited.
func (e Evidence) left(r *run.Result, code int) {
	r.ExitCode = &code
	switch {
	case code == 0:
		r.Outcome = run.Succeeded
	case e.scarce(r):
	default:
		end(r, run.Exited, "the module left with exit code %d", code)
	}
}

// scarce is for a guest that failed after it was refused something: that is why.
func (e Evidence) scarce(r *run.Result) bool {
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

// trapped is for a guest that did what WebAssembly forbids.
func (e Evidence) trapped(r *run.Result, words string) {
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

// RanOut is for a script that ended by an error about a full /tmp: it ran out of that.
func (e Evidence) RanOut(r *run.Result, cause report.OSError) {
	if r.Outcome == run.Raised && e.full == scratch.Limit && cause.Errno == errnoNOSPC {
		end(r, run.OutOfDisk, "scratch limit of %v reached (line %d)", e.Limits.Scratch, r.Exception.Line)
	}
}
