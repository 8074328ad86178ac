package main

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"github.com/cordon-sandbox/cordon/internal/cli"
	"github.com/cordon-sandbox/cordon/internal/hostpath"
	"github.com/cordon-sandbox/cordon/run"
)

// The service is a separate program, cordond; these commands execute it. See "Why is the
// service a separate program?" in RATIONALE.md.

// serviceCommands are the commands that cordond implements.
func serviceCommands() map[string]func() *cobra.Command {
	return map[string]func() *cobra.Command{"serve": newServeCommand, "mcp": newMCPCommand}
}

func newServeCommand() *cobra.Command {
	return newServiceCommand("serve", "Serve programs over HTTP")
}

func newMCPCommand() *cobra.Command {
	return newServiceCommand("mcp", "Serve agents over MCP")
}

// newServiceCommand makes a command whose flags and help are in cordond.
func newServiceCommand(name, short string) *cobra.Command {
	return &cobra.Command{
		Use: name, Short: short, DisableFlagParsing: true,
		RunE: cli.Action(func(*cobra.Command, []string) error { return becomeService() }),
	}
}

// aboutService reports whether args ask cobra's own commands for something that only
// cordond knows: its help, or completions of its command line.
func aboutService(args []string) bool {
	own := []string{"help", cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd}
	if len(args) < 2 || !slices.Contains(own, args[0]) || serviceCommands()[args[1]] == nil {
		return false
	}
	// An unfinished word can still become another command.
	return args[0] == "help" || len(args) > 2
}

// newServiceRoot makes the root command for such args. It hides them from cobra, which
// would answer them itself.
func newServiceRoot() *cobra.Command {
	root := newBareRoot()
	root.Args = nil
	root.RunE = cli.Action(func(*cobra.Command, []string) error { return becomeService() })
	root.SetArgs([]string{})
	return root
}

// becomeService replaces this process by the service, with the same arguments.
func becomeService() error {
	path, err := findService()
	if err != nil {
		return err
	}
	return become(path, os.Args[1:])
}

// findService searches beside this program, where archives and make build put the
// service, and then on PATH.
func findService() (string, error) {
	name := "cordond"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return "", run.Errorf(run.Internal, "cannot find the path of this program: %w", err)
	}
	beside := filepath.Join(filepath.Dir(self), name)
	if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() {
		return beside, nil
	}
	found, err := hostpath.FindProgram(name, hostpath.Writable())
	if err != nil {
		return "", run.Errorf(run.NotFound, "the service is a separate program, %s, which is neither in %s nor on PATH: "+
			"take it from the archive that cordon came in, or build both with make build (%w)", name, filepath.Dir(self), err)
	}
	return found.Path, nil
}
