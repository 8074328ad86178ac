// Package report reads what a guest says about its own end: the reports that
// internal/script makes, wherever CPython runs.
//
// A guest is not trusted. It may give any report it likes; what it lies about is
// its own value, and nothing that the host has seen by itself. No report makes
// this package fail: one that is none makes the outcome invalid_output. What a guest
// names (types, messages, paths) stays on one line of a Result's error.
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
//	large     no result: it was too large to send out_of_result
//
// All of them have a code, and may have variables.
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

// OSError is what an uncaught OSError was about, for those who know the walls
// behind it. It is zero for all other endings.
type OSError struct {
	Errno    int
	Filename string
}

// Run is what the host knows of a run whose report it reads.
type Run struct {
	Limits policy.Limits
	// Restricted says that the language rules were in force. Without them no report
	// is one of theirs.
	Restricted bool
}

// Read makes the report the conclusion of a Result, which has what the host has
// seen already: output, usage, violations. What is left to do is Status and ErrorType.
func Read(r *run.Result, report wire.Dict, of Run) OSError {
	concluded := *r
	cause, err := read(&concluded, report, of)
	if err != nil {
		unreadable(r, err) // and nothing that it says
		return OSError{}
	}
	concluded.Usage.Result = concluded.ValueSize()
	*r = concluded
	return cause
}

// Malformed is the conclusion if there is no report, but an error of the one who
// reads or decodes it.
func Malformed(r *run.Result, err error, limits policy.Limits) {
	if errors.Is(err, wire.ErrAboveMax) {
		TooLarge(r, limits)
		return
	}
	if errors.Is(err, wire.ErrValue) { // an honest guest's value, which is no JSON
		end(r, run.InvalidOutput, err.Error())
		return
	}
	unreadable(r, err)
}

// TooLarge is the conclusion for a result above its limit.
func TooLarge(r *run.Result, limits policy.Limits) {
	end(r, run.OutOfResult, message("result", limits))
	r.Value = nil
}

// message says that a limit was reached.
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
	switch ending {
	case "checked", "opened":
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
			return OSError{}, errors.New("it says that language rules refused it, and there were none")
		}
		return OSError{}, refused(r, report)
	case "syntax", "raised":
		return raised(r, report, ending, of)
	default:
		return OSError{}, fmt.Errorf("%q is not an ending", ending)
	}
	return OSError{}, nil
}

// result: the guest came to its end, and left a value.
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

// The kinds of exceptions that mean something to us. The guest's side tells them by
// the class itself: any class can have the name of another.
const (
	kindRule   = "rule"   // raised by a guard of the language rules: has rule and reason
	kindMemory = "memory" // a MemoryError
)

// raised: the guest was ended by an exception, or was not even started.
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
	kind, _ := fields.Get("kind").Text() // there for those kinds alone
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
		end(r, run.Malformed, words) // names its line already
	case kind == kindMemory:
		end(r, run.OutOfMemory, message("memory", of.Limits)+at)
	default:
		end(r, run.Raised, words+at)
	}
	if kind == kindRule && of.Restricted {
		broken := run.Violation{Wall: policy.WallLanguage, Line: x.Line, Count: 1}
		for name, field := range map[string]*string{"rule": &broken.Op, "reason": &broken.Detail} {
			said, err := fields.Get(name).Text()
			if err != nil {
				return OSError{}, err
			}
			*field = text.Line(said)
		}
		r.Violations = append(r.Violations, broken)
	}
	errno, _ := fields.Get("errno").Int()        // there for OSError alone
	filename, _ := fields.Get("filename").Text() // likewise
	return OSError{Errno: int(errno), Filename: filename}, nil
}
