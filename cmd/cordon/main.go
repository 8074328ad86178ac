// Command cordon runs code that you do not trust.
//
// Each command is a file with the same parts: a constructor with the help
// text, an options struct with its flags, and a function that does the work.
// exit.go is the one place that knows exit codes. What the commands share with
// those of the service is in internal/cli.
package main

import (
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/cordon-sandbox/cordon/internal/cli"
)

func main() {
	os.Exit(cordonMain())
}

// cordonMain is main with its exit code, for the tests.
func cordonMain() int {
	return cli.Main(rootFor)
}

// constructors make the commands.
func constructors() map[string]func() *cobra.Command {
	return map[string]func() *cobra.Command{
		"run": newRunCommand, "exec": newExecCommand, "wasm": newWasmCommand, "check": newCheckCommand, "hook": newHookCommand,
		"doctor": newDoctorCommand, "policy": newPolicyCommand, "version": newVersionCommand,
		"serve": newServeCommand, "mcp": newMCPCommand, "token": newTokenCommand, "audit": newAuditCommand,
		"completion": func() *cobra.Command { return cli.NewCompletionCommand(newRootCommand) },
		"man":        func() *cobra.Command { return cli.NewManCommand("cordon", newRootCommand) },
	}
}

// rootFor makes the one command that is asked for, and not all the flags of the
// others: a sandbox that is started often must start fast.
func rootFor(args []string) *cobra.Command {
	if len(args) == 0 {
		return newRootCommand()
	}
	if aboutService(args) {
		return newServiceRoot()
	}
	construct := constructors()[args[0]]
	if construct == nil {
		return newRootCommand()
	}
	root := newBareRoot()
	root.AddCommand(construct())
	return root
}

func newRootCommand() *cobra.Command {
	root := newBareRoot()
	for _, construct := range constructors() {
		root.AddCommand(construct())
	}
	return root
}

func newBareRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "cordon",
		Short: "Run code that you do not trust",
		Long: `cordon runs code that you do not trust behind the strongest walls that this
machine offers, and says in plain words what was blocked and why.

  cordon run -c 'print(6 * 7)'    run a script
  cordon exec -- make test        run a command
  cordon wasm plugin.wasm         run a WebAssembly module
  cordon check script.py          see what the language rules say of a script
  cordon hook score.py            call a script that is made to be called often
  cordon doctor                   see what this host can enforce
  cordon doctor --prove           try to break out, for real
  cordon policy list              see what may be allowed
  cordon serve                    offer all of it to programs, by HTTP
  cordon mcp                      offer it to agents, by MCP
  cordon token new NAME           say who may ask the service
  cordon audit tail               see what a service was asked to run

Every flag has an environment variable: CORDON_TIMEOUT is --timeout,
CORDON_ON_OUTPUT_LIMIT is --on-output-limit. Flags win.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cli.NoSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cmd.Help()
		},
	}
	root.CompletionOptions.DisableDefaultCmd = true // ours is internal/cli's
	root.SetFlagErrorFunc(cli.ExplainFlagError)
	return root
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// coloured says whether f may have escape sequences; https://no-color.org.
func coloured(f *os.File) bool {
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(f)
}
