package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/cordon-sandbox/cordon/internal/audit"
	"github.com/cordon-sandbox/cordon/internal/cli"
	"github.com/cordon-sandbox/cordon/run"
)

const auditExitHelp = `Exit codes:
  0         success
  1         a line of the log cannot be read; the others are shown
  2         bad usage, or there is no log
  130, 143  SIGINT or SIGTERM ended cordon
  141       the reader of the output is gone`

func newAuditCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Read and verify the log of what was run",
		Long: `Read and verify the log that a service keeps of every request: who asked, what
ran, behind which walls, and how it ended. The code itself is not in it.

  cordon audit tail -F       show runs as they end
  cordon audit show ID       show everything about one run
  cordon audit stats         count runs by tier, outcome and caller
  cordon audit verify        check that the log was not changed`,
		Args: cli.NoSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cmd.Help()
		},
	}
	cmd.AddCommand(newAuditTailCommand(), newAuditShowCommand(), newAuditStatsCommand(), newAuditVerifyCommand())
	return cmd
}

// auditOptions name the log.
type auditOptions struct {
	file string
	json bool
}

func (o *auditOptions) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.file, "audit-file", "", "the log `FILE`; its rotated files are found beside it\n(/var/log/cordon/audit.jsonl for root, else $XDG_STATE_HOME/cordon/audit.jsonl)")
	cli.Alias(f, "audit-file", "file")
	f.BoolVar(&o.json, "json", false, "print JSON")
}

func (o *auditOptions) path() (string, error) {
	if o.file != "" {
		return o.file, nil
	}
	path, err := audit.DefaultPath()
	if err != nil {
		return "", run.Errorf(run.Invalid, "%w: name it with --audit-file", err)
	}
	return path, nil
}

// unread counts the lines of a log that cannot be read.
type unread struct {
	ctx   context.Context
	lines int
}

// isLine reports whether err is about one line, which it then prints. Any other error
// ends the command.
func (u *unread) isLine(err error) bool {
	if !errors.Is(err, audit.ErrLine) {
		return false
	}
	u.lines++
	fmt.Fprintln(os.Stderr, "cordon: "+oneLine(err.Error()))
	return true
}

// end returns the command's error once everything readable has been shown.
func (u *unread) end() error {
	if u.ctx.Err() != nil {
		return u.ctx.Err()
	}
	if u.lines > 0 {
		return cli.ExitCode(1)
	}
	return nil
}
