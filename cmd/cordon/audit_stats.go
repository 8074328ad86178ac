package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/cordon-sandbox/cordon/internal/audit"
	"github.com/cordon-sandbox/cordon/internal/cli"
	"github.com/cordon-sandbox/cordon/internal/plainjson"
	"github.com/cordon-sandbox/cordon/internal/text"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func newAuditStatsCommand() *cobra.Command {
	var opts auditStatsOptions
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Count runs by tier, outcome and caller",
		Long: `Count the runs in the log by tier, outcome and caller, and refused requests by
reason. The wall times are the median and the 99th percentile, within 2 %.

` + auditExitHelp,
		Example: "  cordon audit stats --since 1h\n  cordon audit stats --since 2026-01-02T00:00:00Z --json",
		Args:    cli.Arguments(0, 0),
		RunE: cli.Action(func(cmd *cobra.Command, _ []string) error {
			return runAuditStats(cmd.Context(), opts)
		}),
	}
	opts.addTo(cmd)
	return cmd
}

type auditStatsOptions struct {
	auditOptions
	since string
}

func (o *auditStatsOptions) addTo(cmd *cobra.Command) {
	o.auditOptions.addTo(cmd)
	cmd.Flags().StringVar(&o.since, "since", "", "count runs that ended after `TIME`, which can be relative, like 1h")
}

// parseSince parses a time, or a duration before now.
func parseSince(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	ago, err := policy.ParseDuration(text)
	if err != nil {
		return time.Time{}, run.Errorf(run.Invalid, "--since: %w; or write a time like 2026-01-02T15:04:05Z", err)
	}
	return now.Add(-ago), nil
}

func runAuditStats(ctx context.Context, opts auditStatsOptions) error {
	path, err := opts.path()
	if err != nil {
		return err
	}
	since, err := parseSince(opts.since, time.Now())
	if err != nil {
		return err
	}
	var stats audit.Stats
	bad := unread{ctx: ctx}
	for entry, err := range audit.Read(path, audit.Filter{Since: since}) {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && !bad.isLine(err):
			return err
		case err == nil:
			stats.Add(entry.Record)
		}
	}
	out := &tap{ctx: ctx, to: os.Stdout}
	if opts.json {
		err = printDocument(out, struct {
			audit.Stats
			Unread int           `json:"unread"`
			Groups []audit.Group `json:"groups"`
		}{stats, bad.lines, stats.Groups()}, isTerminal(os.Stdout))
	} else {
		err = showStats(out, stats)
	}
	if err != nil {
		return err
	}
	return bad.end()
}

func showStats(out *tap, stats audit.Stats) error {
	if stats.Runs+stats.NotRun == 0 {
		return out.line("no runs")
	}
	if err := out.line(fmt.Sprintf("%s to %s", stats.From.UTC().Format(time.RFC3339), stats.To.UTC().Format(time.RFC3339))); err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "by\t\tcount\tfailed\tnot run\tp50\tp99")
	for _, g := range stats.Groups() {
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%d\t%v\t%v\n", g.By, text.Line(cmp.Or(g.Name, "-")), g.Count, g.Failed, g.NotRun, rounded(g.P50), rounded(g.P99))
	}
	return table.Flush()
}

func rounded(d plainjson.Milliseconds) time.Duration {
	return time.Duration(d).Round(10 * time.Microsecond)
}
