// Package verdict judges how a guest ended. Each tier gathers evidence; Judge, which is
// pure, draws the same conclusion from the same evidence in all of them.
//
// It looks in this order:
//
//  1. the guest needs more memory than its limit before it begins;
//  2. the Runner ended it, and why;
//  3. its process or module ended: a trap, a signal, an exit code. A failure after a limit
//     refused it something is the end of that limit;
//  4. the bytes that it sent are not a report;
//  5. its report, or its value.
//
// What the host saw goes before what the guest says. A report that came in time counts even
// if a clock fires behind it, but not if the guest had written too much before.
package verdict

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/cordon-sandbox/cordon/internal/output"
	"github.com/cordon-sandbox/cordon/internal/report"
	"github.com/cordon-sandbox/cordon/internal/wire"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Evidence is all that is known about a run that is over.
type Evidence struct {
	Guest          Guest
	Limits         policy.Limits
	Stdout, Stderr output.Capture
	// Usage is what was measured, but for output and result.
	Usage      run.Usage
	Violations []run.Violation

	// TooLarge says why the guest could not begin within its memory limit.
	TooLarge error
	// Killed is why the Runner ended the guest: the key of a limit, or one of the
	// reasons below. Anything else is no reason to fail.
	Killed string
	// Exit is how the guest's process ended; nil if that is not known.
	Exit *Exit
	// Trap is what the guest did that its machine does not allow; nil if it did nothing.
	Trap *Trap
	// Refused are the limits that refused the guest something, by their keys. A guest
	// that fails afterwards fails for the first of them; memory goes before CPU time, and
	// CPU time before the rest.
	Refused []string

	// Report is what a script reported, nil if nothing. Malformed says what is wrong with
	// the bytes on its channel.
	Report    wire.Dict
	Malformed error
	// Restricted says that the language rules were in force.
	Restricted bool
	// Value is what a module gave back, nil if it gives nothing.
	Value *Value
}

// Guest is what a guest is called in messages.
type Guest string

// The guests of the tiers.
const (
	Script  Guest = "guest"
	Command Guest = "command"
	Module  Guest = "module"
)

// Reasons to end a guest that are not limits.
const (
	Canceled  = "canceled"
	Hammering = "hammering"
	Channel   = "closed channel"
)

// Exit is how a process ended: by a signal, or with a code.
type Exit struct {
	Code   int
	Signal string
}

// Trap is a trap of a module, in words, with the calls that led to it.
type Trap struct {
	Message string
	Trace   string
}

func (e Exit) failed() bool { return e.Code != 0 || e.Signal != "" }

// Value is what a module gave back.
type Value struct {
	JSON json.RawMessage
	// Wrong says why it is none, and TooLarge that it is above the limit on results.
	Wrong    string
	TooLarge bool
}

// Judge draws the conclusion. The OSError is what an uncaught one of a script's was about.
func Judge(e Evidence) (run.Result, report.OSError) {
	r := output.Result(e.Stdout, e.Stderr)
	used := r.Usage.Output
	r.Usage = e.Usage
	r.Usage.Output = used
	r.Violations = e.Violations
	var cause report.OSError
	switch {
	case e.TooLarge != nil:
		end(&r, run.OutOfMemory, "%v", e.TooLarge)
	case (e.Report == nil || OutlastsReport(e.Killed)) && e.killed(&r):
	case e.Trap != nil:
		e.trapped(&r)
	case e.Report == nil && e.exited(&r):
	case e.Malformed != nil:
		report.Malformed(&r, e.Malformed, e.Limits)
	case e.Value != nil:
		e.gave(&r)
	default:
		cause = report.Read(&r, e.Report, report.Run{Limits: e.Limits, Restricted: e.Restricted})
	}
	r.Status, r.ErrorType = r.Outcome.Status(), r.Outcome.ErrorType()
	return r, cause
}

func end(r *run.Result, o run.Outcome, format string, args ...any) {
	r.Outcome, r.Error = o, fmt.Sprintf(format, args...)
}

// reached makes a limit the end of the run. It reports whether the key is one.
func (e Evidence) reached(r *run.Result, key string) bool {
	limit, known := policy.LimitNamed(key)
	if known && limit.Outcome != "" {
		end(r, run.Outcome(limit.Outcome), "%s", limit.Message(e.Limits))
	}
	return known && limit.Outcome != ""
}

// OutlastsReport says whether a reason counts although a report came: the guest had written
// too much before it.
func OutlastsReport(reason string) bool {
	return slices.Contains([]string{"output", "scratch", "disk", "files"}, reason)
}

// killed: the Runner ended the guest.
func (e Evidence) killed(r *run.Result) bool {
	switch {
	case e.Killed == Canceled:
		end(r, run.Canceled, "the caller canceled the run")
	case e.Killed == Hammering:
		end(r, run.Denied, "the %s kept trying what the sandbox denies", e.Guest)
	case e.Killed == Channel && (e.Exit == nil || e.Exit.Signal == "SIGKILL"): // else it was faster, and ended by itself
		end(r, run.InvalidOutput, "the %s closed its result channel", e.Guest)
	case !e.reached(r, e.Killed):
		return false
	}
	if e.Exit != nil {
		r.Signal = e.Exit.Signal
	}
	return true
}

// exited: the guest's process ended by itself.
func (e Evidence) exited(r *run.Result) bool {
	switch {
	case e.Exit == nil, !e.Exit.failed() && (e.Malformed != nil || e.Value != nil):
		return false
	case e.Exit.Signal == "":
		code := e.Exit.Code
		r.ExitCode = &code
	}
	r.Signal = e.Exit.Signal
	switch {
	case !e.Exit.failed():
		r.Outcome = run.Succeeded
	case e.ranOut(r):
	case r.Signal == "SIGSYS":
		// The filter kills for one thing only, but nothing tells its signal from one
		// that the guest has sent itself.
		end(r, run.Signaled, "the %s was ended by SIGSYS, as programs are that make system calls through a foreign ABI", e.Guest)
	case r.Signal != "" && e.Guest == Command:
		end(r, run.Signaled, "the command was ended by %s", r.Signal)
	case r.Signal != "":
		end(r, run.Signaled, "the %s crashed with %s", e.Guest, r.Signal)
	default:
		end(r, run.Exited, "the %s left with exit code %d", e.Guest, e.Exit.Code)
	}
	return true
}

// ranOut: a guest that fails after a limit refused it something fails for that.
func (e Evidence) ranOut(r *run.Result) bool {
	if slices.Contains(e.Refused, "memory") {
		return e.reached(r, "memory")
	}
	// The kernel's limit was faster than ours. Without the time it is a signal that the
	// guest has sent itself.
	byTime := e.Exit != nil && (e.Exit.Signal == "SIGXCPU" || e.Exit.Signal == "SIGKILL")
	if byTime && e.Usage.CPUTime >= e.Limits.CPUTime {
		return e.reached(r, "cpu_time")
	}
	return len(e.Refused) > 0 && e.reached(r, e.Refused[0])
}

// trapped: the guest did what its machine does not allow.
func (e Evidence) trapped(r *run.Result) {
	r.Exception = &run.Exception{Type: "Trap", Message: e.Trap.Message, Traceback: e.Trap.Trace}
	if !e.ranOut(r) {
		end(r, run.Trapped, "trap: %s", e.Trap.Message)
	}
}

// gave: a module came to its end, with a value.
func (e Evidence) gave(r *run.Result) {
	switch {
	case e.Value.TooLarge:
		report.TooLarge(r, e.Limits)
	case e.Value.Wrong != "":
		end(r, run.InvalidOutput, "%s", e.Value.Wrong)
	default:
		code := 0
		r.ExitCode, r.Outcome, r.Value = &code, run.Succeeded, e.Value.JSON
		r.Usage.Result = r.ValueSize()
	}
}
