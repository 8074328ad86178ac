package main

import (
	"context"
	"net/http"
	"os"

	"github.com/spf13/cobra"

	"github.com/cordon-sandbox/cordon/internal/cli"
	"github.com/cordon-sandbox/cordon/run"
)

func newMCPCommand() *cobra.Command {
	var opts mcpOptions
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve agents over MCP",
		Long: `Offer the sandbox as tools of the Model Context Protocol: run_python, check_python
and sandbox_info; list_files, read_file and write_file for the files of its sessions;
and run_command with --allow-commands. No tool has a parameter that gives code more than
the policy does.

  --transport stdio   one client, on standard input and output: agents start it so
  --transport http    at http://ADDRESS/mcp
  --transport sse     at http://ADDRESS/sse, for clients from before 2025

cordon mcp install adds it to the configuration of an MCP client.

Over HTTP, the rules are those of cordon serve (which offers both): loopback or a
Unix socket, or --tokens.

` + exitHelp,
		Example: `  cordon mcp install claude-code
  cordon mcp
  cordon mcp --policy strict
  cordon mcp --transport http --listen 127.0.0.1:9000`,
		Args: cli.NoSuchCommand,
		RunE: cli.Action(func(cmd *cobra.Command, _ []string) error {
			if err := opts.validate(cmd); err != nil {
				return err
			}
			return runMCP(cmd.Context(), opts)
		}),
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(&opts.transport, "transport", "stdio", "how clients connect: `TRANSPORT` is stdio, http or sse")
	cli.Complete(cmd, "transport", cli.Names([]string{"stdio", "http", "sse"}))
	opts.serviceOptions.addTo(cmd)
	opts.webOptions.addTo(cmd)
	cmd.AddCommand(newMCPInstallCommand(), newMCPConfigCommand())
	return cmd
}

type mcpOptions struct {
	serveOptions
	transport string
}

// validate refuses flags about addresses that would have no effect.
func (o *mcpOptions) validate(cmd *cobra.Command) error {
	switch o.transport {
	case "http", "sse":
		return nil
	case "stdio":
		for _, flag := range []string{"listen", "tokens", "tls-cert", "tls-key", "metrics-listen", "connections", "grace"} {
			if cmd.Flags().Changed(flag) {
				return run.Errorf(run.Invalid, "--%s needs --transport http or sse: stdio has one client, the parent process", flag)
			}
		}
		return cli.OneClaim(cli.Claim{Name: "--transport stdio", Wanted: true}, o.PolicyOptions.Claim())
	}
	return run.Errorf(run.Invalid, "--transport: %q is not stdio, http or sse", o.transport)
}

func runMCP(ctx context.Context, opts mcpOptions) error {
	switch opts.transport {
	case "http":
		return serveWeb(ctx, opts.serveOptions, func(p parts) map[string]http.Handler {
			return map[string]http.Handler{"/mcp": p.mcp.StreamableHandler()}
		}, "/mcp")
	case "sse":
		return serveWeb(ctx, opts.serveOptions, func(p parts) map[string]http.Handler {
			return map[string]http.Handler{"/sse": p.mcp.SSEHandler()}
		}, "/sse")
	}
	return serveStdio(ctx, opts.serviceOptions)
}

// serveStdio serves the client that started us, until it closes standard input.
func serveStdio(ctx context.Context, opts serviceOptions) (err error) {
	if err := opts.validate(); err != nil {
		return err
	}
	log, err := opts.logger()
	if err != nil {
		return err
	}
	p, err := assemble(ctx, opts, log)
	if err != nil {
		return err
	}
	defer func() { err = closing(ctx, log, p, err) }()
	return p.mcp.ServeStdio(ctx, os.Stdin, os.Stdout)
}
