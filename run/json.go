package run

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/cordon-sandbox/cordon/policy"
)

// wireResult is a Result as JSON shows it: the same keys in the same order
// (a test compares them), but null where a Result has an empty text. Its parts are those
// that JSON shows, too: each with a method of its own would be written and read twice,
// which is most of the time that a small answer takes.
type wireResult struct {
	wireEnding
	Usage       wireUsage       `json:"usage"`
	Violations  []Violation     `json:"violations"`
	Traffic     []Traffic       `json:"traffic"`
	Enforcement wireEnforcement `json:"enforcement"`
}

// wireEnding is how the guest ended and what it left.
type wireEnding struct {
	ID              string                     `json:"id,omitempty"`
	Status          Status                     `json:"status"`
	Outcome         Outcome                    `json:"outcome"`
	Value           json.RawMessage            `json:"result"`
	Error           *string                    `json:"error"`
	ErrorType       *ErrorType                 `json:"error_type"`
	Exception       *Exception                 `json:"exception"`
	ExitCode        *int                       `json:"exit_code"`
	Signal          *string                    `json:"signal"`
	Stdout          string                     `json:"stdout"`
	Stderr          string                     `json:"stderr"`
	StdoutSize      policy.Bytes               `json:"stdout_size"`
	StderrSize      policy.Bytes               `json:"stderr_size"`
	StdoutTruncated bool                       `json:"stdout_truncated"`
	StderrTruncated bool                       `json:"stderr_truncated"`
	Variables       map[string]json.RawMessage `json:"variables"`
}

// MarshalJSON writes every key every time, so that no client has to ask which
// are there: null for what there is none of, and never null for a list or a
// map. (The id is the caller's: it comes back when there was one.)
//
// A struct that embeds a Result inherits this method and with it loses its
// own fields in JSON: give it a Result as a field instead.
func (r Result) MarshalJSON() ([]byte, error) {
	w := wireResult{
		wireEnding: r.ending(), Usage: r.Usage.wire(), Violations: r.Violations, Traffic: r.Traffic, Enforcement: r.Enforcement.wire(),
	}
	if w.Violations == nil {
		w.Violations = []Violation{}
	}
	if w.Traffic == nil {
		w.Traffic = []Traffic{}
	}
	return marshalPlainly(w)
}

func (r Result) ending() wireEnding {
	w := wireEnding{
		ID: r.ID, Status: r.Status, Outcome: r.Outcome, Value: r.ValueOrNull(),
		Error: orNil(r.Error), ErrorType: orNil(r.ErrorType), Exception: r.Exception,
		ExitCode: r.ExitCode, Signal: orNil(r.Signal),
		Stdout: r.Stdout, Stderr: r.Stderr, StdoutSize: r.StdoutSize, StderrSize: r.StderrSize,
		StdoutTruncated: r.StdoutTruncated, StderrTruncated: r.StderrTruncated,
		Variables: make(map[string]json.RawMessage, len(r.Variables)),
	}
	for name, value := range r.Variables {
		w.Variables[name] = orNull(value)
	}
	return w
}

// wireEnforcement is an Enforcement as JSON shows it.
type wireEnforcement struct {
	Tier               policy.Tier            `json:"tier"`
	Jail               *policy.JailBackend    `json:"jail"`
	Walls              map[policy.Wall]string `json:"walls"`
	ViolationsObserved bool                   `json:"violations_observed"`
}

// MarshalJSON writes every key every time, as for a Result.
func (e Enforcement) MarshalJSON() ([]byte, error) { return marshalPlainly(e.wire()) }

func (e Enforcement) wire() wireEnforcement {
	w := wireEnforcement{Tier: e.Tier, Jail: orNil(e.Jail), Walls: e.Walls, ViolationsObserved: e.ViolationsObserved}
	if w.Walls == nil {
		w.Walls = map[policy.Wall]string{}
	}
	return w
}

// wireUsage is a Usage as JSON shows it.
type wireUsage struct {
	WallTime policy.Duration `json:"wall_time"`
	CPUTime  policy.Duration `json:"cpu_time"`
	Memory   string          `json:"memory"`
	Output   string          `json:"output"`
	Result   string          `json:"result"`
	Fuel     policy.Count    `json:"fuel,omitempty"`
}

// MarshalJSON rounds to what was measured: nobody wants nanoseconds of a
// clock or single bytes of a resident set.
func (u Usage) MarshalJSON() ([]byte, error) { return marshalPlainly(u.wire()) }

func (u Usage) wire() wireUsage {
	return wireUsage{
		policy.Duration(u.WallTime.Std().Round(time.Microsecond)),
		policy.Duration(u.CPUTime.Std().Round(time.Microsecond)),
		u.Memory.Rounded(),
		u.Output.Rounded(),
		u.Result.Rounded(),
		u.Fuel,
	}
}

// marshalPlainly leaves <, > and & as they are. Whoever encodes the Result
// chooses: escaping here would take the choice away.
func marshalPlainly(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// orNull turns "no value" into JSON: an empty RawMessage that is not nil would
// make the whole Result impossible to encode.
func orNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}

func orNil[T ~string](s T) *T {
	if s == "" {
		return nil
	}
	return &s
}
