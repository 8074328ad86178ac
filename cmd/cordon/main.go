// Command cordon runs code that you do not trust.
//
// Each command is one file with the same parts: a constructor with the help text, an
// options struct with its flags, and a function that does the work. exit.go has the exit
// codes. internal/cli has what these commands share with those of the service.
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

// cordonMain returns the exit code, so that tests can call it.
func cordonMain() int {
	return cli.Main(rootFor)
}

// constructors maps the name of each command to its constructor.
func constructors() map[string]func() *cobra.Command {
	return map[string]func() *cobra.Command{
		"run": newRunCommand, "exec": newExecCommand, "wasm": newWasmCommand, "check": newCheckCommand, "hook": newHookCommand,
		"session": newSessionCommand,
		"doctor":  newDoctorCommand, "policy": newPolicyCommand, "version": newVersionCommand,
		"serve": newServeCommand, "mcp": newMCPCommand, "token": newTokenCommand, "audit": newAuditCommand,
		"completion": func() *cobra.Command { return cli.NewCompletionCommand(newRootCommand) },
		"man":        func() *cobra.Command { return cli.NewManCommand("cordon", newRootCommand) },
	}
}

// rootFor builds only the command that args name, without the flags of the others:
// scripts start cordon often, so it has to start fast.
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
  cordon session                  run Python step by step; its state stays
  cordon exec -- make test        run a command
  cordon wasm plugin.wasm         run a WebAssembly module
  cordon check script.py          check a script against the language rules
  cordon hook score.py            call a hook: a script compiled once, called often
  cordon doctor                   show what this host can enforce
  cordon doctor --prove           try to break out, for real
  cordon policy list              list the built-in policies
  cordon serve                    serve programs over HTTP
  cordon mcp                      serve agents over MCP
  cordon token new NAME           create a token for a caller of the service
  cordon audit tail               show what a service ran

Every flag has an environment variable: CORDON_WALL_TIME is --wall-time,
CORDON_ON_OUTPUT_LIMIT is --on-output-limit. Flags win.`,
	}
	cli.Setup(root)
	return root
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// colored reports whether f accepts escape sequences; see https://no-color.org.
func colored(f *os.File) bool {
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(f)
}
