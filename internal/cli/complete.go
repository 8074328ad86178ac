package cli

import "github.com/spf13/cobra"

// Complete tells the shell what a flag may be.
func Complete(cmd *cobra.Command, flag string, values func() []string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return values(), cobra.ShellCompDirectiveDefault
	})
}

// Names gives the words of a list, for Complete.
func Names[T ~string](of []T) func() []string {
	return func() []string {
		var s []string
		for _, n := range of {
			s = append(s, string(n))
		}
		return s
	}
}
