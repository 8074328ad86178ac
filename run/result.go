package run

import (
	"encoding/json"
	"slices"

	"github.com/cordon-sandbox/cordon/policy"
)

// Status is the one-word summary of a Result.
type Status string

// Every Result has one of these.
const (
	StatusOK    Status = "ok"
	StatusError Status = "error"
)

// Outcome says how a run ended, from evidence: our timer fired, the kernel's
// counter rose, our filter answered. It is never guessed from a signal.
type Outcome string

// The ways in which a run can end.
const (
	Succeeded     Outcome = "succeeded"        // the script ran to its end
	Exited        Outcome = "exited"           // it left with a code that is not 0
	Raised        Outcome = "raised"           // an exception that nobody caught
	Malformed     Outcome = "malformed"        // the source does not compile
	Refused       Outcome = "refused"          // the language rules refuse it
	TimedOut      Outcome = "timed_out"        // the wall clock limit
	OutOfCPU      Outcome = "out_of_cpu"       // the CPU time limit
	OutOfMemory   Outcome = "out_of_memory"    // the memory limit
	OutOfOutput   Outcome = "out_of_output"    // the output limit, where it kills
	OutOfResult   Outcome = "out_of_result"    // the limit on result and variables
	OutOfDisk     Outcome = "out_of_disk"      // the disk or scratch limit
	OutOfProcs    Outcome = "out_of_processes" // the limit of processes
	OutOfFuel     Outcome = "out_of_fuel"      // the limit of instructions
	Trapped       Outcome = "trapped"          // a module did what WebAssembly forbids
	Signaled      Outcome = "signaled"         // it crashed, or killed itself
	Denied        Outcome = "denied"           // it kept hammering at a wall
	InvalidOutput Outcome = "invalid_output"   // its result is not a JSON value
	Canceled      Outcome = "canceled"         // the caller gave up
)

// ErrorType is the closed set of words for what went wrong.
type ErrorType string

// errorTypes of the outcomes that are not of a limit, whose table has the word. An
// outcome that is missing did not fail.
var errorTypes = map[Outcome]ErrorType{
	Exited:        "exception",
	Raised:        "exception",
	Malformed:     "syntax",
	Refused:       "policy",
	Trapped:       "crashed",
	Signaled:      "crashed",
	Denied:        "denied",
	InvalidOutput: "invalid_output",
	Canceled:      "canceled",
}

// limits are those that end a run, by their outcomes.
var limits = func() map[Outcome]policy.Limit {
	found := map[Outcome]policy.Limit{}
	for _, limit := range policy.LimitTable() {
		o := Outcome(limit.Outcome)
		_, failure := errorTypes[o] // which the guest itself ends with
		if _, known := found[o]; o != "" && !known && !failure {
			found[o] = limit
		}
	}
	return found
}()

// Limit gives the limit whose end of a run this is: the first, where several have it.
func (o Outcome) Limit() (limit policy.Limit, is bool) {
	limit, is = limits[o]
	return limit, is
}

// Outcomes lists every way a run can end.
func Outcomes() []Outcome {
	all := []Outcome{Succeeded, Exited, Raised, Malformed, Refused}
	for _, limit := range policy.LimitTable() {
		if o := Outcome(limit.Outcome); o != "" && !slices.Contains(all, o) {
			all = append(all, o)
		}
	}
	return append(all, Trapped, Signaled, Denied, InvalidOutput, Canceled)
}

// ErrorType gives the word for an outcome, empty for success.
func (o Outcome) ErrorType() ErrorType {
	if limit, is := o.Limit(); is {
		return ErrorType(limit.ErrorType)
	}
	return errorTypes[o]
}

// Status gives the summary of an outcome.
func (o Outcome) Status() Status {
	if o == Succeeded {
		return StatusOK
	}
	return StatusError
}

// Result is what every frontend gives back for a guest that was started.
type Result struct {
	ID      string  `json:"id,omitempty"`
	Status  Status  `json:"status"`
	Outcome Outcome `json:"outcome"`
	// Value is the guest's `result` as JSON; null when it set none.
	Value     json.RawMessage `json:"result"`
	Error     string          `json:"error"`
	ErrorType ErrorType       `json:"error_type"`
	Exception *Exception      `json:"exception"`
	// ExitCode is null for a guest that a signal ended.
	ExitCode *int   `json:"exit_code"`
	Signal   string `json:"signal"`

	Stdout string `json:"stdout"`
	Stderr string `json:"stderr"`
	// The sizes are what the guest wrote; the texts are cut at the limit.
	StdoutSize      policy.Bytes `json:"stdout_size"`
	StderrSize      policy.Bytes `json:"stderr_size"`
	StdoutTruncated bool         `json:"stdout_truncated"`
	StderrTruncated bool         `json:"stderr_truncated"`

	// Variables holds JSON values, or {"$type": …, "$repr": …} for the rest.
	Variables map[string]json.RawMessage `json:"variables"`

	Usage      Usage       `json:"usage"`
	Violations []Violation `json:"violations"`
	// Traffic is what went through the proxy, by host.
	Traffic     []Traffic   `json:"traffic"`
	Enforcement Enforcement `json:"enforcement"`
}

// Traffic is what a guest exchanged with one host that the policy lets it
// reach.
type Traffic struct {
	Host        string       `json:"host"`
	Port        int          `json:"port"`
	Connections int          `json:"connections"`
	Sent        policy.Bytes `json:"sent"`
	Received    policy.Bytes `json:"received"`
}

// OK reports whether the guest ran to its end.
func (r Result) OK() bool { return r.Outcome == Succeeded }

// Decode reads the guest's value into v, as encoding/json does. A guest that
// set none gave null.
func (r Result) Decode(v any) error { return json.Unmarshal(r.ValueOrNull(), v) }

// ValueOrNull is the guest's value as JSON, also when there is none.
func (r Result) ValueOrNull() json.RawMessage { return orNull(r.Value) }

// ValueSize is what the value and the variables take: their names, and their values as
// JSON.
func (r Result) ValueSize() policy.Bytes {
	size := len(r.Value)
	for name, value := range r.Variables {
		size += len(name) + len(value)
	}
	return policy.Bytes(size)
}

// Exception is what a guest raised and nobody caught.
type Exception struct {
	Type      string `json:"type"`
	Message   string `json:"message"`
	Traceback string `json:"traceback,omitempty"`
	// Line is the guest's own line, 0 when it has none.
	Line int `json:"line,omitempty"`
}

// Violation is an attempt that a wall stopped.
type Violation struct {
	Wall   policy.Wall `json:"wall"`
	Op     string      `json:"op"`
	Detail string      `json:"detail,omitempty"`
	// Claimed is true for what only the guest says: its exception names a path behind
	// this wall. The wall itself reports nothing, so that the guest may never have tried.
	Claimed bool `json:"claimed,omitempty"`
	Line    int  `json:"line,omitempty"`
	// Column is known for the language rules alone, which look at the text.
	Column int    `json:"column,omitempty"`
	Count  int    `json:"count"`
	Hint   string `json:"hint,omitempty"`
	// HintCode and HintData are for programs that word the hint for their own users.
	HintCode HintCode          `json:"hint_code,omitempty"`
	HintData map[string]string `json:"hint_data,omitempty"`
	// Allowed is what could stand there instead, where that is a list.
	Allowed []string `json:"allowed,omitempty"`
}

// Enforcement says what really stood between this guest and its host.
type Enforcement struct {
	Tier policy.Tier `json:"tier"`
	// Jail says what built the sandbox of a command; null for a script.
	Jail policy.JailBackend `json:"jail"`
	// Walls maps each wall to "enforced", with details, or "missing: why".
	Walls map[policy.Wall]string `json:"walls"`
	// ViolationsObserved is false where the kernel denies without telling us.
	ViolationsObserved bool `json:"violations_observed"`
}
