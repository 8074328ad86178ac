package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/cordon-sandbox/cordon/internal/audit"
	"github.com/cordon-sandbox/cordon/internal/cli"
	"github.com/cordon-sandbox/cordon/internal/text"
)

func newAuditShowCommand() *cobra.Command {
	var opts auditOptions
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show everything that the log has about one run",
		Long: `Show everything that the log has about the run with this id. Callers may choose
ids: if one was used more than once, all its runs are shown.

Exit codes:
  0         the run is shown
  1         no run has this id, or a line of the log cannot be read
  2         bad usage, or there is no log
  130, 143  SIGINT or SIGTERM ended cordon`,
		Example: "  cordon audit show r1\n  cordon audit show --json r1 | jq .violations",
		Args:    cli.Arguments(1, 1),
		RunE: cli.Action(func(cmd *cobra.Command, args []string) error {
			return runAuditShow(cmd.Context(), opts, args[0])
		}),
	}
	opts.addTo(cmd)
	return cmd
}

func runAuditShow(ctx context.Context, opts auditOptions, id string) error {
	path, err := opts.path()
	if err != nil {
		return err
	}
	out := &tap{ctx: ctx, to: os.Stdout}
	bad := unread{ctx: ctx}
	found := 0
	for entry, err := range audit.Read(path, audit.Filter{ID: id}) {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && !bad.isLine(err):
			return err
		case err != nil:
			continue
		}
		if found++; found > 1 && !opts.json {
			err = out.line("")
		}
		if err == nil && opts.json {
			err = out.line(text.JSON(entry.JSON))
		} else if err == nil {
			err = showRecord(out, entry)
		}
		if err != nil {
			return err
		}
	}
	if found == 0 {
		fmt.Fprintln(os.Stderr, "cordon: no run in "+text.Line(path)+" has the id "+fmt.Sprintf("%q", id))
		return cli.ExitCode(1)
	}
	return bad.end()
}

func showRecord(w io.Writer, e audit.Entry) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(table, "%s\t%s\n", name, text.Line(value))
		}
	}
	row("id", e.ID)
	row("time", e.Time.UTC().Format(time.RFC3339Nano))
	row("frontend", string(e.Frontend))
	row("caller", e.Caller)
	row("kind", string(e.Kind))
	row("code", "sha256 "+cmp.Or(e.CodeHash, "none"))
	row("tier", string(e.Tier))
	row("outcome", string(e.Outcome))
	row("error type", string(e.ErrorType))
	row("not run", string(e.ErrorClass))
	row("queued", e.Queued.String())
	row("ran", e.Ran.String())
	if u := e.Usage; u != nil {
		row("used", fmt.Sprintf("wall time %v, CPU time %v, memory %s, output %s", u.WallTime, u.CPUTime, u.Memory.Rounded(), u.Output.Rounded()))
	}
	for _, v := range e.Violations {
		text := v.Op
		if v.Detail != "" {
			text += " (" + v.Detail + ")"
		}
		if v.Line > 0 {
			text += fmt.Sprintf(" at line %d", v.Line)
		}
		row("blocked", fmt.Sprintf("%s, by %s, %d times", text, v.Wall, v.Count))
	}
	if e.Omitted > 0 {
		row("blocked", fmt.Sprintf("and %d more, which the log leaves out", e.Omitted))
	}
	for _, wall := range slices.Sorted(maps.Keys(e.Walls)) {
		row("wall", fmt.Sprintf("%s: %s", wall, e.Walls[wall]))
	}
	row("line", fmt.Sprintf("%d of the log, %s:%d", e.Seq, e.File, e.Line))
	row("hash", e.Hash)
	return table.Flush()
}
