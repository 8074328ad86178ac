package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/cordon-sandbox/cordon/internal/cli"
	"github.com/cordon-sandbox/cordon/internal/cli/clitest"
	"github.com/cordon-sandbox/cordon/policy"
)

// internal/cli knows the names that both programs use.
func TestEveryFlagHasAVariable(t *testing.T) {
	clitest.CheckVariables(t, newRootCommand(), "../../internal/cli/variables_cordon.txt")
}

func TestEveryLetterHasOneMeaning(t *testing.T) {
	clitest.CheckLetters(t, newRootCommand())
}

// rootFor builds the requested command alone, and it equals the one in the full tree.
func TestRootFor(t *testing.T) {
	for name, construct := range constructors() {
		if got := construct().Name(); got != name {
			t.Errorf("%s makes %s", name, got)
		}
		if only := rootFor([]string{name, "--help"}).Commands(); len(only) != 1 || only[0].Name() != name {
			t.Errorf("rootFor(%s) has %d commands", name, len(only))
		}
	}
	for _, args := range [][]string{nil, {"--help"}, {"help", "exec"}, {"__complete", "exec", ""}, {"exce"}} {
		if all := len(rootFor(args).Commands()); all != len(constructors()) {
			t.Errorf("rootFor(%q) has %d commands", args, all)
		}
	}
}

func TestReadEnvironment(t *testing.T) {
	for _, tt := range []struct {
		args, environ []string
		words         string // of the error
		check         func(runOptions) bool
	}{
		{nil, []string{"CORDON_TIMEOUT=2s"}, "", func(o runOptions) bool { return o.WallTime.String() == "2s" }},
		{[]string{"-t", "3s"}, []string{"CORDON_TIMEOUT=2s"}, "", func(o runOptions) bool { return o.WallTime.String() == "3s" }},
		{[]string{"--timeout", "3s"}, []string{"CORDON_WALL_TIME=2s"}, "", func(o runOptions) bool { return o.WallTime.String() == "3s" }},
		{nil, []string{"CORDON_TIMEOUT=3s", "CORDON_WALL_TIME=2s"}, "", func(o runOptions) bool { return o.WallTime.String() == "2s" }},
		{nil, []string{"CORDON_VARIABLES=x"}, "unknown environment variable CORDON_VARIABLES: did you mean CORDON_VARIABLE?", nil},
		{nil, []string{"CORDON_VARIABLE=x,y"}, "", func(o runOptions) bool { return strings.Join(o.variables, " ") == "x y" }},
		{nil, []string{"CORDON_JSON=true"}, "", func(o runOptions) bool { return o.json }},
		{nil, []string{"CORDON_TIMEOUT="}, "", func(o runOptions) bool { return o.WallTime == 0 }},
		{nil, []string{"CORDON_TIMEOUT=2"}, `CORDON_TIMEOUT: "2" has no unit`, nil},
		{nil, []string{"CORDON_MEMROY=1GiB"}, "unknown environment variable CORDON_MEMROY: did you mean CORDON_MEMORY?", nil},
		{nil, []string{"CORDON_REQUIRE_HOST=1", "OTHER=x"}, "", func(runOptions) bool { return true }},
	} {
		var opts runOptions
		cmd := &cobra.Command{}
		opts.addTo(cmd)
		if err := cmd.ParseFlags(tt.args); err != nil {
			t.Fatal(err)
		}
		err := cli.ReadEnvironment(cmd, tt.environ)
		switch {
		case tt.words == "" && (err != nil || !tt.check(opts)):
			t.Errorf("%v %v: %v, %+v", tt.args, tt.environ, err, opts)
		case tt.words != "" && (err == nil || !strings.Contains(err.Error(), tt.words)):
			t.Errorf("%v: error %v; want %q", tt.environ, err, tt.words)
		}
	}
}

// Each limit is a flag of the commands that run what it bounds, and of no other.
func TestEveryLimitIsAFlag(t *testing.T) {
	for guest, name := range map[policy.Guest]string{
		policy.GuestScript: "run", policy.GuestCall: "hook", policy.GuestCommand: "exec", policy.GuestModule: "wasm",
	} {
		flags := constructors()[name]().Flags()
		for _, limit := range policy.LimitTable() {
			flag := flags.Lookup(limit.Flag())
			if (flag != nil) != slices.Contains(limit.For, guest) {
				t.Errorf("cordon %s has --%s: %v", name, limit.Flag(), flag != nil)
			}
			if flag != nil && flag.Shorthand != limit.Short {
				t.Errorf("cordon %s: --%s is -%s", name, limit.Flag(), flag.Shorthand)
			}
		}
	}
}
