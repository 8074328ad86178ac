package cli

import (
	_ "embed" // the script for bash
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/cordon-sandbox/cordon/internal/text"
	"github.com/cordon-sandbox/cordon/run"
)

// bashCompletion replaces cobra's script, which needs functions of the package
// bash-completion. The scripts of the other shells need nothing.
//
//go:embed completion.bash
var bashCompletion string

// NewCompletionCommand makes the command that prints the scripts that complete command
// lines. makeRoot makes the whole tree of commands.
func NewCompletionCommand(makeRoot func() *cobra.Command) *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print the script that completes command lines in a shell",
		Long: `Print the script that completes command lines in bash, zsh, fish or powershell.
The scripts need no other package.

  source <(cordon completion bash)                            now, in bash
  cordon completion bash >/etc/bash_completion.d/cordon       for all, in bash
  cordon completion zsh >"${fpath[1]}/_cordon"                in zsh
  cordon completion fish >~/.config/fish/completions/cordon.fish

Exit codes:
  0  the script was printed
  2  bad usage`,
		Args: cobra.MatchAll(Arguments(1, 1), func(_ *cobra.Command, args []string) error {
			if !slices.Contains(shells, args[0]) {
				return run.Errorf(run.Invalid, "unknown shell %s: write bash, zsh, fish or powershell", text.Quote(args[0]))
			}
			return nil
		}),
		ValidArgs: shells,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := writeCompletion(os.Stdout, makeRoot(), args[0]); err != nil {
				return run.Wrap(run.Internal, err)
			}
			return nil
		},
	}
}

func writeCompletion(w io.Writer, root *cobra.Command, shell string) error {
	switch shell {
	case "zsh":
		return root.GenZshCompletion(w)
	case "fish":
		return root.GenFishCompletion(w, true)
	case "powershell":
		return root.GenPowerShellCompletionWithDesc(w)
	}
	_, err := io.WriteString(w, bashCompletion)
	return err
}
