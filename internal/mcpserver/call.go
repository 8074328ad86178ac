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
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// maxWait is how long a call may wait for its turn. Code must not run long after its caller
// has gone.
const maxWait = time.Minute

// call is one call of a tool.
type call struct {
	request *mcp.CallToolRequest
}

// handler returns the function that the SDK calls for a tool. It never returns an error: that
// would be a protocol error, which no model sees.
func (d *frontend) handler(t tool) mcp.ToolHandler {
	return func(ctx context.Context, request *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		a, err := parseArguments(request.Params.Arguments, t.input)
		if err != nil {
			return refused(err), nil
		}
		ctx, end := d.server.calls.begin(ctx, request.Session.ID())
		defer end()
		if client := clientOf(ctx); client != nil {
			defer context.AfterFunc(client, end)()
		}
		return t.call(ctx, call{request}, a), nil
	}
}

func (d *frontend) runPython(ctx context.Context, c call, a arguments) *mcp.CallToolResult {
	return d.run(ctx, c, run.Request{
		Script: run.Script{Source: a.texts["code"], Variables: a.lists["variables"]}, Stdin: a.texts["stdin"], Limits: a.limits(),
	})
}

func (d *frontend) runCommand(ctx context.Context, c call, a arguments) *mcp.CallToolResult {
	return d.run(ctx, c, run.Request{
		Command: run.Command{Args: a.lists["command"], Workspace: d.server.Workspace}, Stdin: a.texts["stdin"], Limits: a.limits(),
	})
}

func (d *frontend) run(ctx context.Context, c call, request run.Request) *mcp.CallToolResult {
	wallTime := request.Limits.WallTime
	if wallTime == 0 {
		wallTime = d.info.Limits.WallTime
	}
	// The guest has its own timeout; this one bounds the wait before it starts.
	ctx, end := context.WithTimeoutCause(ctx, wallTime+maxWait, errNoTurn)
	defer end()
	live := d.follow(ctx, c, &request)
	result, err := d.server.Service.Run(ctx, d.who, observe.MCP, request)
	// Only a small part of the result is sent, and it is counted where it is written.
	defer result.Sent()
	live.end()
	switch {
	case err != nil && errors.Is(context.Cause(ctx), errNoTurn):
		return refused(run.Wrap(run.Busy, errNoTurn))
	case err != nil:
		return refused(withArgumentName(err))
	}
	return runAnswer(result.Result, request, d.info)
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
		words += " Scripts may import what the interpreter has."
	}
	walls := i.Enforcement.Walls
	if walls == nil {
		walls = map[policy.Wall]policy.WallStatus{}
	}
	return &mcp.CallToolResult{
		StructuredContent: structured(infoAnswer{
			Limits: amountsOf(i.Limits), Maxima: amountsOf(i.Maxima), Restricted: i.Restricted, Modules: i.Modules,
			Hosts: i.Hosts, Commands: i.Commands, Tier: i.Enforcement.Tier, Walls: walls, Version: i.Version,
			Tiers: i.Tiers, Python: i.Python, Packages: i.Packages,
		}),
		Content: []mcp.Content{&mcp.TextContent{Text: words}},
	}
}
