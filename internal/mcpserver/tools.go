package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cordon-sandbox/cordon/internal/service"
	"github.com/cordon-sandbox/cordon/internal/text"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// tool is a tool that agents call.
type tool struct {
	name, title, description string
	input, output            schema
	hints                    annotations
	call                     func(ctx context.Context, c call, a arguments) *mcp.CallToolResult
}

// outputSchema returns the schema for the SDK: nil if the answer has no structured content.
func (t tool) outputSchema() any {
	if t.output.Type == "" {
		return nil
	}
	return t.output.raw()
}

// annotations are the hints of a tool. False ones are sent, too, because clients assume
// different defaults for absent ones.
type annotations struct{ readOnly, destructive, idempotent, openWorld bool }

// toolsOf returns the tools of a frontend.
func toolsOf(d *frontend) []tool {
	i := d.info
	reaches, keeps := len(i.Hosts) > 0, d.hasSessions()
	tools := []tool{
		{
			name:  "run_python",
			title: "Run Python in a sandbox",
			description: "Run a Python script in a fresh sandbox and get what it printed. " + sandboxWords(i, d.reads()) +
				" " + keptWords(i, keeps) + " A value assigned to `result` comes back, if JSON can hold it.",
			input: pythonInput(i, keeps), output: pythonOutput(i, keeps),
			// A script's /tmp is deleted after the run, so without hosts it can change nothing
			// but its own session.
			hints: annotations{readOnly: !reaches, destructive: reaches, idempotent: !reaches && !keeps, openWorld: reaches},
			call:  d.runPython,
		},
		{
			name:        "check_python",
			title:       "Check Python without running it",
			description: "Find syntax errors, and what the language rules of restricted scripts refuse. Nothing is run." + restrictedWords(i),
			input: argumentsSchema(map[string]schema{
				"code": describedText("the Python source to check"),
			}, "code"),
			output: checkOutput(),
			hints:  annotations{readOnly: true, idempotent: true},
			call:   d.checkPython,
		},
		{
			name:        "sandbox_info",
			title:       "What the sandbox allows",
			description: "Say what scripts may do here: limits, modules, hosts, isolation. Ask once, before you plan.",
			input:       argumentsSchema(map[string]schema{}),
			output:      infoOutput(),
			hints:       annotations{readOnly: true, idempotent: true},
			call:        d.sandboxInfo,
		},
	}
	if d.hasFiles() {
		tools = append(tools, fileTools(d)...)
	}
	if i.Commands {
		tools = append(tools, tool{
			name:        "run_command",
			title:       "Run a command in a sandbox",
			description: "Run a program with its arguments in a sandbox and get what it printed. No shell reads the arguments." + workspaceWords(d.server.Workspace) + " " + hostWords(i),
			input: argumentsSchema(withLimits(i, policy.GuestCommand, map[string]schema{
				"command": {Type: "array", Items: &schema{Type: "string"}, MinItems: 1, Description: `the program and its arguments, such as ["ls", "-l"]`},
				"stdin":   describedText("what the program reads from standard input"),
			}), "command"),
			output: object(runOutput(), ranAlways...),
			hints:  annotations{destructive: true, openWorld: reaches},
			call:   d.runCommand,
		})
	}
	return tools
}

// argumentsSchema returns the schema of a tool's arguments, which allows no others.
func argumentsSchema(properties map[string]schema, required ...string) schema {
	s, closed := object(properties, required...), false
	s.Additional = &closed
	return s
}

// pythonInput returns the arguments of run_python, with a session if it keeps state.
func pythonInput(i service.Info, keeps bool) schema {
	properties := withLimits(i, policy.GuestScript, map[string]schema{
		"code":      describedText("the Python source to run"),
		"stdin":     describedText("what the script reads from standard input"),
		"variables": listOf(schema{Type: "string"}, "names of global variables to show after the run"),
	})
	if keeps {
		properties["session"] = sessionArgument("a name that you choose, such as main: calls with the same name share their state (" + sessionNameWords + ")")
	}
	if !i.Restricted {
		properties["artifacts"] = listOf(schema{Type: "string"}, `patterns of files to return, such as ["*.png", "out/**"]; the script then starts in /work`)
	}
	return argumentsSchema(properties, "code")
}

// hasSessions reports whether run_python can keep state.
func (d *frontend) hasSessions() bool { return d.server.Service.Options.OpenSession != nil }

// hasFiles reports whether sessions have files: the language rules let no script open one.
func (d *frontend) hasFiles() bool { return d.hasSessions() && !d.info.Restricted }

// withLimits adds the limits that an agent may set for this kind of guest.
func withLimits(i service.Info, guest policy.Guest, properties map[string]schema) map[string]schema {
	for _, limit := range policy.LimitTable() {
		if slices.Contains(limit.Agents, guest) {
			kind, unit, least := agentUnit(limit)
			s := schema{Type: kind, unit: unit, Description: limit.Name + " limit in " + unit}
			properties[limit.Argument()] = withBounds(s, least, toAgent(limit, i.Maxima), toAgent(limit, i.Limits))
		}
	}
	return properties
}

// withBounds bounds a number by the operator's maximum. The description has the bounds, too,
// because not every client shows those of a schema to its model.
func withBounds(s schema, least, most, normal float64) schema {
	s.Minimum, s.Maximum, s.Default = &least, &most, normal
	s.Description += fmt.Sprintf(" (%s unless you say otherwise, %s at most)", decimal(normal), decimal(most))
	return s
}

// addTools registers the tools of a frontend.
func (d *frontend) addTools() {
	for _, t := range toolsOf(d) {
		h := t.hints
		d.mcp.AddTool(&mcp.Tool{
			Name: t.name, Title: t.title, Description: t.description,
			InputSchema: t.input.raw(), OutputSchema: t.outputSchema(),
			Annotations: &mcp.ToolAnnotations{
				Title: t.title, ReadOnlyHint: h.readOnly, DestructiveHint: &h.destructive,
				IdempotentHint: h.idempotent, OpenWorldHint: &h.openWorld,
			},
		}, d.handler(t))
	}
}

// ranAlways are the fields of each answer about a run.
var ranAlways = []string{"status", "outcome", "stdout", "stderr", "return_code", "variables", "error", "violations"}

// pythonOutput returns the output schema of run_python.
func pythonOutput(i service.Info, keeps bool) schema {
	properties := runOutput()
	if keeps {
		properties["step"] = stepOutput()
	}
	if !i.Restricted {
		properties["artifacts"] = artifactsOutput()
		properties["artifacts_omitted"] = integer("how many more there are")
		properties["artifacts_error"] = describedText("why there may be others that could not be listed; missing if there are none")
	}
	return object(properties, ranAlways...)
}

// runOutput returns what run_python and run_command give.
func runOutput() map[string]schema {
	return map[string]schema{
		"status":      describedText("ok, or error if the code failed"),
		"outcome":     describedText("how it ended, such as succeeded, raised, timed_out or out_of_memory"),
		"stdout":      describedText("what it printed"),
		"stderr":      describedText("what it wrote to standard error"),
		"return_code": integer("its exit code; -1 if it was ended or never began"),
		"result":      {Description: "the value that the script assigned to `result`, if it did"},
		"variables":   {Type: "object", Description: "the values of the variables asked for"},
		"error":       describedText("what went wrong; empty if nothing did"),
		"error_type":  describedText("what kind of failure it was; empty if none"),
		"exception": object(map[string]schema{
			"type": describedText("its class"), "message": describedText("its text"), "traceback": describedText("where it came from"), "line": integer("the line of the script"),
		}),
		"signal":           describedText("the signal that ended it"),
		"stdout_truncated": flag("stdout was cut at the limit"),
		"stderr_truncated": flag("stderr was cut at the limit"),
		"violations": listOf(object(map[string]schema{
			"wall": describedText("what stopped it"), "op": describedText("what was tried"), "detail": describedText("its arguments"), "line": integer("the line of the script"),
			"column": integer("the column, if known"), "count": integer("how often"), "hint": describedText("what to do instead"),
			"hint_code": describedText("names the hint"), "hint_data": {Type: "object", Description: "what the hint is about"},
			"allowed": listOf(schema{Type: "string"}, "what is allowed there"),
		}), "attempts that the sandbox blocked"),
		"usage": usageOutput(),
		"tier":  describedText("the kind of isolation that it ran in"),
	}
}

// stepOutput returns the schema of what a step of a session has in addition.
func stepOutput() schema {
	step := object(map[string]schema{
		"number":   integer("counts the steps of the session, from 1"),
		"survived": flag("the session goes on with its state"),
		"display": listOf(object(map[string]schema{
			"forms": {Type: "object", Description: "its text, by MIME type; images are only in the content"},
			"value": flag("it is the value of the last expression"),
		}, "forms"), "what the code displayed, in order"),
		"display_omitted": integer("how many objects are left out"),
	}, "number", "survived", "display")
	step.Description = "only with a session"
	return step
}

// usageOutput returns the schema of what a run used, with the names of the limits.
func usageOutput() schema {
	used := map[string]schema{}
	for _, limit := range run.MeasuredLimits() {
		used[limit.NumberKey()] = schema{Type: "number", Description: limit.Name + " that it used"}
	}
	return object(used)
}

func checkOutput() schema {
	return object(map[string]schema{
		"ok": flag("nothing was found"),
		"findings": listOf(object(map[string]schema{
			"rule": describedText("the rule that refuses it; syntax for what is no Python"), "line": integer("counted from 1"), "column": integer("counted from 1"),
			"reason": describedText("why"), "hint": describedText("what to do instead"), "allowed": listOf(schema{Type: "string"}, "what is allowed there"),
			"hint_code": describedText("names the hint"), "hint_data": {Type: "object", Description: "what the hint is about"},
		}, "rule", "line", "column", "reason"), "what was found, in the order of the source"),
	}, "ok", "findings")
}

func infoOutput() schema {
	limits := func(description string) schema {
		amounts := map[string]schema{}
		for _, limit := range toolLimits() {
			kind, unit, _ := agentUnit(limit)
			amounts[limit.Argument()] = schema{Type: kind, Description: unit}
		}
		s := object(amounts)
		s.Description = description
		return s
	}
	return object(map[string]schema{
		"limits":     limits("what a run gets that asks for nothing"),
		"maxima":     limits("the most that a run may ask for"),
		"restricted": flag("scripts go by the language rules"),
		"modules":    listOf(schema{Type: "string"}, "what a restricted script may import"),
		"hosts":      listOf(schema{Type: "string"}, "where code may connect to"),
		"commands":   flag("run_command is there"),
		"sessions":   flag("run_python takes a session"),
		"tier":       describedText("the kind of isolation"),
		"walls":      {Type: "object", Description: "what stands between the code and the host, each with its state"},
		"version":    describedText("of cordon"),
		"tiers":      listOf(schema{Type: "string"}, "the tiers that work here"),
		"python":     describedText("the version that scripts run with"),
		"packages":   listOf(schema{Type: "string"}, "what is installed beside it, with versions"),
	}, "limits", "maxima", "restricted", "modules", "hosts", "commands", "sessions", "tier", "version")
}

// instructions tells a model what the server is for.
func instructions(i service.Info, reads []string) string {
	words := "Runs code that need not be trusted, behind walls. " + sandboxWords(i, reads) + " An answer with isError says what went wrong and what to change."
	if i.Commands {
		words += " run_command runs other programs."
	}
	return words
}

func sandboxWords(i service.Info, reads []string) string {
	files := "It sees no files of the host"
	if len(reads) > 0 {
		files = "Of the host's files, it can read " + strings.Join(reads, ", ")
	}
	return fmt.Sprintf("Limits: %v and %v of memory. %s %s; /tmp is its own.%s",
		i.Limits.WallTime, i.Limits.Memory, hostWords(i), files, restrictedWords(i))
}

// keptWords says what stays from one call to the next.
func keptWords(i service.Info, keeps bool) string {
	if !keeps {
		return "Nothing is kept between calls."
	}
	words := "Nothing is kept between calls, except in a session: calls that name the same one share variables, imports and functions"
	if i.Restricted {
		words += "."
	} else {
		words += ", and the files in /work, where they start (see write_file and read_file). In a session, the value of the last expression is shown, and so are plots and images."
	}
	return words
}

func hostWords(i service.Info) string {
	if len(i.Hosts) == 0 {
		return "There is no network."
	}
	return "It can connect to " + strings.Join(i.Hosts, ", ") + " and nowhere else."
}

func restrictedWords(i service.Info) string {
	if !i.Restricted {
		return ""
	}
	return " Scripts are restricted: they may import " + strings.Join(i.Modules, ", ") + " and nothing else."
}

// packagesWords names the interpreter and what is installed for it, if that is known.
func packagesWords(i service.Info) string {
	if i.Python == "" {
		return ""
	}
	words := ": Python " + i.Python
	if len(i.Packages) > 0 {
		words += " with " + text.Shorten(strings.Join(i.Packages, ", "), maxShown)
	}
	return words
}

func workspaceWords(directory string) string {
	if directory == "" {
		return " It starts in an empty private /tmp."
	}
	return " It works in " + directory + "."
}

// structured encodes the structured content of an answer.
func structured(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		return nil // cannot happen: a test encodes every kind of answer
	}
	return text
}
