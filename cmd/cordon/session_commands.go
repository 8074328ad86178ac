package main

import (
	"context"
	_ "embed" // the script that lists variables
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/cordon-sandbox/cordon/internal/cli"
	"github.com/cordon-sandbox/cordon/internal/text"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// errLeave ends the conversation.
var errLeave = errors.New("leave")

// sessionCommand is what a person can type instead of a step.
type sessionCommand struct {
	name, about string
	do          func(*sessionConsole, context.Context) error
}

// sessionCommands returns the commands, in the order of the help.
func sessionCommands() []sessionCommand {
	return []sessionCommand{
		{"help", "show the commands", (*sessionConsole).help},
		{"limits", "show the limits", (*sessionConsole).showLimits},
		{"vars", "list the variables, their types and short forms of their values", (*sessionConsole).showVariables},
		{"reset", "end the session and begin a new one", (*sessionConsole).resetByCommand},
		{"quit", "leave, as Ctrl-D does", func(*sessionConsole, context.Context) error { return errLeave }},
	}
}

// sessionHelp has a line for each command.
func sessionHelp() string {
	var b strings.Builder
	for _, command := range sessionCommands() {
		fmt.Fprintf(&b, "  :%-8s %s\n", command.name, command.about)
	}
	return b.String()
}

// command runs a command by its name.
func (c *sessionConsole) command(ctx context.Context, name string) error {
	var names []string
	for _, command := range sessionCommands() {
		if command.name == name {
			return command.do(c, ctx)
		}
		names = append(names, command.name)
	}
	if likely := cli.Nearest(name, names); likely != "" {
		return c.warn("unknown command :%s: did you mean :%s?", name, likely)
	}
	return c.warn("unknown command :%s: :help shows the commands", name)
}

func (c *sessionConsole) help(context.Context) error {
	return c.say("%s", strings.TrimSuffix(sessionHelp(), "\n")+`
Everything else is Python. An empty line ends a block. Ctrl-C interrupts a step.`)
}

func (c *sessionConsole) showLimits(context.Context) error {
	var rows [][]string
	for _, limit := range policy.LimitsFor(policy.GuestScript) {
		rows = append(rows, []string{limit.Name, limit.Text(limit.Of(c.limits)), limit.About})
	}
	return c.say("%s\nThose on memory, CPUs, threads, open files and scratch are for the whole session, the others for each step.", table(rows))
}

func (c *sessionConsole) resetByCommand(ctx context.Context) error {
	if err := c.reset(ctx); err != nil {
		return err
	}
	return c.warn("the state is gone: a new session begins")
}

// listVariables prints the global variables. It leaves nothing behind in the session: its own
// names are in a namespace of their own, and its value is None.
//
//go:embed session_vars.py
var listVariables string

func (c *sessionConsole) showVariables(ctx context.Context) error {
	if c.restricted {
		return c.warn("the variables cannot be listed under the language rules: print those that you need")
	}
	work, done := c.interruptible(ctx)
	defer done()
	res, err := c.run(ctx, work, c.request(fmt.Sprintf(`__import__("builtins").exec(%s, {"names": globals()})`, pythonString(listVariables))))
	if err != nil || res.Step == nil {
		return err
	}
	if c.opts.json {
		return errors.Join(c.show(work, res), c.after(ctx, res))
	}
	if err := c.showListed(res); err != nil {
		return err
	}
	if err := c.show(work, res); err != nil {
		return err
	}
	return c.after(ctx, res)
}

// showListed shows the lines that the script has printed, and its traceback.
func (c *sessionConsole) showListed(res run.Result) error {
	var rows [][]string
	for line := range strings.Lines(res.Stdout) {
		var row []string
		for column := range strings.SplitSeq(strings.TrimSuffix(line, "\n"), "\t") {
			row = append(row, text.Line(column))
		}
		rows = append(rows, row)
	}
	if _, err := io.WriteString(c.stderr, res.Stderr); err != nil {
		return outputLost(err)
	}
	switch {
	case len(rows) > 0:
		return c.say("%s", table(rows))
	case res.OK():
		return c.say("there are no variables")
	}
	return nil
}

// pythonString returns a literal for a text of cordon's own.
func pythonString(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

// table aligns columns.
func table(rows [][]string) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	_ = w.Flush() // into memory
	return strings.TrimSuffix(b.String(), "\n")
}
