package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Setup gives the root command of a program what both programs share: errors that are
// printed once, by Main, help that fits the terminal, and suggestions.
func Setup(root *cobra.Command) {
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions.DisableDefaultCmd = true // NewCompletionCommand replaces it
	root.Args = NoSuchCommand
	root.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	root.SetFlagErrorFunc(ExplainFlagError)
	root.SetUsageFunc(writeUsage)
	root.SetHelpCommand(newHelpCommand())
}

// newHelpCommand makes `cordon help`. cobra's own shows the help of the root for a command
// that does not exist.
func newHelpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "Show the help of a command",
		RunE: func(cmd *cobra.Command, args []string) error {
			about := cmd.Root()
			for _, name := range args {
				below := subcommand(about, name)
				if below == nil {
					return NoSuchCommand(about, []string{name})
				}
				about = below
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

func subcommand(parent *cobra.Command, name string) *cobra.Command {
	for _, c := range parent.Commands() {
		if c.Name() == name {
			return c
		}
	}
	return nil
}

// writeUsage prints what follows the description in a help text. The descriptions of flags
// wrap at the width of the terminal.
func writeUsage(cmd *cobra.Command) error {
	var b strings.Builder
	b.WriteString("Usage:\n")
	below := cmd.HasAvailableSubCommands()
	if !below || hasOwnFlags(cmd) {
		fmt.Fprintf(&b, "  %s\n", cmd.UseLine())
	}
	if below {
		fmt.Fprintf(&b, "  %s COMMAND\n", cmd.CommandPath())
	}
	if cmd.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}
	if below {
		b.WriteString("\nCommands:\n")
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() || c.Name() == "help" {
				fmt.Fprintf(&b, "  %-*s  %s\n", cmd.NamePadding(), c.Name(), c.Short)
			}
		}
	}
	fmt.Fprintf(&b, "\nFlags:\n%s", cmd.LocalFlags().FlagUsagesWrapped(Width(os.Stdout)))
	if below {
		fmt.Fprintf(&b, "\n%s COMMAND --help shows more about a command.\n", cmd.CommandPath())
	}
	_, err := cmd.OutOrStderr().Write([]byte(b.String()))
	return err
}

// hasOwnFlags reports whether a command has flags beside --help.
func hasOwnFlags(cmd *cobra.Command) (own bool) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { own = own || f.Name != "help" && !f.Hidden })
	return own
}
