package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/cli/clitest"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"
	"go.uber.org/goleak"
)

// programs is the directory with both programs.
var programs = sync.OnceValues(func() (string, error) {
	directory, err := os.MkdirTemp("", "cordond-test-")
	if err != nil {
		return "", err
	}
	if out, err := exec.Command("go", "build", "-o", directory, "../cordon", ".").CombinedOutput(); err != nil {
		return directory, errors.New(string(out))
	}
	return directory, nil
})

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if directory, err := programs(); err == nil {
			os.RemoveAll(directory)
		}
		os.Exit(code)
	}))
}

// programDirectory returns the directory of the built programs.
func programDirectory(t *testing.T) string {
	t.Helper()
	directory, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	return directory
}

func TestScript(t *testing.T) {
	directory := programDirectory(t)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("PROGRAMS", directory)
			env.Setenv("PATH", directory+string(filepath.ListSeparator)+env.Getenv("PATH"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":    exits,
			"hardlink": hardlink,
		},
	})
}

// exits CODE COMMAND…: runs the command and expects the exit code. Its output is for the
// commands stdout and stderr.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND…")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit code %d instead of %s", got, args[0])
	}
}

// hardlink FROM TO: links a program. A copy would be open for writing, and a process of
// another test could inherit that descriptor for a moment.
func hardlink(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: hardlink FROM TO")
	}
	ts.Check(os.Link(ts.MkAbs(args[0]), ts.MkAbs(args[1])))
}

// cordon knows the names of these variables, too.
func TestEveryFlagHasAVariable(t *testing.T) {
	clitest.CheckVariables(t, newRootCommand(), "../../internal/cli/variables_cordond.txt")
}

func TestEveryLetterHasOneMeaning(t *testing.T) {
	clitest.CheckLetters(t, newRootCommand())
}

// To users it is one product: no help text names cordond.
func TestHelpSpeaksOfCordon(t *testing.T) {
	for _, cmd := range allCommands(newRootCommand()) {
		text := cmd.UseLine() + cmd.Short + cmd.Long + cmd.Example + cmd.Flags().FlagUsages()
		if strings.Contains(text, "cordond") {
			t.Errorf("%s speaks of cordond", cmd.CommandPath())
		}
	}
}

func allCommands(cmd *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{cmd}
	for _, c := range cmd.Commands() {
		all = append(all, allCommands(c)...)
	}
	return all
}
