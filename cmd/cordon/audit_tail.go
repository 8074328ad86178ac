package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cordon-sandbox/cordon/internal/audit"
	"github.com/cordon-sandbox/cordon/internal/cli"
	"github.com/cordon-sandbox/cordon/internal/plainjson"
	"github.com/cordon-sandbox/cordon/internal/text"
)

func newAuditTailCommand() *cobra.Command {
	var opts auditTailOptions
	cmd := &cobra.Command{
		Use:   "tail",
		Short: "Show the last runs, and follow new ones",
		Long: `Show the last entries of the log, one a line: when the run ended, how, its id, the
frontend and the caller, what ran and where, its wall time, and how many attempts
were blocked. Lines that begin with "log:" are about the log itself.

` + auditExitHelp,
		Example: "  cordon audit tail -n 100\n  cordon audit tail -F --json | jq .caller",
		Args:    cli.Arguments(0, 0),
		RunE: cli.Action(func(cmd *cobra.Command, _ []string) error {
			return runAuditTail(cmd.Context(), opts)
		}),
	}
	opts.addTo(cmd)
	return cmd
}

type auditTailOptions struct {
	auditOptions
	follow bool
	lines  int
}

func (o *auditTailOptions) addTo(cmd *cobra.Command) {
	o.auditOptions.addTo(cmd)
	cmd.Flags().BoolVarP(&o.follow, "follow", "F", false, "show new entries until SIGINT")
	cmd.Flags().IntVarP(&o.lines, "lines", "n", 10, "start with the last `N` lines, at most 10000")
}

func runAuditTail(ctx context.Context, opts auditTailOptions) error {
	path, err := opts.path()
	if err != nil {
		return err
	}
	out := &tap{ctx: ctx, to: os.Stdout}
	bad := unread{ctx: ctx}
	for entry, err := range audit.Last(ctx, path, opts.lines, opts.follow) {
		if err != nil && !bad.isLine(err) {
			return err
		}
		if err != nil {
			continue
		}
		line := auditLine(entry.Record)
		if opts.json {
			line = text.JSON(entry.JSON)
		}
		if err := out.line(line); err != nil {
			return err
		}
	}
	return bad.end()
}

// auditLine formats one record. Everything in it is made printable: a log can be edited
// by hand.
func auditLine(r audit.Record) string {
	words := []string{r.Time.UTC().Format(time.RFC3339)}
	if r.Note != nil {
		return text.Line(strings.Join(append(words, "log: "+noteText(*r.Note)), "  "))
	}
	ended := string(r.Outcome)
	if ended == "" {
		ended = "not run: " + string(r.ErrorClass)
	}
	if r.Count > 0 {
		ended = fmt.Sprintf("%s, %d more times", ended, r.Count)
	}
	words = append(words, fmt.Sprintf("%-14s", ended), cmp.Or(r.ID, "-"), string(r.Frontend)+"/"+cmp.Or(r.Caller, "-"), string(r.Kind))
	if r.Tier != "" {
		words = append(words, string(r.Tier))
	}
	if r.Usage != nil {
		words = append(words, rounded(plainjson.Milliseconds(r.Usage.WallTime)).String())
	}
	if blocked := blockedIn(r); blocked > 0 {
		words = append(words, fmt.Sprintf("blocked %d", blocked))
	}
	return text.Line(strings.Join(words, "  "))
}

// blockedIn counts the attempts that walls blocked.
func blockedIn(r audit.Record) int {
	n := r.Omitted
	for _, v := range r.Violations {
		n += max(v.Count, 1)
	}
	return n
}

func noteText(n audit.Note) string {
	switch n.Event {
	case audit.Begin:
		return fmt.Sprintf("new file; lines from %d on are kept", n.First)
	case audit.Opened:
		return "a writer started"
	case audit.Closed:
		return "the writer shut down"
	case audit.Torn:
		return fmt.Sprintf("a crash left %d bytes of an incomplete line, which are in %s", n.Bytes, n.File)
	case audit.Lost:
		return fmt.Sprintf("lines up to %d were on disk and are missing", n.LastSeq)
	case audit.Dropped:
		return fmt.Sprintf("%d runs could not be recorded", n.Count)
	}
	return string(n.Event)
}
