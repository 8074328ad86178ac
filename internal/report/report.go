// Package report reads a guest's report about its own end. internal/script makes these
// reports on every tier that runs CPython.
//
// A guest is not trusted: it can send any report. It can lie about its own value, but not
// about what the host measured. Every report leads to a Result; a malformed one to the
// outcome invalid_output. Texts from the guest (types, messages, paths) are kept on one
// line of the Result's error.
//
//	end       with                                outcome
//	ok        result                              succeeded, or invalid_output
//	invalid   message: why there is no result     invalid_output
//	exit      code                                exited
//	raised    exception                           raised, out_of_memory
//	syntax    exception                           malformed
//	refused   findings of the language rules      refused
//	checked   findings, none or some: [Findings]  succeeded
//	opened                                        succeeded
//	listed    the variables of a session          succeeded: [Variables]
//	completed names for the end of a line         succeeded: [Completions]
//	large     no result: it was too large to send out_of_result
//
// Every report has an exit code, and may have variables. That of a step also has what the step
// displayed and changed: [ReadStep]. Under module rules it has what
// imported modules used and what was denied to them.
package report

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/cordon-sandbox/cordon/internal/text"
	"github.com/cordon-sandbox/cordon/internal/wire"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// OSError has the fields of an uncaught OSError. A tier that knows its walls can explain
// it. It is zero for all other endings.
type OSError struct {
	// Raised says that there was one. Libraries raise many without an error number.
	Raised   bool
	Errno    int
	Filename string
	// Module is the imported module whose call led to it, empty for the script itself.
	Module string
}

// Run is what the host knows about a run.
type Run struct {
	Limits policy.Limits
	// Restricted says that the language rules applied. Otherwise a report of a broken
	// rule is forged.
	Restricted bool
	// Modules says that rules for imported modules applied. Otherwise a report of what
	// they used is forged, and ignored.
	Modules bool
}

// maxModuleName bounds the name of a module, which the guest sends.
const maxModuleName = 255

// Read completes a Result from the guest's report. The Result already has what the host
// measured: output, usage, violations. Read does not set Status and ErrorType.
func Read(r *run.Result, report wire.Dict, of Run) OSError {
	concluded := *r
	cause, err := read(&concluded, report, of)
	if err != nil {
		unreadable(r, err) // uses nothing of the report
		return OSError{}
	}
	concluded.Usage.Result = concluded.ValueSize()
	*r = concluded
	return cause
}

// Malformed completes a Result if the report could not be read or decoded.
func Malformed(r *run.Result, err error, limits policy.Limits) {
	if errors.Is(err, wire.ErrAboveMax) {
		TooLarge(r, limits)
		return
	}
	if errors.Is(err, wire.ErrValue) { // the value of an honest guest, but not JSON
		end(r, run.InvalidOutput, err.Error())
		return
	}
	unreadable(r, err)
}

// TooLarge completes a Result whose value is above its limit.
func TooLarge(r *run.Result, limits policy.Limits) {
	end(r, run.OutOfResult, message("result", limits))
	r.Value = nil
}

// message returns the error text for a limit that was reached.
func message(key string, limits policy.Limits) string {
	limit, _ := policy.LimitNamed(key)
	return limit.Message(limits)
}

func unreadable(r *run.Result, err error) {
	end(r, run.InvalidOutput, "the guest wrote to its result channel: "+err.Error())
}

func end(r *run.Result, o run.Outcome, message string) { r.Outcome, r.Error = o, message }

func read(r *run.Result, report wire.Dict, of Run) (OSError, error) {
	ending, err := report.Get("end").Text()
	if err != nil {
		return OSError{}, err
	}
	code, err := report.Get("code").Int()
	if err != nil {
		return OSError{}, err
	}
	exitCode := int(uint8(code))
	r.ExitCode = &exitCode
	if raw := report.Get("variables"); raw != nil {
		r.Variables, err = variables(raw, of.Limits)
		if errors.Is(err, wire.ErrAboveMax) {
			TooLarge(r, of.Limits)
			return OSError{}, nil
		}
		if err != nil {
			return OSError{}, err
		}
	}
	if of.Modules {
		if err := modules(r, report); err != nil {
			return OSError{}, err
		}
	}
	switch ending {
	case "checked", "opened", "listed", "completed":
		r.Outcome = run.Succeeded
	case "ok":
		return OSError{}, result(r, report, of.Limits)
	case "large":
		TooLarge(r, of.Limits)
	case "invalid":
		message, err := report.Get("message").Text()
		end(r, run.InvalidOutput, text.Line(message))
		return OSError{}, err
	case "exit":
		end(r, run.Exited, fmt.Sprintf("the script left with exit code %d", exitCode))
	case "refused":
		if !of.Restricted {
			return OSError{}, errors.New("it reports a broken language rule, but no language rules applied")
		}
		return OSError{}, refused(r, report)
	case "syntax", "raised":
		return raised(r, report, ending, of)
	default:
		return OSError{}, fmt.Errorf("%q is not an ending", ending)
	}
	return OSError{}, nil
}

// result reads the value of a guest that succeeded.
func result(r *run.Result, report wire.Dict, limits policy.Limits) error {
	r.Outcome = run.Succeeded
	value, err := report.Get("result").AppendJSON(nil, "result", int(limits.Result-r.ValueSize()))
	switch {
	case errors.Is(err, wire.ErrAboveMax):
		TooLarge(r, limits)
	case errors.Is(err, wire.ErrValue), errors.Is(err, wire.ErrTooDeep), errors.Is(err, wire.ErrTooLarge):
		end(r, run.InvalidOutput, err.Error())
	case err != nil:
		return err
	default:
		r.Value = value
	}
	return nil
}

func variables(raw wire.Raw, limits policy.Limits) (map[string]json.RawMessage, error) {
	fields, err := raw.Dict()
	if err != nil {
		return nil, err
	}
	found := make(map[string]json.RawMessage, len(fields))
	left := int(limits.Result)
	for _, field := range fields {
		value, err := field.Value.AppendJSON(nil, field.Name, left-len(field.Name))
		if err != nil {
			return nil, err
		}
		left -= len(field.Name) + len(value)
		found[field.Name] = value
	}
	return found, nil
}

// The kinds of exceptions that are handled specially. The guest's side compares the
// class itself, because any class can have the name of another.
const (
	kindRule   = "rule"   // raised by a guard of the language rules: has rule and reason
	kindMemory = "memory" // a MemoryError
)

// raised reads the exception that ended the guest or kept it from starting.
func raised(r *run.Result, report wire.Dict, ending string, of Run) (OSError, error) {
	fields, err := report.Get("exception").Dict()
	if err != nil {
		return OSError{}, err
	}
	x := &run.Exception{}
	for name, field := range map[string]*string{"type": &x.Type, "message": &x.Message, "traceback": &x.Traceback} {
		if *field, err = fields.Get(name).Text(); err != nil {
			return OSError{}, err
		}
	}
	line, err := fields.Get("line").Int()
	if err != nil {
		return OSError{}, err
	}
	x.Line = int(line)
	r.Exception = x
	kind, _ := fields.Get("kind").Text() // set only for the kinds above
	words := text.Line(x.Type)
	if x.Message != "" {
		words += ": " + text.Line(x.Message)
	}
	at := ""
	if x.Line > 0 {
		at = fmt.Sprintf(" (line %d)", x.Line)
	}
	switch {
	case ending == "syntax":
		end(r, run.Malformed, words) // already names its line
	case kind == kindMemory:
		end(r, run.OutOfMemory, message("memory", of.Limits)+at)
	default:
		end(r, run.Raised, words+at)
	}
	if kind == kindRule && of.Restricted {
		broken := run.Violation{Wall: policy.WallLanguage, Line: x.Line, Count: 1}
		for name, field := range map[string]*string{"rule": &broken.Op, "reason": &broken.Detail} {
			value, err := fields.Get(name).Text()
			if err != nil {
				return OSError{}, err
			}
			*field = text.Line(value)
		}
		r.Violations = append(r.Violations, broken)
	}
	errno, notOne := fields.Get("errno").Int()   // set only for OSError
	filename, _ := fields.Get("filename").Text() // likewise
	module, _ := fields.Get("module").Text()     // likewise
	return OSError{Raised: notOne == nil, Errno: int(errno), Filename: filename, Module: text.Clip(module, maxModuleName)}, nil
}
