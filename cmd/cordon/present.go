package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/cordon-sandbox/cordon/internal/cli"
	"github.com/cordon-sandbox/cordon/internal/hints"
	"github.com/cordon-sandbox/cordon/internal/text"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// tap passes a stream through. It remembers whether a line is unfinished, so that
// cordon's own messages start on a new line, and ends the run when the reader is gone.
type tap struct {
	ctx  context.Context
	to   io.Writer
	open bool
	err  error // the first
	// beside is the tap of another stream on the same terminal, or nil.
	beside *tap
}

func (t *tap) Write(p []byte) (int, error) {
	n, err := t.to.Write(p)
	if n > 0 {
		t.open = p[n-1] != '\n'
		if t.beside != nil {
			t.beside.open = t.open
		}
	}
	if errors.Is(err, syscall.EPIPE) {
		cli.StopWith(t.ctx, cli.ErrPipe)
	}
	if t.err == nil {
		t.err = err
	}
	return n, err
}

// line writes one line, starting on a new line.
func (t *tap) line(text string) error {
	if t.open {
		text = "\n" + text
	}
	_, err := io.WriteString(t, text+"\n")
	return err
}

func printLines(to *tap, lines []string) error {
	for _, line := range lines {
		if err := to.line(line); err != nil {
			return err
		}
	}
	return nil
}

// wrapped breaks findings at words, with the rest of each below its hint.
func wrapped(lines []string, width int) []string {
	for i, line := range lines {
		lines[i] = text.Wrap(line, width, "    ")
	}
	return lines
}

// presentation says how a Result is shown.
type presentation struct {
	json      bool   // print the whole Result for a program; other fields are for people
	name      string // of the script, in findings
	command   bool   // the guest is a command, not a script
	step      bool   // it is a step of a session
	variables []string
	quiet     bool
	verbose   bool
	hidden    error // why the current directory is not shown to the command
	color     bool
	person    bool         // standard error is a terminal
	width     int          // of that terminal; 0 wraps no lines
	given     []run.File   // to the script
	artifacts *artifactDir // nil if none are saved
}

// present shows what the streams have not shown already.
func present(stdout, stderr *tap, res run.Result, how presentation) error {
	if how.json {
		return printJSON(stdout, res, isTerminal(os.Stdout))
	}
	for _, name := range how.variables {
		if value, set := res.Variables[name]; set {
			if err := stdout.line(name + " = " + showValue(value)); err != nil {
				return err
			}
		}
	}
	if how.quiet {
		return nil
	}
	if res.Outcome == run.Refused {
		if err := printLines(stderr, wrapped(showFindings(how.name, hints.Findings(res, hints.CommandLine)), how.width)); err != nil {
			return err
		}
	}
	return showNotices(stderr, notices(res, how), how)
}

func showNotices(stderr *tap, all []notice, how presentation) error {
	for _, n := range all {
		if err := stderr.line(n.show(how)); err != nil {
			return err
		}
	}
	return nil
}

// notice is a line of cordon's own. It begins with its heading, which is red if it reports
// a failure.
type notice struct {
	heading, line string
	calm          bool
}

func warningf(heading, format string, args ...any) notice {
	return notice{heading: heading, line: heading + ": " + oneLine(fmt.Sprintf(format, args...))}
}

func infof(heading, format string, args ...any) notice {
	n := warningf(heading, format, args...)
	n.calm = true
	return n
}

func (n notice) show(how presentation) string {
	const name = "cordon: "
	line := text.Wrap(name+n.line, how.width, cli.Indent)
	if rest, whole := strings.CutPrefix(line, name+n.heading); how.color && !n.calm && whole {
		line = name + "\x1b[1;31m" + n.heading + "\x1b[0m" + rest
	}
	return line
}

// headings say in a word or two how a run ended. A guest's own exit code has no heading:
// the shell shows it.
var headings = map[run.Outcome]string{
	run.Raised:        "exception",
	run.Malformed:     "syntax error",
	run.Refused:       "refused",
	run.Trapped:       "crashed",
	run.Signaled:      "crashed",
	run.Denied:        "killed",
	run.InvalidOutput: "invalid result",
	run.Canceled:      "canceled",
}

const maxViolations = 5

// notices returns the lines after a run: none after a success, unless something was lost.
func notices(res run.Result, how presentation) []notice {
	var all []notice
	if heading := headingOf(res, how); heading != "" {
		why := warningf(heading, "%s", reason(res, how))
		if res.Outcome == run.TimedOut { // whose message begins with its heading
			why.line = oneLine(reason(res, how))
		}
		all = append(all, why)
	}
	if !res.OK() || how.verbose {
		all = append(all, blocked(res)...)
	}
	if hint := missingFile(res, how); hint != "" {
		all = append(all, infof("hint", "%s", hint))
	}
	for _, s := range []struct {
		name string
		cut  bool
		size policy.Bytes
	}{{"stdout", res.StdoutTruncated, res.StdoutSize}, {"stderr", res.StderrTruncated, res.StderrSize}} {
		if s.cut {
			all = append(all, warningf("truncated", "%s was cut at the output limit: %s were written; -o allows more, up to the policy's maximum", s.name, s.size.Rounded()))
		}
	}
	for _, name := range how.variables {
		if _, set := res.Variables[name]; !set && res.OK() {
			all = append(all, warningf("not set", "the script has no variable %s", name))
		}
	}
	if how.person && res.OK() && !slices.Contains(how.variables, "result") && len(res.Value) > 0 && !bytes.Equal(res.Value, []byte("null")) {
		all = append(all, infof("result", "%s", res.Value))
	}
	if how.verbose {
		all = append(all, account(res, how.hidden)...)
	}
	return all
}

// headingOf is empty where a shell prints nothing either: for a command that ^C or a
// closed pipe ended.
func headingOf(res run.Result, how presentation) string {
	if how.command && res.Outcome == run.Signaled {
		switch res.Signal {
		case "SIGINT", "SIGPIPE":
			return ""
		case "SIGHUP", "SIGTERM", "SIGKILL":
			return "killed"
		}
	}
	if how.step && res.Step != nil {
		return stepHeading(res)
	}
	if limit, is := res.Outcome.Limit(); is {
		return limit.Heading
	}
	return headings[res.Outcome]
}

// stepHeading is headingOf for the step of a session. It is empty if the step's traceback
// has shown how it ended; no shell shows its exit code.
func stepHeading(res run.Result) string {
	limit, is := res.Outcome.Limit()
	switch {
	case res.Outcome == run.Exited:
		return "exited"
	case res.Outcome == run.Raised, res.Outcome == run.Malformed, res.Outcome == run.Canceled && res.Step.Survived:
		return ""
	case is && limit.Heading == "killed" && res.Step.Survived:
		return "stopped"
	case is:
		return limit.Heading
	}
	return headings[res.Outcome]
}

// blocked returns a line for each attempt. For a refused command, the attempts are its
// arguments, not what it did.
func blocked(res run.Result) []notice {
	var all []notice
	attempts := slices.DeleteFunc(slices.Clone(res.Violations), saidAlready)
	for i, v := range attempts {
		if i == maxViolations {
			return append(all, warningf("blocked", "and %d more (--json shows all)", len(attempts)-i))
		}
		if res.Outcome == run.Refused {
			v.Count = 0
		}
		all = append(all, warningf("blocked", "%s", showViolation(v)))
	}
	return all
}

// saidAlready reports a violation of the language rules, which is shown as a finding or
// as the exception.
func saidAlready(v run.Violation) bool {
	return v.Wall == policy.WallLanguage && v.HintCode != run.HintModuleRule
}

// reason says why a run failed. The findings in a refused script are already above it,
// and those of a command follow.
func reason(res run.Result, how presentation) string {
	switch {
	case res.Outcome == run.Refused && how.command:
		return "the command was not started"
	case res.Outcome == run.Refused:
		return countFindings(len(hints.Findings(res, hints.CommandLine))) + "; nothing of the script ran"
	}
	return res.Error
}

func showViolation(v run.Violation) string {
	text := v.Op
	if v.Detail != "" {
		text += " (" + v.Detail + ")"
	}
	if v.Line > 0 {
		text += fmt.Sprintf(" at line %d", v.Line)
	}
	if v.Module != "" {
		text += " by module " + v.Module
	}
	switch {
	case v.Claimed:
		text += ", says the script"
	case v.Count == 1:
		text += ", once"
	case v.Count > 1:
		text += fmt.Sprintf(", %d times", v.Count)
	}
	if hint := hints.Word(v, hints.CommandLine); hint != "" {
		text += " — " + hint
	}
	return text
}

// showValue returns the JSON text, or repr and type for a value that JSON cannot express.
func showValue(value json.RawMessage) string {
	var other struct {
		Type *string `json:"$type"`
		Repr *string `json:"$repr"`
	}
	if bytes.HasPrefix(value, []byte(`{"$`)) && json.Unmarshal(value, &other) == nil && other.Type != nil && other.Repr != nil {
		return text.Line(fmt.Sprintf("%s  # %s", *other.Repr, *other.Type))
	}
	return text.Line(string(value))
}

// oneLine puts text that a guest may have chosen on one line of bounded length.
func oneLine(s string) string {
	const most = 600
	return text.Clip(s, most)
}
