package portable

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// runCommand runs a command with the limits of its policy, as the Runner does.
func runCommand(t *testing.T, l *naked, p policy.Policy, req run.Request) (run.Result, error) {
	t.Helper()
	b, err := NewCommands(Options{Policy: p, Launcher: l})
	if err != nil {
		t.Fatal(err)
	}
	limits, err := p.Narrow(req.Limits)
	if err != nil {
		t.Fatal(err)
	}
	job := backend.Job{Request: req, Limits: limits, OnOutputLimit: policy.OutputKill}
	s, err := b.Open(t.Context(), job)
	if err != nil {
		return run.Result{}, errors.Join(err, b.Close())
	}
	result, err := s.Run(t.Context(), job)
	return result, errors.Join(err, s.Close(), b.Close())
}

func TestCommands(t *testing.T) {
	shell := func(script string) []string { return []string{"sh", "-c", script} }
	for _, tt := range []struct {
		name    string
		request run.Request
		outcome run.Outcome
		stdout  string
		message string
	}{
		{"output", run.Request{Command: run.Command{Args: []string{"echo", "hello"}}}, run.Succeeded, "hello\n", ""},
		{"input", run.Request{Command: run.Command{Args: []string{"cat"}}, Stdin: "typed"}, run.Succeeded, "typed", ""},
		{"exit code", run.Request{Command: run.Command{Args: shell("exit 7")}}, run.Exited, "", "exit code 7"},
		{"signal", run.Request{Command: run.Command{Args: shell("kill -SEGV $$")}}, run.Signaled, "", "SIGSEGV"},
		{"environment", run.Request{Command: run.Command{Args: shell("echo $USER $X"), Env: map[string]string{"X": "given"}}}, run.Succeeded, "guest given\n", ""},
		{"wall time", run.Request{Command: run.Command{Args: []string{"sleep", "60"}}, Limits: policy.Limits{WallTime: 200 * time.Millisecond}}, run.TimedOut, "", "200ms"},
		{"output limit", run.Request{Command: run.Command{Args: []string{"yes"}}}, run.OutOfOutput, strings.Repeat("y\n", 32<<10), "64KiB"},
		{"processes", run.Request{Command: run.Command{Args: shell("for i in 1 2 3 4 5 6; do sleep 60 & done; wait")}, Limits: policy.Limits{Processes: 4}}, run.OutOfProcs, "", "limit of 4 processes"},
		{"disk", run.Request{Command: run.Command{Args: shell("head -c 20000000 /dev/zero > x"), Workspace: t.TempDir()}, Limits: policy.Limits{Disk: policy.MiB}}, run.OutOfDisk, "", "disk limit of 1MiB"},
		{"files", run.Request{Command: run.Command{Args: shell("mkdir d; ln -s d l; for i in 1 2 3 4; do : > $i; done"), Workspace: t.TempDir()}, Limits: policy.Limits{Files: 5}}, run.OutOfDisk, "", "limit of 5 new files"},
		{"scratch", run.Request{Command: run.Command{Args: shell("head -c 20000000 /dev/zero > $TMPDIR/x")}}, run.OutOfDisk, "", "scratch limit"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			result, err := runCommand(t, newNaked(), policy.Policy{AllowInterpreters: true}, tt.request)
			if err != nil {
				t.Fatal(err)
			}
			if result.Outcome != tt.outcome || result.Stdout != tt.stdout || !strings.Contains(result.Error, tt.message) {
				t.Errorf("%s, stdout %.60q, error %q\n%s", result.Outcome, result.Stdout, result.Error, result.Stderr)
			}
			if result.Enforcement.Tier != policy.TierJail || result.Enforcement.Walls[policy.WallCommand].State == "" || result.Status != result.Outcome.Status() {
				t.Errorf("%+v, status %s", result.Enforcement, result.Status)
			}
		})
	}
}

func TestCommandIsRefusedBeforeItStarts(t *testing.T) {
	for _, command := range [][]string{{"sh", "-c", "true"}, {"cat", "/etc/shadow"}, {"curl", "https://example.com/"}} {
		l := newNaked()
		result, err := runCommand(t, l, policy.Policy{}, run.Request{Command: run.Command{Args: command}})
		if run.ClassOf(err) == run.NotFound && command[0] == "curl" {
			continue
		}
		if err != nil || result.Outcome != run.Refused || len(result.Violations) == 0 || l.started() != 0 {
			t.Errorf("%v: %s, %v, %d started", command, result.Outcome, err, l.started())
		}
	}
}

// The order for the walls lists what a command may reach: resolved grants, its workspace,
// its private directory, and nothing of the caller.
func TestOrderListsAccessOfCommand(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"data", "out", "work"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("data", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	l := newNaked()
	p := policy.Policy{Read: []string{filepath.Join(dir, "link")}, Write: []string{filepath.Join(dir, "out")}}
	result, err := runCommand(t, l, p, run.Request{Command: run.Command{Args: []string{"pwd"}, Workspace: filepath.Join(dir, "work"), WorkspaceReadOnly: true}})
	if err != nil || !result.OK() {
		t.Fatalf("%+v, %v", result, err)
	}
	got := l.last(t)
	if want := filepath.Join(dir, "work"); result.Stdout != want+"\n" || got.Dir != want {
		t.Errorf("it works in %q and %q", result.Stdout, got.Dir)
	}
	read, write := strings.Join(got.Access.Read, " "), strings.Join(got.Access.Write[:1], " ")
	if read != filepath.Join(dir, "data")+" "+filepath.Join(dir, "work") || write != filepath.Join(dir, "out") || len(got.Access.Write) != 2 {
		t.Errorf("reads %v, writes %v", got.Access.Read, got.Access.Write)
	}
	if a := got.Access; !a.Programs || a.Proxy != 0 || a.AnyNetwork {
		t.Errorf("%+v", a)
	}
	scratch := got.Access.Write[1]
	if _, err := os.Lstat(scratch); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is left behind: %v", scratch, err)
	}
	for _, setting := range got.Env {
		if home, err := os.UserHomeDir(); err == nil && len(home) > 1 && strings.Contains(setting, home+"/") && !strings.Contains(dir, home) {
			t.Errorf("%s is the caller's", setting)
		}
	}
}
