package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
)

// TestElsewhere tests the code path of other systems with the whole program: a cordon
// without Linux's tiers, and with a launcher that has no walls instead of the system's.
// Scripts call it cordon-elsewhere; its service is beside it.
func TestElsewhere(t *testing.T) {
	hosttest.Slow(t, "it builds a cordon")
	directory := t.TempDir()
	buildElsewhere(t, directory)
	t.Run("agents", func(t *testing.T) {
		answers := askAsAgent(t, filepath.Join(directory, "cordon-elsewhere"),
			`"tools/call","params":{"name":"run_python","arguments":{"code":"print(6 * 7)"}}`,
			`"tools/call","params":{"name":"run_command","arguments":{"command":["echo","from a command"]}}`,
			`"tools/call","params":{"name":"check_python","arguments":{"code":"import os"}}`)
		for i, words := range []string{"42", "from a command", "import"} {
			if !strings.Contains(answers[i], words) {
				t.Errorf("%s is not in %s", words, answers[i])
			}
		}
	})
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/elsewhere",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", directory+":"+env.Getenv("PATH"))
			return nil
		},
	})
}

// askAsAgent calls a tool for each set of arguments and returns the answers.
func askAsAgent(t *testing.T, program string, calls ...string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, "mcp", "--allow-commands")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var answers []string
	lines := bufio.NewReader(out)
	for i, call := range append([]string{
		`"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`,
	}, calls...) {
		if _, err := fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":%s}`+"\n", i+1, call); err != nil {
			t.Fatal(err)
		}
		answer, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("%s, after %v", err, answers)
		}
		if i == 0 {
			if _, err := io.WriteString(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
				t.Fatal(err)
			}
			continue
		}
		answers = append(answers, answer)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	return answers
}

// buildElsewhere compiles with files removed and replaced.
func buildElsewhere(t *testing.T, directory string) {
	t.Helper()
	replace := map[string]string{}
	exchange := func(name string, text []byte) {
		file := filepath.Join(t.TempDir(), "file.go")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		replace[absolute(t, name)] = file
	}
	for _, tier := range []string{"process", "jail", "gvisor"} {
		source := "../../internal/backend/" + tier
		names, err := filepath.Glob(source + "/*_linux*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			replace[absolute(t, name)] = "" // removed
		}
		other, err := os.ReadFile(source + "/backend_other.go")
		if err != nil {
			t.Fatal(err)
		}
		exchange(source+"/backend_other.go", bytes.TrimPrefix(other, []byte("//go:build !linux\n")))
	}
	launcher, err := os.ReadFile("testdata/elsewhere/launcher.go")
	if err != nil {
		t.Fatal(err)
	}
	exchange("../../internal/launch/new_other.go", launcher)
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "overlay.json")
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	for program, source := range map[string]string{"cordon-elsewhere": ".", "cordond": "../cordond"} {
		cmd := exec.CommandContext(t.Context(), "go", "build", "-overlay", file, "-o", filepath.Join(directory, program), source)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
}

func absolute(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
