package mcpserver

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cordon-sandbox/cordon/internal/admission"
	"github.com/cordon-sandbox/cordon/internal/hints"
	"github.com/cordon-sandbox/cordon/internal/service"
	"github.com/cordon-sandbox/cordon/internal/text"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// answer is the form of a run.Result for agents. It has no list of walls, which is long and
// is part of sandbox_info, and no nulls, which some clients refuse.
type answer struct {
	Status     run.Status                 `json:"status"`
	Outcome    run.Outcome                `json:"outcome"`
	Stdout     string                     `json:"stdout"`
	Stderr     string                     `json:"stderr"`
	ReturnCode int                        `json:"return_code"`
	Value      json.RawMessage            `json:"result,omitempty"`
	Variables  map[string]json.RawMessage `json:"variables"`
	Error      string                     `json:"error"`
	ErrorType  run.ErrorType              `json:"error_type,omitempty"`
	Exception  *run.Exception             `json:"exception,omitempty"`
	Signal     string                     `json:"signal,omitempty"`
	OutCut     bool                       `json:"stdout_truncated,omitempty"`
	ErrCut     bool                       `json:"stderr_truncated,omitempty"`
	Violations []run.Violation            `json:"violations"`
	Usage      run.Usage                  `json:"usage"`
	Tier       policy.Tier                `json:"tier"`
	Step       *run.Step                  `json:"step,omitempty"`
	Artifacts  []artifactAnswer           `json:"artifacts,omitempty"`
	Omitted    int                        `json:"artifacts_omitted,omitempty"`
	Unlisted   string                     `json:"artifacts_error,omitempty"`
}

// runAnswer returns the answer for a guest that was started. The guest's output is in
// separate parts, before the remarks of cordon, so that the guest cannot forge a remark.
// session is the name of the session, empty for none.
func runAnswer(r run.Result, request run.Request, i service.Info, session string, notes ...string) *mcp.CallToolResult {
	r, cut := bounded(r)
	step, shown, left := displayed(r.Step)
	files, omitted, data, named := artifacts(r, request, session)
	notes = slices.Concat(notes, cut, left, named)
	a := answer{
		Status: r.Status, Outcome: r.Outcome, Stdout: r.Stdout, Stderr: r.Stderr, ReturnCode: -1,
		Variables: r.Variables, Error: r.Error, ErrorType: r.ErrorType, Exception: r.Exception, Signal: r.Signal,
		OutCut: r.StdoutTruncated, ErrCut: r.StderrTruncated, Violations: slices.Clone(r.Violations), Usage: r.Usage, Tier: r.Enforcement.Tier,
		Step: step, Artifacts: files, Omitted: omitted, Unlisted: r.ArtifactsError,
	}
	if r.ExitCode != nil && r.Outcome != run.Refused { // a refused guest never started
		a.ReturnCode = *r.ExitCode
	}
	if value := r.ValueOrNull(); string(value) != "null" {
		a.Value = value
	}
	if a.Variables == nil {
		a.Variables = map[string]json.RawMessage{}
	}
	if a.Violations == nil {
		a.Violations = []run.Violation{}
	}
	for i := range a.Violations {
		a.Violations[i].Hint = hints.Word(a.Violations[i], hints.Agent)
	}
	r.Violations = a.Violations
	if a.Exception != nil && strings.Contains(r.Stderr, a.Exception.Traceback) {
		once := *a.Exception
		once.Traceback = "" // stderr has it
		a.Exception = &once
	}
	answered := &mcp.CallToolResult{IsError: !r.OK(), StructuredContent: structured(a)}
	add := func(words string) {
		if words != "" {
			answered.Content = append(answered.Content, &mcp.TextContent{Text: words})
		}
	}
	add(r.Stdout)
	add(errorOutput(r))
	answered.Content = slices.Concat(answered.Content, shown, data)
	add(strings.TrimRight(strings.Join(append(notes, remarks(r, a.Value, request, i)), "\n"), "\n"))
	return answered
}

// errorOutput returns the guest's stderr, followed by its traceback if stderr does not have
// it.
func errorOutput(r run.Result) string {
	words := strings.TrimRight(r.Stderr, "\n")
	if r.Exception != nil {
		if trace := strings.TrimSpace(r.Exception.Traceback); !strings.Contains(words, trace) {
			words = strings.TrimLeft(words+"\n"+shortened(trace), "\n")
		}
	}
	if words == "" {
		return ""
	}
	return "stderr:\n" + words
}

// remarks returns what a model should know in addition to the output: values, truncation,
// the failure and violations.
func remarks(r run.Result, value json.RawMessage, request run.Request, i service.Info) string {
	limits := request.Limits.Fill(i.Limits, i.Maxima)
	var lines []string
	if len(value) > 0 {
		lines = append(lines, "result = "+shortened(text.JSON(value)))
	}
	for _, name := range slices.Sorted(maps.Keys(r.Variables)) {
		lines = append(lines, text.Line(name)+" = "+shortened(text.JSON(r.Variables[name])))
	}
	for _, name := range request.Script.Variables {
		if _, set := r.Variables[name]; !set && r.OK() {
			lines = append(lines, text.Line(name)+" is not set")
		}
	}
	if r.StdoutTruncated || r.StderrTruncated {
		lines = append(lines, fmt.Sprintf("The output was cut at %v: print less, or ask for more with output_limit (at most %d bytes).", limits.Output, int64(i.Maxima.Output)))
	}
	if !r.OK() {
		lines = append(lines, failure(r, i))
	}
	for _, v := range r.Violations {
		if r.Outcome != run.Refused || v.Wall != policy.WallLanguage { // failure lists these as findings
			lines = append(lines, blocked(v))
		}
	}
	lines = append(lines, sessionRemarks(r)...)
	if len(lines) == 0 && r.Stdout == "" && r.Stderr == "" && (r.Step == nil || len(r.Step.Display) == 0) {
		return "It ran to its end and printed nothing."
	}
	return strings.Join(lines, "\n")
}

// sessionRemarks says whether a session goes on after a step that failed or ended it.
func sessionRemarks(r run.Result) []string {
	switch {
	case r.Step == nil:
		return nil
	case !r.Step.Survived:
		why := text.Shorten(text.Line(stepEnd(r)), maxReason)
		return []string{"The session has ended, and its state is lost: " + why + ". The next call with this name opens a new session."}
	case !r.OK():
		return []string{"The session goes on with its state."}
	}
	return nil
}

// failure describes what happened and what to do about it.
func failure(r run.Result, i service.Info) string {
	if limit, ok := r.Outcome.Limit(); ok {
		return limitWords(r, limit, i)
	}
	switch r.Outcome {
	case run.Raised:
		return raised(r)
	case run.Exited:
		return "It failed: " + cmp.Or(r.Error, "it ended with an exit code other than 0") + "."
	case run.Malformed:
		return "Nothing was run, since this is not valid Python: " + r.Error
	case run.Refused:
		if findings := hints.Findings(r, hints.Agent); len(findings) > 0 {
			return "Nothing was run, since the language rules refuse it:\n" + (&run.Refusal{Findings: findings}).Error()
		}
		return "The command was not started."
	case run.Denied:
		return "It was ended since it kept trying what is blocked here: " + r.Error + ". Use another approach."
	case run.InvalidOutput:
		return "What it left in `result` cannot be given back: " + r.Error + ". Assign what JSON can hold."
	case run.Canceled:
		return "It was canceled before its end."
	case run.Signaled, run.Trapped:
		return "It crashed: " + r.Error + "."
	}
	return r.Error
}

// limitWords describes which limit ended a run, and how to stay below it.
func limitWords(r run.Result, limit policy.Limit, i service.Info) string {
	words := fmt.Sprintf("It reached a limit: %s. %s", r.Error, limit.Advice)
	if len(limit.Agents) > 0 {
		_, unit, _ := agentUnit(limit)
		words += fmt.Sprintf(", or ask for more with %s (at most %s %s)", limit.Argument(), decimal(toAgent(limit, i.Maxima)), unit)
	}
	return words + "."
}

// maxShown is how many bytes of a value the text shows; the structured answer has more.
const maxShown = 4 << 10

func shortened(s string) string {
	if len(s) <= maxShown {
		return s
	}
	return text.Cut(s, maxShown) + fmt.Sprintf(" … (%d bytes in all)", len(s))
}

func raised(r run.Result) string {
	if r.Exception == nil {
		return "It failed: " + r.Error
	}
	words := text.Line(r.Exception.Type)
	if r.Exception.Message != "" {
		words += ": " + shortened(text.Line(r.Exception.Message))
	}
	return "It failed with " + words + atLine(r) + "."
}

func atLine(r run.Result) string {
	if r.Exception == nil || r.Exception.Line == 0 {
		return ""
	}
	return fmt.Sprintf(" (line %d)", r.Exception.Line)
}

func blocked(v run.Violation) string {
	words := "Blocked: " + v.Op
	if v.Claimed {
		words = "The code says that it was blocked: " + v.Op
	}
	if v.Detail != "" {
		words += "(" + v.Detail + ")"
	}
	if v.Line > 0 {
		words += fmt.Sprintf(" in line %d", v.Line)
	}
	if v.Module != "" {
		words += " by the module " + v.Module
	}
	if v.Count > 1 {
		words += fmt.Sprintf(", %d times", v.Count)
	}
	if v.Hint != "" {
		words += ": " + v.Hint
	}
	return text.Line(words)
}

// classWords has the beginning of the answer to a call that ran nothing, by the class of the
// error: what a model can do about it depends on the class.
var classWords = map[run.Class]string{
	run.Invalid:       "Nothing was run, since the call is wrong: ",
	run.Forbidden:     "Nothing was run, since this is not allowed here: ",
	run.Unknown:       "Nothing was run, since it names what does not exist: ",
	run.Gone:          "The session has ended, and its state is lost: ",
	run.Unsupported:   "Nothing was run, since this host cannot do it: ",
	run.NotExecutable: "Nothing was run, since the program cannot be executed: ",
	run.NotFound:      "Nothing was run, since the program was not found: ",
	run.Busy:          "Nothing was run, since the sandbox is busy: ",
	run.Closed:        "Nothing was run, since the sandbox is about to end: ",
	run.Internal:      "The sandbox failed, which is not the code's fault: ",
}

// refused returns the answer to a call that ran nothing. It has no structured content,
// because that must match the output schema, which describes runs.
func refused(err error) *mcp.CallToolResult {
	words := classWords[run.ClassOf(err)] + err.Error()
	var busy *admission.Busy
	if errors.As(err, &busy) {
		words = fmt.Sprintf("%stry again in %v.", classWords[run.Busy], busy.RetryAfter)
	}
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: words}}}
}
