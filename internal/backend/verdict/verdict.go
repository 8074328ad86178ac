// Package verdict decides how a guest ended. Each tier gathers evidence. Judge is a pure
// function, so that all tiers draw the same conclusion from the same evidence.
//
// It checks, in this order:
//
//  1. whether the guest needs more memory than its limit before it starts;
//  2. whether and why the Runner killed it;
//  3. how its process or module ended: a trap, a signal, an exit code. A guest that fails
//     after a limit refused it something has reached that limit;
//  4. whether the bytes that it sent are a report;
//  5. its report, or its value. A step that the Runner interrupted has ended for that reason,
//     whatever it reports; its report only adds to that where it was.
//
// What the host observed overrides what the guest reports. A report that arrived in time
// counts even if a time limit is reached right after it, but not if the guest wrote too much
// output before it.
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

// Evidence is everything that is known about a run that has ended.
type Evidence struct {
	Guest          Guest
	Limits         policy.Limits
	Stdout, Stderr output.Capture
	// Usage is what was measured, without output and result.
	Usage      run.Usage
	Violations []run.Violation

	// TooLarge says why the guest could not start within its memory limit.
	TooLarge error
	// Killed is why the Runner killed the guest: the key of a limit, or one of the
	// reasons below. Other values do not make the run fail.
	Killed string
	// Interrupted is why the Runner interrupted a step that then ended by itself: a word as
	// for Killed.
	Interrupted string
	// Exit is how the guest's process ended; nil if that is not known.
	Exit *Exit
	// Trap is the trap that ended a module; nil if there was none.
	Trap *Trap
	// Refused has the keys of the limits that refused the guest something. A guest that
	// fails afterwards has reached one of them: memory, else CPU time, else the first.
	Refused []string

	// Report is the report of a script, nil if there is none. Malformed says what is wrong
	// with the bytes on its channel.
	Report    wire.Dict
	Malformed error
	// Restricted says that the language rules applied.
	Restricted bool
	// Modules says that rules for imported modules applied.
	Modules bool
	// Value is what a module returned, nil if it returns nothing.
	Value *Value
}

// Guest is the word for a guest in messages.
type Guest string

// The guests of the tiers.
const (
	Script  Guest = "guest"
	Command Guest = "command"
	Module  Guest = "module"
)

// Reasons to kill a guest other than limits.
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

// Trap describes a trap of a module, with the calls that led to it.
type Trap struct {
	Message string
	Trace   string
}

func (e Exit) failed() bool { return e.Code != 0 || e.Signal != "" }

// Value is what a module returned.
type Value struct {
	JSON json.RawMessage
	// Wrong says why it is not valid, and TooLarge that it is above the limit on results.
	Wrong    string
	TooLarge bool
}

// Judge returns the Result for the evidence, and the fields of an uncaught OSError of a
// script.
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
		cause = report.Read(&r, e.Report, report.Run{Limits: e.Limits, Restricted: e.Restricted, Modules: e.Modules})
		e.interrupted(&r)
	}
	r.Status, r.ErrorType = r.Outcome.Status(), r.Outcome.ErrorType()
	return r, cause
}

func end(r *run.Result, o run.Outcome, format string, args ...any) {
	r.Outcome, r.Error = o, fmt.Sprintf(format, args...)
}

// reached sets the outcome of a limit. It reports whether the key is that of a limit.
func (e Evidence) reached(r *run.Result, key string) bool {
	limit, known := policy.LimitNamed(key)
	if known && limit.Outcome != "" {
		end(r, run.Outcome(limit.Outcome), "%s", limit.Message(e.Limits))
	}
	return known && limit.Outcome != ""
}

// OutlastsReport reports whether a reason counts although a report arrived: the guest wrote
// too much output before it.
func OutlastsReport(reason string) bool {
	return slices.Contains([]string{"output", "scratch", "disk", "files"}, reason)
}

// interrupted concludes a step that the Runner interrupted. It had no result yet.
func (e Evidence) interrupted(r *run.Result) {
	switch {
	case e.Interrupted == "":
		return
	case e.Interrupted == Canceled:
		canceled(r)
	default:
		e.reached(r, e.Interrupted)
	}
	r.Value, r.ExitCode = nil, nil
}

func canceled(r *run.Result) { end(r, run.Canceled, "the caller canceled the run") }

// killed concludes a run whose guest the Runner killed.
func (e Evidence) killed(r *run.Result) bool {
	switch {
	case e.Killed == Canceled:
		canceled(r)
	case e.Killed == Hammering:
		end(r, run.Denied, "the %s kept trying what the sandbox denies", e.Guest)
	case e.Killed == Channel && (e.Exit == nil || e.Exit.Signal == "SIGKILL"): // otherwise it ended by itself before the kill
		end(r, run.InvalidOutput, "the %s closed its result channel", e.Guest)
	case !e.reached(r, e.Killed):
		return false
	}
	if e.Exit != nil {
		r.Signal = e.Exit.Signal
	}
	return true
}

// exited concludes a run whose guest's process ended by itself.
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
		// The filter kills in one case only, but its signal cannot be told from one that
		// the guest sent itself.
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

// ranOut concludes a run that failed after a limit refused it something.
func (e Evidence) ranOut(r *run.Result) bool {
	if slices.Contains(e.Refused, "memory") {
		return e.reached(r, "memory")
	}
	// The kernel's limit was reached before ours. If the CPU time was not used up, the
	// guest sent the signal itself.
	byTime := e.Exit != nil && (e.Exit.Signal == "SIGXCPU" || e.Exit.Signal == "SIGKILL")
	if byTime && e.Usage.CPUTime >= e.Limits.CPUTime {
		return e.reached(r, "cpu_time")
	}
	return len(e.Refused) > 0 && e.reached(r, e.Refused[0])
}

// trapped concludes a run that ended with a trap.
func (e Evidence) trapped(r *run.Result) {
	r.Exception = &run.Exception{Type: "Trap", Message: e.Trap.Message, Traceback: e.Trap.Trace}
	if !e.ranOut(r) {
		end(r, run.Trapped, "trap: %s", e.Trap.Message)
	}
}

// gave concludes a run of a module that returned a value.
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
