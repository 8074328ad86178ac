package clitest

import (
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cordon-sandbox/cordon/internal/cli"
)

// CheckLetters checks that every letter below root has the meaning that cli.Letters gives
// it, and that a flag with such a name has its letter.
func CheckLetters(t *testing.T, root *cobra.Command) {
	t.Helper()
	root.InitDefaultHelpFlag()
	root.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Shorthand != "" && cli.Letters[f.Shorthand] != f.Name {
			t.Errorf("%s: -%s is --%s; everywhere it is %q", root.CommandPath(), f.Shorthand, f.Name, cli.Letters[f.Shorthand])
		}
		for letter, name := range cli.Letters {
			if f.Name == name && f.Shorthand != letter {
				t.Errorf("%s: --%s has the letter %q; everywhere it is %q", root.CommandPath(), name, f.Shorthand, letter)
			}
		}
	})
	for _, c := range root.Commands() {
		CheckLetters(t, c)
	}
}
