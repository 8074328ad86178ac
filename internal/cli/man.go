package cli

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cordon-sandbox/cordon/run"
)

// NewManCommand makes the hidden command that prints the manual page of a program, for
// `make release`. makeRoot makes the whole tree of commands.
func NewManCommand(program string, makeRoot func() *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "man", Short: "Print the manual page", Hidden: true, Args: Arguments(0, 0),
		RunE: func(*cobra.Command, []string) error {
			if _, err := io.WriteString(os.Stdout, ManPage(program, makeRoot())); err != nil {
				return run.Wrap(run.Internal, err)
			}
			return nil
		},
	}
}

// ManPage words a tree of commands as a manual page, in the macros of man(7). It has no
// date: the same source gives the same bytes.
func ManPage(program string, root *cobra.Command) string {
	var page strings.Builder
	fmt.Fprintf(&page, ".TH %s 1 \"\" cordon \"User Commands\"\n", strings.ToUpper(program))
	fmt.Fprintf(&page, ".SH NAME\n%s \\- %s\n", program, roff(root.Short))
	fmt.Fprintf(&page, ".SH SYNOPSIS\n.B %s\n.I command\n[\\fIflags\\fR] [\\fIarguments\\fR]\n", program)
	page.WriteString(".SH DESCRIPTION\n")
	writeManText(&page, root.Long)
	page.WriteString(".SH COMMANDS\n")
	writeManCommands(&page, root)
	other := map[string]string{"cordon": "cordond", "cordond": "cordon"}[program]
	fmt.Fprintf(&page, ".SH SEE ALSO\n.BR %s (1)\n", other)
	return page.String()
}

func writeManCommands(page *strings.Builder, parent *cobra.Command) {
	for _, c := range parent.Commands() {
		if !c.IsAvailableCommand() {
			continue
		}
		fmt.Fprintf(page, ".SS %s\n", quoteRoff(c.UseLine()))
		text := c.Long
		if text == "" {
			text = c.Short + "."
		}
		writeManText(page, text)
		c.LocalFlags().VisitAll(func(f *pflag.Flag) { writeManFlag(page, f) })
		writeManCommands(page, c)
	}
}

func writeManFlag(page *strings.Builder, f *pflag.Flag) {
	if f.Hidden {
		return
	}
	kind, usage := pflag.UnquoteUsage(f)
	name := "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	fmt.Fprintf(page, ".TP\n\\fB%s\\fR", roff(name))
	if kind != "" {
		fmt.Fprintf(page, " \\fI%s\\fR", roff(kind))
	}
	fmt.Fprintf(page, "\n%s\n", roffLine(usage))
}

// writeManText words a help text. Lines that are indented there are kept as they are.
func writeManText(page *strings.Builder, text string) {
	kept := false
	keep := func(now bool) {
		if now && !kept {
			page.WriteString(".PP\n.nf\n")
		} else if !now && kept {
			page.WriteString(".fi\n")
		}
		kept = now
	}
	for line := range strings.SplitSeq(strings.Trim(text, "\n"), "\n") {
		if line == "" {
			keep(false)
			page.WriteString(".PP\n")
			continue
		}
		keep(strings.HasPrefix(line, " "))
		page.WriteString(roffLine(line) + "\n")
	}
	keep(false)
}

var roffEscapes = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, "…", "...", "—", `\(em`, "–", `\(en`, "×", `\(mu`)

// roff escapes what has a meaning inside of a line.
func roff(text string) string { return roffEscapes.Replace(text) }

// roffLine is roff for what begins a line, where a dot begins a macro.
func roffLine(text string) string {
	if strings.HasPrefix(text, ".") {
		return `\&` + roff(text)
	}
	return roff(text)
}

// quoteRoff makes one argument of a macro.
func quoteRoff(text string) string { return `"` + strings.ReplaceAll(roff(text), `"`, `\(dq`) + `"` }
