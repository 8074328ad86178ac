package run

import (
	"encoding/json"

	"github.com/cordon-sandbox/cordon/internal/plainjson"
	"github.com/cordon-sandbox/cordon/policy"
)

// wireResult is the JSON form of a Result: the same keys in the same order (a test compares
// them), but null where a Result has an empty text. Its parts are wire types too: a part with
// a MarshalJSON method would be written and then parsed again by encoding/json, which takes
// most of the time of a small answer.
type wireResult struct {
	wireEnding
	Usage       Usage           `json:"usage"`
	Violations  []Violation     `json:"violations"`
	Traffic     []Traffic       `json:"traffic"`
	Modules     []ModuleUse     `json:"modules"`
	Enforcement wireEnforcement `json:"enforcement"`
	Artifacts   []Artifact      `json:"artifacts,omitempty"`
	// Named as in a Result: a test compares them.
	ArtifactsOmitted int    `json:"artifacts_omitted,omitempty"`
	ArtifactsError   string `json:"artifacts_error,omitempty"`
	Step             *Step  `json:"step,omitempty"`
}

// wireEnding has the fields about how the guest ended and what it returned.
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

// Version is the version of the JSON documents that cordon writes, in their first key, "v".
const Version = 1

// MarshalJSON always writes every key, so that clients need not check which exist: null for
// a missing value, and never null for a list or a map. The exceptions are the id, which is
// written if the request had one, artifacts, which are written if there are some, and step,
// which is written for the step of a session.
//
// A struct that embeds a Result inherits this method, so that its own fields are missing in
// its JSON: use a named field instead.
func (r Result) MarshalJSON() ([]byte, error) {
	w := wireResult{
		wireEnding: r.ending(), Usage: r.Usage, Violations: r.Violations, Traffic: r.Traffic, Modules: r.Modules, Enforcement: r.Enforcement.wire(),
		Artifacts: r.Artifacts, ArtifactsOmitted: r.ArtifactsOmitted, ArtifactsError: r.ArtifactsError, Step: r.Step,
	}
	if w.Violations == nil {
		w.Violations = []Violation{}
	}
	if w.Traffic == nil {
		w.Traffic = []Traffic{}
	}
	if w.Modules == nil {
		w.Modules = []ModuleUse{}
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

// MarshalJSON writes a list also if nothing was displayed.
func (s Step) MarshalJSON() ([]byte, error) {
	type plain Step
	if s.Display == nil {
		s.Display = []Display{}
	}
	return plainjson.Marshal(plain(s))
}

// wireEnforcement is the JSON form of an Enforcement.
type wireEnforcement struct {
	Tier               policy.Tier                       `json:"tier"`
	Jail               *policy.JailBackend               `json:"jail"`
	Walls              map[policy.Wall]policy.WallStatus `json:"walls"`
	ThirdParty         *policy.Tier                      `json:"third_party"`
	ViolationsObserved bool                              `json:"violations_observed"`
}

// MarshalJSON always writes every key, as for a Result.
func (e Enforcement) MarshalJSON() ([]byte, error) { return plainjson.Marshal(e.wire()) }

func (e Enforcement) wire() wireEnforcement {
	w := wireEnforcement{Tier: e.Tier, Jail: plainjson.OrNil(e.Jail), Walls: e.Walls, ThirdParty: plainjson.OrNil(e.ThirdParty), ViolationsObserved: e.ViolationsObserved}
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
		Module      string `json:"module,omitempty"`
		Connections int    `json:"connections"`
		Sent        int64  `json:"sent_bytes"`
		Received    int64  `json:"received_bytes"`
	}{t.Host, t.Port, t.Module, t.Connections, int64(t.Sent), int64(t.Received)})
}
