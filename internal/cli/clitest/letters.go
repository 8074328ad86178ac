package clitest

import (
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// letters has the only meaning that a letter has, in every command of both programs.
// Seeds of the project promise t, m, o, v and f.
var letters = map[string]string{
	"c": "code",
	"f": "script",
	"F": "follow", // as in tail -F: across rotations
	"h": "help",
	"m": "memory",
	"n": "lines",
	"o": "output",
	"q": "quiet",
	"t": "wall-time",
	"v": "variable",
}

// CheckLetters checks that every letter below root has its one meaning, and that a flag of
// that name has its letter.
func CheckLetters(t *testing.T, root *cobra.Command) {
	t.Helper()
	root.InitDefaultHelpFlag()
	root.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Shorthand != "" && letters[f.Shorthand] != f.Name {
			t.Errorf("%s: -%s is --%s; everywhere it is %q", root.CommandPath(), f.Shorthand, f.Name, letters[f.Shorthand])
		}
		for letter, name := range letters {
			if f.Name == name && f.Shorthand != letter {
				t.Errorf("%s: --%s has the letter %q; everywhere it is %q", root.CommandPath(), name, f.Shorthand, letter)
			}
		}
	})
	for _, c := range root.Commands() {
		CheckLetters(t, c)
	}
}
