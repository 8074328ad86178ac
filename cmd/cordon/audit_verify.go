package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/cordon-sandbox/cordon/internal/audit"
	"github.com/cordon-sandbox/cordon/internal/cli"
	"github.com/cordon-sandbox/cordon/internal/text"
	"github.com/cordon-sandbox/cordon/run"
)

func newAuditVerifyCommand() *cobra.Command {
	var opts auditVerifyOptions
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check that the log is what was written",
		Long: `Read all files of the log, and report the file and line of everything that was
changed, moved, inserted or removed.

How much it can detect depends on what it is given. The chain alone detects
changes after which the later lines were not written anew; without a key, anyone
who can write the files can do that. With a key, only its holder can. Nothing in
the files shows that all of them were restored to an older state: keep the head
that this command prints somewhere else, and pass it as --audit-head the next time.

Exit codes:
  0         intact
  1         findings
  2         bad usage, there is no log, or it needs its key
  130, 143  SIGINT or SIGTERM ended cordon`,
		Example: "  cordon audit verify\n  cordon audit verify --audit-key /etc/cordon/audit.key --audit-head @noted",
		Args:    cli.Arguments(0, 0),
		RunE: cli.Action(func(cmd *cobra.Command, _ []string) error {
			return runAuditVerify(cmd.Context(), opts)
		}),
	}
	opts.addTo(cmd)
	return cmd
}

type auditVerifyOptions struct {
	auditOptions
	key  string
	head string
}

func (o *auditVerifyOptions) addTo(cmd *cobra.Command) {
	o.auditOptions.addTo(cmd)
	f := cmd.Flags()
	f.StringVar(&o.key, "audit-key", "", "the `FILE` with the key of the log")
	f.StringVar(&o.head, "audit-head", "", "the log must contain `HASH`, the head that an earlier run printed: itself, @FILE, or - for standard input")
	cli.Alias(f, "audit-key", "key")
	cli.Alias(f, "audit-head", "head")
}

func runAuditVerify(ctx context.Context, opts auditVerifyOptions) error {
	path, err := opts.path()
	if err != nil {
		return err
	}
	head, err := cli.Text("--audit-head", opts.head, os.Stdin)
	if err != nil {
		return err
	}
	check := audit.Check{Head: head}
	if opts.key != "" {
		if check.Key, err = audit.ReadKey(opts.key); err != nil {
			return run.Errorf(run.ClassOf(err), "--audit-key: %w", err)
		}
	}
	out := &tap{ctx: ctx, to: os.Stdout}
	if !opts.json {
		check.Found = func(f audit.Finding) {
			place := f.File
			if f.Line > 0 {
				place += fmt.Sprintf(":%d", f.Line)
			}
			_ = out.line(text.Line(fmt.Sprintf("%s: %s: %s", place, f.Fault, f.Text))) // the tap keeps the first error
		}
	}
	report, err := audit.Verify(path, check)
	if err != nil {
		return err
	}
	if opts.json {
		err = printDocument(out, report, isTerminal(os.Stdout))
	} else {
		err = showReport(out, report)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return err
	case !report.Intact():
		return cli.ExitCode(1)
	}
	return nil
}

func showReport(out *tap, r audit.Report) error {
	verdict := "intact"
	if !r.Intact() {
		verdict = countOf(r.Found, "finding")
	}
	lines := []string{fmt.Sprintf("%s: %s in %s, %d to %d", verdict, countOf(int(r.Lines), "line"), countOf(r.Files, "file"), r.First, r.Head.Seq)}
	if r.Head.Hash != "" {
		lines = append(lines, "head "+r.Head.Hash)
	}
	if r.Torn > 0 {
		lines = append(lines, "repaired after a crash: "+countOf(r.Torn, "time"))
	}
	if r.Restarts > 0 {
		lines = append(lines, "writers that did not shut down cleanly: "+fmt.Sprint(r.Restarts)+"; what they had not written yet is missing")
	}
	if r.Writing {
		lines = append(lines, "a writer is running: what it writes next was not checked")
	}
	if !r.HeadFile && !r.HeadGiven {
		lines = append(lines, "no head file and no --audit-head: lines cut off the end would not be noticed")
	}
	if !r.Keyed {
		lines = append(lines, "no key: anyone who can write these files can replace them with others that verify")
	}
	if err := printLines(out, lines); err != nil {
		return err
	}
	return out.err
}
