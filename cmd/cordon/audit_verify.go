package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/cordon-sandbox/cordon/internal/audit"
	"github.com/cordon-sandbox/cordon/internal/cli"
	"github.com/cordon-sandbox/cordon/internal/text"
)

func newAuditVerifyCommand() *cobra.Command {
	var opts auditVerifyOptions
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Say whether the log is what was written",
		Long: `Read all files of the log, and name the file and line of everything that was
changed, moved, put in or taken out.

What it can show depends on what it is given. By itself, the chain shows changes
by somebody who did not write all later lines anew; without a key, anybody who can
write the files can do that. With the key, only who has it can. Nothing in the
files shows that all of them were put back to an older state: keep the head that
this prints somewhere else, and give it with --head the next time.

Exit codes:
  0         intact
  1         findings
  2         bad usage, there is no log, or it needs its key
  130, 143  cordon was ended by SIGINT or SIGTERM`,
		Example: "  cordon audit verify\n  cordon audit verify --key /etc/cordon/audit.key --head \"$(cat noted)\"",
		Args:    cobra.NoArgs,
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
	cmd.Flags().StringVar(&o.key, "key", "", "the log was written with the key in `FILE` (CORDON_AUDIT_KEY)")
	cmd.Flags().StringVar(&o.head, "head", "", "`HASH` must be in it: the head of an earlier time (CORDON_AUDIT_HEAD)")
	cli.NameVariable(cmd, "key", "CORDON_AUDIT_KEY")
	cli.NameVariable(cmd, "head", "CORDON_AUDIT_HEAD")
}

func runAuditVerify(ctx context.Context, opts auditVerifyOptions) error {
	path, err := opts.path()
	if err != nil {
		return err
	}
	check := audit.Check{Head: opts.head}
	if opts.key != "" {
		if check.Key, err = audit.ReadKey(opts.key); err != nil {
			return err
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
		err = printJSON(out, report, isTerminal(os.Stdout))
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
		lines = append(lines, "mended after a crash: "+countOf(r.Torn, "time"))
	}
	if r.Restarts > 0 {
		lines = append(lines, "writers that did not end in order: "+fmt.Sprint(r.Restarts)+"; what they had not written yet is not here")
	}
	if r.Writing {
		lines = append(lines, "a writer is at work: what it writes next was not looked at")
	}
	if !r.HeadFile && !r.HeadGiven {
		lines = append(lines, "no head file and no --head: lines that were cut off the end would not be missed")
	}
	if !r.Keyed {
		lines = append(lines, "no key: whoever can write these files can also write others that are intact")
	}
	if err := printLines(out, lines); err != nil {
		return err
	}
	return out.err
}
