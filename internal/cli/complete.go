package cli

import "github.com/spf13/cobra"

// Complete registers the values that the shell offers for a flag.
func Complete(cmd *cobra.Command, flag string, values func() []string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return values(), cobra.ShellCompDirectiveDefault
	})
}

// Names returns the names in a list, for Complete.
func Names[T ~string](of []T) func() []string {
	return func() []string {
		var s []string
		for _, n := range of {
			s = append(s, string(n))
		}
		return s
	}
}
