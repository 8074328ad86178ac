package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// Complete registers the values that the shell offers for a flag.
func Complete(cmd *cobra.Command, flag string, values func() []string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return values(), cobra.ShellCompDirectiveDefault
	})
}

// OneOf words a choice: "a, b or c".
func OneOf[T ~string](of []T) string {
	names := Names(of)()
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
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
