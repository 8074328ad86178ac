package mcpserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cordon-sandbox/cordon/internal/hints"
	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/internal/service"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// maxWait is how long a call may wait for its turn. Code must not run long after its caller
// has gone.
const maxWait = time.Minute

// call is one call of a tool.
type call struct {
	request *mcp.CallToolRequest
	sending context.Context // of the request: it ends when the answer is sent
}

// handler returns the function that the SDK calls for a tool. It never returns an error: that
// would be a protocol error, which no model sees.
func (d *frontend) handler(t tool) mcp.ToolHandler {
	return func(ctx context.Context, request *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		a, err := parseArguments(request.Params.Arguments, t.input)
		if err != nil {
			return refused(err), nil
		}
		sending := ctx
		ctx, end := d.server.calls.begin(ctx, request.Session.ID())
		defer end()
		if client := clientOf(ctx); client != nil {
			defer context.AfterFunc(client, end)()
		}
		return t.call(ctx, call{request, sending}, a), nil
	}
}

func (d *frontend) runPython(ctx context.Context, c call, a arguments) *mcp.CallToolResult {
	request := run.Request{
		Script: run.Script{Source: a.texts["code"], Variables: a.lists["variables"], Artifacts: a.lists["artifacts"]}, Stdin: a.texts["stdin"], Limits: a.limits(),
	}
	name, named := a.texts["session"]
	if !named {
		return d.run(ctx, c, "", request, d.runOnce)
	}
	sessions, err := d.sessionsOf(ctx, c.request.Session)
	if err != nil {
		return refused(run.Errorf(run.ClassOf(err), "%w, or leave session out", err))
	}
	return d.run(ctx, c, name, request, d.runStep(sessions, name))
}

func (d *frontend) runCommand(ctx context.Context, c call, a arguments) *mcp.CallToolResult {
	return d.run(ctx, c, "", run.Request{
		Command: run.Command{Args: a.lists["command"], Workspace: d.server.Workspace}, Stdin: a.texts["stdin"], Limits: a.limits(),
	}, d.runOnce)
}

// runner runs a request. Its notes are for the model, before all other remarks.
type runner func(ctx context.Context, request run.Request) (answer service.Answer, notes []string, err error)

// run runs a request, in a session if it names one.
func (d *frontend) run(ctx context.Context, c call, session string, request run.Request, do runner) *mcp.CallToolResult {
	live := d.follow(ctx, c, &request)
	result, notes, err := do(ctx, request)
	// Only a small part of the result is sent, and it is counted where it is written.
	defer result.Sent()
	live.end()
	if err != nil {
		return refused(withArgumentName(err))
	}
	return runAnswer(result.Result, request, d.info, session, notes...)
}

// runOnce is the runner for a fresh sandbox.
func (d *frontend) runOnce(ctx context.Context, request run.Request) (answer service.Answer, notes []string, err error) {
	answer, err = inTime(ctx, d.wallTime(request)+maxWait, func(ctx context.Context) (service.Answer, error) {
		return d.server.Service.Run(ctx, d.who, observe.MCP, request)
	})
	return answer, nil, err
}

// wallTime returns the timeout that the guest itself has.
func (d *frontend) wallTime(request run.Request) time.Duration {
	return cmp.Or(request.Limits.WallTime, d.info.Limits.WallTime)
}

// inTime calls do with a context that ends when the wait for a turn was too long.
func inTime[T any](ctx context.Context, most time.Duration, do func(context.Context) (T, error)) (T, error) {
	ctx, end := context.WithTimeoutCause(ctx, most, errNoTurn)
	defer end()
	got, err := do(ctx)
	if err != nil && errors.Is(context.Cause(ctx), errNoTurn) {
		err = run.Wrap(run.Busy, errNoTurn)
	}
	return got, err
}

var errNoTurn = fmt.Errorf("it waited for %v and did not get its turn: try again later", maxWait)

// argumentOf maps fields of a run.Request to the names of arguments. Fields that are not in
// it have the same name.
var argumentOf = func() map[string]string {
	names := map[string]string{"script": "code"}
	for _, limit := range policy.LimitTable() {
		names["limits."+limit.Key] = limit.Argument()
	}
	return names
}()

// withArgumentName replaces the field in an error about a request by the name of the
// argument.
func withArgumentName(err error) error {
	var wrong *policy.FieldError
	if run.ClassOf(err) != run.Invalid || !errors.As(err, &wrong) {
		return err
	}
	return run.Errorf(run.Invalid, "%s: %w", cmp.Or(argumentOf[wrong.Field], wrong.Field), wrong.Err)
}

// checked is the structured answer of check_python.
type checked struct {
	OK       bool          `json:"ok"`
	Findings []run.Finding `json:"findings"`
}

func (d *frontend) checkPython(ctx context.Context, _ call, a arguments) *mcp.CallToolResult {
	ctx, end := context.WithTimeoutCause(ctx, maxWait, errNoTurn)
	defer end()
	findings, err := d.server.Service.Check(ctx, d.who, run.Check{Script: a.texts["code"]})
	if err != nil {
		return refused(withArgumentName(err))
	}
	findings = hints.WordFindings(findings, hints.Agent)
	words := "Nothing was found."
	if len(findings) > 0 {
		words = (&run.Refusal{Findings: findings}).Error()
		byRules := func(f run.Finding) bool { return f.Rule != "syntax" }
		if !d.info.Restricted && slices.ContainsFunc(findings, byRules) {
			words += "\nScripts are not restricted here: run_python refuses syntax errors alone."
		}
	}
	return &mcp.CallToolResult{
		StructuredContent: structured(checked{OK: len(findings) == 0, Findings: findings}),
		Content:           []mcp.Content{&mcp.TextContent{Text: words}},
	}
}

// infoAnswer is the structured answer of sandbox_info, with limits in the units of arguments.
type infoAnswer struct {
	Limits     map[string]float64                `json:"limits"`
	Maxima     map[string]float64                `json:"maxima"`
	Restricted bool                              `json:"restricted"`
	Modules    []string                          `json:"modules"`
	Hosts      []string                          `json:"hosts"`
	Commands   bool                              `json:"commands"`
	Sessions   bool                              `json:"sessions"`
	Tier       policy.Tier                       `json:"tier"`
	Walls      map[policy.Wall]policy.WallStatus `json:"walls"`
	Version    string                            `json:"version"`
	Tiers      []policy.Tier                     `json:"tiers"`
	Python     string                            `json:"python"`
	Packages   []string                          `json:"packages"`
}

func (d *frontend) sandboxInfo(context.Context, call, arguments) *mcp.CallToolResult {
	i := d.server.Service.Info(d.who) // not d.info: hosts and walls may have changed
	i.Commands = i.Commands && d.server.Commands
	words := fmt.Sprintf("%s CPU time: %v. Output: %v. At most: %v, %v of memory, %v of output. Isolation: tier %s.",
		sandboxWords(i, d.reads()), i.Limits.CPUTime, i.Limits.Output, i.Maxima.WallTime, i.Maxima.Memory, i.Maxima.Output, i.Enforcement.Tier)
	if !i.Restricted {
		words += " Scripts may import what the interpreter has" + packagesWords(i) + "."
	}
	if d.hasSessions() {
		words += " run_python keeps state in sessions."
	}
	walls := i.Enforcement.Walls
	if walls == nil {
		walls = map[policy.Wall]policy.WallStatus{}
	}
	return &mcp.CallToolResult{
		StructuredContent: structured(infoAnswer{
			Limits: amountsOf(i.Limits), Maxima: amountsOf(i.Maxima), Restricted: i.Restricted, Modules: i.Modules,
			Hosts: i.Hosts, Commands: i.Commands, Sessions: d.hasSessions(), Tier: i.Enforcement.Tier, Walls: walls, Version: i.Version,
			Tiers: i.Tiers, Python: i.Python, Packages: i.Packages,
		}),
		Content: []mcp.Content{&mcp.TextContent{Text: words}},
	}
}
