// Command cordond is the service of cordon: the commands serve and mcp, which cordon
// becomes when it is asked for them. People see one product, so it calls itself cordon.
//
// assemble.go puts the parts together: policy, Runner, line, observers, service, frontends.
// listen.go says where the service listens and who can reach it there; web.go serves until
// it is told to end.
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
		Short: "Offer the sandbox to programs and agents",
		Long: `The service of cordon: it runs code that you do not trust, for whoever may ask.

  cordon serve    for programs, by HTTP (and for agents, at /mcp)
  cordon mcp      for agents, by MCP over standard input and output

All other commands are cordon's own: see cordon --help.

Every flag has an environment variable: CORDON_LISTEN is --listen,
CORDON_ALLOW_COMMANDS is --allow-commands. Flags win.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cli.NoSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cmd.Help()
		},
	}
	// cordon makes the scripts that complete command lines.
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(cli.ExplainFlagError)
	root.AddCommand(newServeCommand(), newMCPCommand(), cli.NewManCommand("cordond", newRootCommand))
	return root
}

const exitHelp = `Exit codes:
  0         it was told to end, and all that was under way has ended
  2         bad usage, tokens or policy, or an address that needs tokens
  125       this host cannot run guests, or cordon failed
  127       the interpreter is not there
  130, 143  it was told twice, by SIGINT or SIGTERM`
