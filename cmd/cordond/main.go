// Command cordond is the service of cordon. It implements the commands serve and mcp, for
// which cordon executes it. To users it is one product, so it calls itself cordon.
//
// assemble.go builds the parts: policy, Runner, admission line, observers, service,
// frontends. listen.go decides where the service listens and who can connect; web.go
// serves until it is asked to stop.
package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/cordon-sandbox/cordon/internal/cli"
)

func main() {
	os.Exit(cordondMain())
}

// cordondMain is main with its exit code.
func cordondMain() int { return cli.Main(func([]string) *cobra.Command { return newRootCommand() }) }

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "cordon",
		Short: "Serve programs and agents",
		Long: `The service of cordon: it runs code that you do not trust, for its callers.

  cordon serve    for programs, over HTTP (and for agents, at /mcp)
  cordon mcp      for agents, over MCP on standard input and output

All other commands belong to cordon itself: see cordon --help.

Every flag has an environment variable: CORDON_LISTEN is --listen,
CORDON_ALLOW_COMMANDS is --allow-commands. Flags win.`,
	}
	cli.Setup(root)
	root.AddCommand(newServeCommand(), newMCPCommand(), cli.NewManCommand("cordond", newRootCommand))
	return root
}

const exitHelp = `Exit codes:
  0         it was asked to stop, and everything under way has ended
  2         bad usage, tokens or policy, or an address that needs tokens
  125       this host cannot run guests, or cordon failed
  127       the interpreter does not exist
  130, 143  a second SIGINT or SIGTERM ended it at once`
