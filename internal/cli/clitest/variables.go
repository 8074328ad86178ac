// Package clitest has the checks that both programs make of their flags.
package clitest

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cordon-sandbox/cordon/internal/cli"
	"github.com/cordon-sandbox/cordon/internal/golden"
)

// CheckVariables checks that every flag below root has an environment variable, that no
// two flags of a command share one, and that the list in a file of internal/cli has them
// all.
func CheckVariables(t *testing.T, root *cobra.Command, list string) {
	t.Helper()
	all := map[string]bool{}
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		flags := map[string]string{}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			for _, name := range cli.VariablesOf(f) {
				if strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") != "" || flags[name] != "" {
					t.Errorf("%s: the environment variable of --%s is %s", cmd.CommandPath(), f.Name, name)
				}
				flags[name], all[name] = f.Name, true
			}
		})
		for _, c := range cmd.Commands() {
			visit(c)
		}
	}
	visit(root)
	golden.Check(t, list, strings.Join(slices.Sorted(maps.Keys(all)), "\n")+"\n")
}
