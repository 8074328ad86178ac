package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/cordon-sandbox/cordon/internal/cli"
	"github.com/cordon-sandbox/cordon/internal/jsonform"
	"github.com/cordon-sandbox/cordon/internal/text"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// errLeave ends the conversation.
var errLeave = errors.New("leave")

// sessionCommand is what a person can type instead of a step.
type sessionCommand struct {
	name, arguments, about string // optional arguments are in brackets
	do                     func(*sessionConsole, context.Context, []string) error
}

// sessionCommands returns the commands, in the order of the help.
func sessionCommands() []sessionCommand {
	return []sessionCommand{
		{"help", "", "show the commands", alone((*sessionConsole).help)},
		{"limits", "", "show the limits", alone((*sessionConsole).showLimits)},
		{"vars", "", "list the variables, their types and short forms of their values", alone((*sessionConsole).showVariables)},
		{"files", "", "list the files in /work, where the session starts", onFiles((*sessionConsole).listFiles)},
		{"put", "PATH [NAME]", "copy a file of yours to /work", onFiles((*sessionConsole).putFile)},
		{"get", "NAME [PATH]", "copy a file in /work to the current directory, or to PATH", onFiles((*sessionConsole).getFile)},
		{"rm", "NAME", "remove a file or directory in /work", onFiles((*sessionConsole).removeFile)},
		{"reset", "", "end the session and begin a new one", alone((*sessionConsole).resetByCommand)},
		{"quit", "", "leave, as Ctrl-D does", func(*sessionConsole, context.Context, []string) error { return errLeave }},
	}
}

// alone makes a command of a function without arguments.
func alone(do func(*sessionConsole, context.Context) error) func(*sessionConsole, context.Context, []string) error {
	return func(c *sessionConsole, ctx context.Context, _ []string) error { return do(c, ctx) }
}

// takes reports whether the command can have so many arguments.
func (s sessionCommand) takes(n int) bool {
	all := strings.Fields(s.arguments)
	return n <= len(all) && n >= len(all)-strings.Count(s.arguments, "[")
}

func (s sessionCommand) usage() string { return strings.TrimSpace(s.name + " " + s.arguments) }

// sessionHelp has a line for each command.
func sessionHelp() string {
	var b strings.Builder
	for _, command := range sessionCommands() {
		fmt.Fprintf(&b, "  :%-16s %s\n", command.usage(), command.about)
	}
	return b.String()
}

// command runs a command.
func (c *sessionConsole) command(ctx context.Context, line string) error {
	words, err := splitWords(line)
	if err != nil {
		return c.refuse(run.Wrap(run.Invalid, err))
	}
	name := ""
	if len(words) > 0 {
		name = words[0]
	}
	var names []string
	for _, command := range sessionCommands() {
		switch {
		case command.name != name:
			names = append(names, command.name)
		case !command.takes(len(words) - 1):
			return c.refuse(run.Errorf(run.Invalid, "wrong number of arguments: write :%s", command.usage()))
		default:
			return command.do(c, ctx, words[1:])
		}
	}
	if likely := cli.Nearest(name, names); likely != "" {
		return c.warn("unknown command :%s: did you mean :%s?", name, likely)
	}
	return c.warn("unknown command :%s: :help shows the commands", name)
}

// splitWords splits a line at spaces, except for those in quotation marks.
func splitWords(line string) ([]string, error) {
	var words []string
	for rest := strings.TrimSpace(line); rest != ""; rest = strings.TrimSpace(rest) {
		var word string
		if quote := rest[:1]; quote == `"` || quote == "'" {
			var closed bool
			if word, rest, closed = strings.Cut(rest[1:], quote); !closed {
				return nil, fmt.Errorf("the quotation mark %s is not closed", quote)
			}
		} else {
			end := strings.IndexFunc(rest, unicode.IsSpace)
			if end < 0 {
				end = len(rest)
			}
			word, rest = rest[:end], rest[end:]
		}
		words = append(words, word)
	}
	return words, nil
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

func (c *sessionConsole) showVariables(ctx context.Context) error {
	work, done := c.interruptible(ctx)
	defer done()
	list, omitted, err := c.session.Variables(work)
	switch {
	case run.ClassOf(err) == run.Gone:
		return errors.Join(c.refuse(err), c.reopen(ctx))
	case err != nil:
		return c.refuse(err)
	case c.opts.json:
		document, err := jsonform.Document(struct {
			Variables []run.Variable `json:"variables"`
			Omitted   int            `json:"omitted,omitempty"`
		}{append([]run.Variable{}, list...), omitted})
		return errors.Join(err, c.say("%s", document))
	case len(list) == 0:
		return c.say("there are no variables")
	}
	var rows [][]string
	for _, v := range list {
		rows = append(rows, []string{text.Line(v.Name), text.Line(v.Type), text.Line(v.Text)})
	}
	if omitted > 0 {
		rows = append(rows, []string{fmt.Sprintf("… and %d more", omitted)})
	}
	return c.say("%s", table(rows))
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
