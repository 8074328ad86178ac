package run

import (
	"encoding/json"
	"slices"
	"sync"

	"github.com/cordon-sandbox/cordon/internal/plainjson"
	"github.com/cordon-sandbox/cordon/policy"
)

// Status summarizes a Result in one word.
type Status string

// The statuses.
const (
	StatusOK    Status = "ok"
	StatusError Status = "error"
)

// Outcome is how a run ended. It comes from evidence: our timer fired, the kernel's counter
// rose, our filter answered. It is never guessed from a signal.
type Outcome string

// The ways in which a run can end.
const (
	Succeeded     Outcome = "succeeded"        // the guest ran to its end
	Exited        Outcome = "exited"           // it exited with a code other than 0
	Raised        Outcome = "raised"           // an uncaught exception
	Malformed     Outcome = "malformed"        // the source does not compile
	Refused       Outcome = "refused"          // the language rules refuse it
	TimedOut      Outcome = "timed_out"        // the wall clock limit
	OutOfCPU      Outcome = "out_of_cpu"       // the CPU time limit
	OutOfMemory   Outcome = "out_of_memory"    // the memory limit
	OutOfOutput   Outcome = "out_of_output"    // the output limit, if OnOutputLimit is kill
	OutOfResult   Outcome = "out_of_result"    // the limit on result and variables
	OutOfDisk     Outcome = "out_of_disk"      // the disk or scratch limit
	OutOfProcs    Outcome = "out_of_processes" // the limit of processes
	OutOfFuel     Outcome = "out_of_fuel"      // the limit of instructions
	Trapped       Outcome = "trapped"          // a module did something that WebAssembly forbids
	Signaled      Outcome = "signaled"         // it crashed, or killed itself
	Denied        Outcome = "denied"           // it was killed for repeated attempts at a wall
	InvalidOutput Outcome = "invalid_output"   // its result is not a JSON value
	Canceled      Outcome = "canceled"         // the caller canceled it
)

// ErrorType is one word for what went wrong. The set of words is closed.
type ErrorType string

// errorTypes has the words for outcomes other than those of limits, which the table of
// limits has. An outcome in neither is not a failure.
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

// limits maps each outcome to the limit that ends a run with it.
var limits = sync.OnceValue(func() map[Outcome]policy.Limit {
	found := map[Outcome]policy.Limit{}
	for _, limit := range policy.LimitTable() {
		o := Outcome(limit.Outcome)
		_, failure := errorTypes[o] // an outcome that the guest itself causes
		if _, known := found[o]; o != "" && !known && !failure {
			found[o] = limit
		}
	}
	return found
})

// Limit returns the limit that ends a run with this outcome, the first if there are
// several.
func (o Outcome) Limit() (limit policy.Limit, is bool) {
	limit, is = limits()[o]
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

// ErrorType returns the word for an outcome, empty for success.
func (o Outcome) ErrorType() ErrorType {
	if limit, is := o.Limit(); is {
		return ErrorType(limit.ErrorType)
	}
	return errorTypes[o]
}

// Status returns the status of an outcome.
func (o Outcome) Status() Status {
	if o == Succeeded {
		return StatusOK
	}
	return StatusError
}

// Result is the result of a run, the same from every frontend.
type Result struct {
	ID      string  `json:"id,omitempty"`
	Status  Status  `json:"status"`
	Outcome Outcome `json:"outcome"`
	// Value is the guest's `result` as JSON; null if it set none.
	Value     json.RawMessage `json:"result"`
	Error     string          `json:"error"`
	ErrorType ErrorType       `json:"error_type"`
	Exception *Exception      `json:"exception"`
	// ExitCode is null for a guest that a signal killed.
	ExitCode *int   `json:"exit_code"`
	Signal   string `json:"signal"`

	Stdout string `json:"stdout"`
	Stderr string `json:"stderr"`
	// The sizes count everything that the guest wrote. The texts are cut at the limit.
	StdoutSize      policy.Bytes `json:"stdout_bytes"`
	StderrSize      policy.Bytes `json:"stderr_bytes"`
	StdoutTruncated bool         `json:"stdout_truncated"`
	StderrTruncated bool         `json:"stderr_truncated"`

	// Variables holds JSON values, or {"$type": …, "$repr": …} for the rest.
	Variables map[string]json.RawMessage `json:"variables"`

	Usage      Usage       `json:"usage"`
	Violations []Violation `json:"violations"`
	// Traffic is the traffic through the proxy, by host.
	Traffic []Traffic `json:"traffic"`
	// Modules is what imported modules used, as the guest reports it. It is empty without
	// module rules in the policy.
	Modules     []ModuleUse `json:"modules"`
	Enforcement Enforcement `json:"enforcement"`
	// Artifacts are what the guest has written to the files that the request asks for, by
	// name. ArtifactsOmitted counts those above the maximum of 1000. ArtifactsError says why there may be
	// others that could not be listed; empty if there are none.
	Artifacts        []Artifact `json:"artifacts,omitempty"`
	ArtifactsOmitted int        `json:"artifacts_omitted,omitempty"`
	ArtifactsError   string     `json:"artifacts_error,omitempty"`
	// Step is set for the step of a session; nil for all other runs.
	Step *Step `json:"step,omitempty"`
}

// Traffic counts what a guest exchanged with one host.
type Traffic struct {
	Host string `json:"host"`
	Port int    `json:"port"`
	// Module is the imported module that connected, as the guest reports it. It is set
	// only under a policy with module rules, and empty for the script itself.
	Module      string       `json:"module,omitempty"`
	Connections int          `json:"connections"`
	Sent        policy.Bytes `json:"sent_bytes"`
	Received    policy.Bytes `json:"received_bytes"`
}

// ModuleUse is what one imported module of a script used, as the guest reports it. Traffic
// has the hosts.
type ModuleUse struct {
	Module string `json:"module"`
	// Files are the files and directories that it opened or tried to open, without those
	// that Python imports. Omitted counts those above the bound.
	Files   []string `json:"files,omitempty"`
	Omitted int      `json:"files_omitted,omitempty"`
	// Threads is the number of threads that it started.
	Threads int `json:"threads,omitempty"`
}

// OK reports whether the guest ran to its end.
func (r Result) OK() bool { return r.Outcome == Succeeded }

// Decode unmarshals the guest's value into v. The value is null if the guest set
// none.
func (r Result) Decode(v any) error { return json.Unmarshal(r.ValueOrNull(), v) }

// ValueOrNull returns the guest's value as JSON, null if it set none.
func (r Result) ValueOrNull() json.RawMessage { return plainjson.OrNull(r.Value) }

// ValueSize returns the size of the value, the variables and what a step displayed as JSON,
// with their names.
func (r Result) ValueSize() policy.Bytes {
	size := len(r.Value)
	if r.Step != nil {
		for _, shown := range r.Step.Display {
			size += shown.size()
		}
	}
	for name, value := range r.Variables {
		size += len(name) + len(value)
	}
	return policy.Bytes(size)
}

// size is about how much JSON the forms take.
func (d Display) size() (size int) {
	for kind, text := range d.Forms {
		size += len(kind) + len(text)
	}
	return size
}

// Exception is an uncaught exception of a guest.
type Exception struct {
	Type      string `json:"type"`
	Message   string `json:"message"`
	Traceback string `json:"traceback,omitempty"`
	// Line is the line in the guest's code, 0 if there is none.
	Line int `json:"line,omitempty"`
}

// Violation is an attempt that a wall stopped.
type Violation struct {
	Wall   policy.Wall `json:"wall"`
	Op     string      `json:"op"`
	Detail string      `json:"detail,omitempty"`
	// Claimed is true if only the guest's exception, which names a path behind this
	// wall, is evidence. The wall itself reported nothing, so the guest may have made
	// it up.
	Claimed bool `json:"claimed,omitempty"`
	Line    int  `json:"line,omitempty"`
	// Module is the imported module whose code asked for it, as the guest reports it:
	// that of the outermost frame that is neither the script's nor the standard
	// library's. It is empty for the script itself, and if it is not known.
	Module string `json:"module,omitempty"`
	// Column is set only for violations of the language rules, which check the text.
	Column int    `json:"column,omitempty"`
	Count  int    `json:"count"`
	Hint   string `json:"hint,omitempty"`
	// HintCode and HintData let a program word the hint for its own users.
	HintCode HintCode          `json:"hint_code,omitempty"`
	HintData map[string]string `json:"hint_data,omitempty"`
	// Allowed lists what may be written instead, if the rule has a list.
	Allowed []string `json:"allowed,omitempty"`
}

// Enforcement reports which walls isolated this guest from its host.
type Enforcement struct {
	Tier policy.Tier `json:"tier"`
	// Jail is the program that built the sandbox of a command; null for a script.
	Jail policy.JailBackend `json:"jail"`
	// Walls has each wall of the tier, enforced or missing.
	Walls map[policy.Wall]policy.WallStatus `json:"walls"`
	// ThirdParty is the third_party of the policy if third-party code ran on a tier that is
	// not made for it; null otherwise.
	ThirdParty policy.Tier `json:"third_party"`
	// ViolationsObserved is false if the kernel denies calls without reporting them.
	ViolationsObserved bool `json:"violations_observed"`
}
