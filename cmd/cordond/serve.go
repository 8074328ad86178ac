package main

import (
	"context"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/cordon-sandbox/cordon/internal/cli"
	"github.com/cordon-sandbox/cordon/internal/httpapi"
)

func newServeCommand() *cobra.Command {
	var opts serveOptions
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve programs over HTTP",
		Long: `Run scripts and commands for programs that connect over HTTP, and for agents that
speak MCP. GET /docs shows the details of each endpoint:

` + httpapi.Listing() + `  /mcp, /sse  the same for agents: see cordon mcp --help

On a loopback address or a Unix socket (which only its own user can open), everyone
who can connect may use it. Any other address needs --tokens. On a machine with
several users, prefer a Unix socket, or use tokens on loopback too: all of them can
connect.

After SIGTERM or SIGINT the service refuses new requests, and those under way have
the time of --grace to end. A second signal ends everything at once. SIGHUP rereads
tokens and certificates.

systemd can open the socket (LISTEN_FDS). The service notifies it when it is ready
and when it stops, and feeds its watchdog.

` + exitHelp,
		Example: `  cordon serve
  cordon serve --listen unix:/run/user/1000/cordon.sock
  cordon serve --listen :8734 --tokens tokens.yaml --tls-cert cert.pem --tls-key key.pem
  curl -s 127.0.0.1:8734/v1/runs --json '{"script": "result = 6 * 7"}'`,
		Args: cli.Arguments(0, 0),
		RunE: cli.Action(func(cmd *cobra.Command, _ []string) error {
			return runServe(cmd.Context(), opts)
		}),
	}
	cmd.Flags().SortFlags = false
	opts.webOptions.addTo(cmd)
	opts.serviceOptions.addTo(cmd)
	return cmd
}

type serveOptions struct {
	webOptions
	serviceOptions
}

func runServe(ctx context.Context, opts serveOptions) error {
	return serveWeb(ctx, opts, func(p parts) map[string]http.Handler {
		return map[string]http.Handler{"/mcp": p.mcp.StreamableHandler(), "/sse": p.mcp.SSEHandler()}
	}, everything)
}
