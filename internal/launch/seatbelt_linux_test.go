package launch_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/portable"
	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/internal/launch"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// asOnAMac starts processes with the command lines of macOS, and replaces sandbox-exec by a
// program that only records the profile.
type asOnAMac struct {
	tool string
}

func (asOnAMac) Walls(a launch.Access) (map[policy.Wall]policy.WallStatus, error) {
	return launch.SeatbeltWalls(a), nil
}

func (asOnAMac) ChannelName(channel *os.File) string { return launch.ChannelName(channel) }

func (asOnAMac) System() launch.System {
	return launch.System{Directories: []string{"/usr", "/bin", "/lib", "/lib64"}, Path: []string{"/usr/bin", "/bin"}}
}

func (m asOnAMac) Start(o launch.Order) (launch.Process, error) {
	command, err := launch.SeatbeltCommand(m.tool, o)
	if err != nil {
		return nil, err
	}
	return launch.StartGroup(o, procFS{}, command...)
}

// newMac uses no files in /tmp and /var, which are links on a Mac and therefore not valid
// in rules.
func newMac(t *testing.T) (m asOnAMac, directory string) {
	t.Helper()
	for _, place := range []string{".", os.Getenv("HOME"), "/srv"} {
		here, err := filepath.Abs(place)
		if err != nil || strings.HasPrefix(here, "/tmp/") || strings.HasPrefix(here, "/var/") {
			continue
		}
		if directory, err = os.MkdirTemp(here, ".mac-"); err == nil {
			break
		}
	}
	if directory == "" {
		hosttest.Lacks(t, "a directory to write to, elsewhere than in /tmp and /var")
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(directory); err != nil {
			t.Error(err)
		}
	})
	t.Setenv("TMPDIR", directory)
	m.tool = filepath.Join(directory, "sandbox-exec")
	script := "#!/bin/sh\n[ \"$1\" = -p ] || exit 64\nprintf %s \"$2\" >'" + directory + "/profile'\nshift 2\nexec \"$@\"\n"
	if err := hosttest.WriteProgram(m.tool, []byte(script)); err != nil {
		t.Fatal(err)
	}
	return m, directory
}

func runOn(t *testing.T, b backend.Backend, req run.Request) run.Result {
	t.Helper()
	limits, err := policy.Policy{}.Narrow(req.Limits)
	if err != nil {
		t.Fatal(err)
	}
	job := backend.Job{Request: req, Limits: limits}
	s, err := b.Open(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	result, err := s.Run(t.Context(), job)
	if err = errors.Join(err, s.Close(), b.Close()); err != nil {
		t.Fatal(err)
	}
	return result
}

func TestScriptWithMacOSCommandLine(t *testing.T) {
	m, directory := newMac(t)
	granted := filepath.Join(directory, `it's "data" $(x) \`)
	if err := os.Mkdir(granted, 0o755); err != nil {
		t.Fatal(err)
	}
	b, err := portable.NewScripts(t.Context(), portable.Options{Policy: policy.Policy{Read: []string{granted}}, Launcher: m})
	if err != nil {
		t.Fatal(err)
	}
	result := runOn(t, b, run.Request{Script: run.Script{Source: "import os\nresult = [context, input(), os.getcwd()]", Context: "in"}, Stdin: "typed"})
	profile, err := os.ReadFile(filepath.Join(directory, "profile"))
	if err != nil {
		t.Fatal(err)
	}
	if !result.OK() || !strings.HasPrefix(string(result.Value), `["in","typed","`+directory+`/cordon-`) {
		t.Errorf("%s %s %s\n%s", result.Outcome, result.Value, result.Error, result.Stderr)
	}
	escaped := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(granted)
	for _, rule := range []string{
		"(version 1)\n(deny default)\n", "(allow file-read* file-test-existence file-map-executable\n  (subpath \"" + escaped + "\"))",
		"(allow file-read* file-test-existence file-write*\n  (subpath \"" + directory + "/cordon-", "(deny file-map-executable\n  (subpath \"" + directory + "/cordon-",
	} {
		if !strings.Contains(string(profile), rule) {
			t.Errorf("%s is missing in\n%s", rule, profile)
		}
	}
	if strings.Contains(string(profile), "process-fork") || strings.Contains(string(profile), "network") {
		t.Errorf("a script may start processes, or connect:\n%s", profile)
	}
	if got := result.Enforcement.Walls[policy.WallSeatbelt]; !got.Enforced() {
		t.Errorf("seatbelt is %q", got)
	}
}

func TestCommandWithMacOSCommandLine(t *testing.T) {
	m, directory := newMac(t)
	work := filepath.Join(directory, "work")
	if err := os.Mkdir(work, 0o755); err != nil {
		t.Fatal(err)
	}
	b, err := portable.NewCommands(portable.Options{Policy: policy.Policy{AllowNet: []string{"example.com"}}, Launcher: m})
	if err != nil {
		t.Fatal(err)
	}
	result := runOn(t, b, run.Request{Command: run.Command{Args: []string{"echo", "a  b", "$HOME", "'"}, Workspace: work}})
	if result.Stdout != "a  b $HOME '\n" {
		t.Errorf("%+v", result)
	}
	profile, err := os.ReadFile(filepath.Join(directory, "profile"))
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range []string{
		"(allow process-fork)", "file-write*\n  (subpath \"" + work + "\"))", "(allow network-outbound\n  (remote ip \"localhost:",
	} {
		if !strings.Contains(string(profile), rule) {
			t.Errorf("%s is missing in\n%s", rule, profile)
		}
	}
	if status := result.Enforcement.Walls[policy.WallPID]; status.Enforced() {
		t.Errorf("pid is %q", status)
	}
}
