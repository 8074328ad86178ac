package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/cordon-sandbox/cordon/internal/cli"
)

func newVersionCommand() *cobra.Command {
	var opts versionOptions
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long:  "Print version, commit, Go version and platform.\n\nExit codes:\n  0  always",
		Args:  cli.Arguments(0, 0),
		RunE: cli.Action(func(cmd *cobra.Command, _ []string) error {
			return runVersion(cmd.Context(), opts)
		}),
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

type versionOptions struct{ json bool }

func runVersion(ctx context.Context, opts versionOptions) error {
	v := cli.ReadVersion()
	out := &tap{ctx: ctx, to: os.Stdout}
	if opts.json {
		return printDocument(out, v, isTerminal(os.Stdout))
	}
	return out.line(v.String())
}
