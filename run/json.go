package run

import (
	"encoding/json"

	"github.com/cordon-sandbox/cordon/internal/plainjson"
	"github.com/cordon-sandbox/cordon/policy"
)

// wireResult is a Result as JSON shows it: the same keys in the same order
// (a test compares them), but null where a Result has an empty text. Its parts are those
// that JSON shows, too: each with a method of its own would be written and read twice,
// which is most of the time that a small answer takes.
type wireResult struct {
	wireEnding
	Usage       Usage           `json:"usage"`
	Violations  []Violation     `json:"violations"`
	Traffic     []Traffic       `json:"traffic"`
	Enforcement wireEnforcement `json:"enforcement"`
}

// wireEnding is how the guest ended and what it left.
type wireEnding struct {
	Version         int                        `json:"v"`
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
	StdoutSize      int64                      `json:"stdout_bytes"`
	StderrSize      int64                      `json:"stderr_bytes"`
	StdoutTruncated bool                       `json:"stdout_truncated"`
	StderrTruncated bool                       `json:"stderr_truncated"`
	Variables       map[string]json.RawMessage `json:"variables"`
}

// Version is that of the JSON documents that cordon writes: their first key, "v".
const Version = 1

// MarshalJSON writes every key every time, so that no client has to ask which
// are there: null for what there is none of, and never null for a list or a
// map. (The id is the caller's: it comes back when there was one.)
//
// A struct that embeds a Result inherits this method and with it loses its
// own fields in JSON: give it a Result as a field instead.
func (r Result) MarshalJSON() ([]byte, error) {
	w := wireResult{
		wireEnding: r.ending(), Usage: r.Usage, Violations: r.Violations, Traffic: r.Traffic, Enforcement: r.Enforcement.wire(),
	}
	if w.Violations == nil {
		w.Violations = []Violation{}
	}
	if w.Traffic == nil {
		w.Traffic = []Traffic{}
	}
	return plainjson.Marshal(w)
}

func (r Result) ending() wireEnding {
	w := wireEnding{
		Version: Version, ID: r.ID, Status: r.Status, Outcome: r.Outcome, Value: r.ValueOrNull(),
		Error: plainjson.OrNil(r.Error), ErrorType: plainjson.OrNil(r.ErrorType), Exception: r.Exception,
		ExitCode: r.ExitCode, Signal: plainjson.OrNil(r.Signal),
		Stdout: r.Stdout, Stderr: r.Stderr, StdoutSize: int64(r.StdoutSize), StderrSize: int64(r.StderrSize),
		StdoutTruncated: r.StdoutTruncated, StderrTruncated: r.StderrTruncated,
		Variables: make(map[string]json.RawMessage, len(r.Variables)),
	}
	for name, value := range r.Variables {
		w.Variables[name] = plainjson.OrNull(value)
	}
	return w
}

// wireEnforcement is an Enforcement as JSON shows it.
type wireEnforcement struct {
	Tier               policy.Tier                       `json:"tier"`
	Jail               *policy.JailBackend               `json:"jail"`
	Walls              map[policy.Wall]policy.WallStatus `json:"walls"`
	ViolationsObserved bool                              `json:"violations_observed"`
}

// MarshalJSON writes every key every time, as for a Result.
func (e Enforcement) MarshalJSON() ([]byte, error) { return plainjson.Marshal(e.wire()) }

func (e Enforcement) wire() wireEnforcement {
	w := wireEnforcement{Tier: e.Tier, Jail: plainjson.OrNil(e.Jail), Walls: e.Walls, ViolationsObserved: e.ViolationsObserved}
	if w.Walls == nil {
		w.Walls = map[policy.Wall]policy.WallStatus{}
	}
	return w
}

// MarshalJSON writes the sizes as numbers.
func (t Traffic) MarshalJSON() ([]byte, error) {
	return plainjson.Marshal(struct {
		Host        string `json:"host"`
		Port        int    `json:"port"`
		Connections int    `json:"connections"`
		Sent        int64  `json:"sent_bytes"`
		Received    int64  `json:"received_bytes"`
	}{t.Host, t.Port, t.Connections, int64(t.Sent), int64(t.Received)})
}
