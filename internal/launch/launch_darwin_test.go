package launch_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/backendtest"
	"github.com/cordon-sandbox/cordon/internal/backend/portable"
	"github.com/cordon-sandbox/cordon/internal/launch"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// These tests need a Mac. Until they have run on one, SPECIFICATION.md marks their promises
// as pending.

func newLauncher(t *testing.T) launch.Launcher {
	t.Helper()
	l, err := launch.New()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func openScripts(t *testing.T, p policy.Policy) *portable.Scripts {
	t.Helper()
	b, err := portable.NewScripts(t.Context(), portable.Options{Policy: p, Launcher: newLauncher(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func TestContractBehindSeatbelt(t *testing.T) {
	backendtest.Contract(t, func(t *testing.T, p policy.Policy) backend.Backend { return openScripts(t, p) }, policy.Policy{})
}

// Each operation succeeds on the host and fails behind the wall.
func TestSeatbeltHolds(t *testing.T) {
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	canary, err := os.CreateTemp(home, ".cordon-canary-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(canary.Name())
	if _, err := canary.WriteString("secret"); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	b := openScripts(t, policy.Policy{})
	for name, act := range map[string]string{
		"read a file of the user's":    "open(context['canary']).read()",
		"write to it":                  "open(context['canary'], 'a').write('x')",
		"list the home directory":      "os.listdir(context['home'])",
		"make a file beside it":        "open(context['canary'] + '-2', 'w')",
		"read the list of users":       "open('/private/etc/master.passwd').read()",
		"connect to the host":          "socket.create_connection(('127.0.0.1', context['port']), 2)",
		"listen":                       "socket.create_server(('127.0.0.1', 0))",
		"start a program":              "subprocess.run(['/bin/echo', 'x'], check=True)",
		"fork":                         "os.fork()",
		"become a program":             "os.execv('/bin/echo', ['echo', 'x'])",
		"signal the Runner":            "os.kill(os.getppid(), 0)",
		"load what it wrote":           "load_written()",
		"write into the interpreter's": "open(os.__file__, 'a').write('x')",
	} {
		script := "import ctypes, os, shutil, socket, subprocess\n" +
			"def load_written():\n  import _socket\n  shutil.copy(_socket.__file__, 'evil.so')\n  ctypes.CDLL('./evil.so')\n" +
			"try:\n  " + act + "\n  result = 'done'\nexcept (OSError, subprocess.SubprocessError, AttributeError) as e:\n  result = 'denied'\n"
		req := run.Request{Script: run.Script{Source: script, Context: map[string]any{
			"canary": canary.Name(), "home": home, "port": listener.Addr().(*net.TCPAddr).Port,
		}}}
		job := backend.Job{Request: req, Limits: policy.DefaultLimits()}
		s, err := b.Open(t.Context(), job)
		if err != nil {
			t.Fatal(err)
		}
		result, err := s.Run(t.Context(), job)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if string(result.Value) != `"denied"` {
			t.Errorf("%s: %s %s %s", name, result.Outcome, result.Value, result.Error)
		}
	}
	if text, err := os.ReadFile(canary.Name()); err != nil || string(text) != "secret" {
		t.Errorf("the canary is %q, %v", text, err)
	}
}

func TestCommandsBehindSeatbelt(t *testing.T) {
	work, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b, err := portable.NewCommands(portable.Options{Policy: policy.Policy{AllowInterpreters: true}, Launcher: newLauncher(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}()
	script := "echo in > here && ls && cat here; ls $THEIRS >/dev/null && echo seen; echo end"
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	job := backend.Job{Request: run.Request{Command: run.Command{Args: []string{"sh", "-c", script}, Env: map[string]string{"THEIRS": home}, Workspace: work}}, Limits: policy.DefaultLimits()}
	s, err := b.Open(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	result, err := s.Run(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(result.Stdout, "here\nin\nend\n") || strings.Contains(result.Stdout, "seen") {
		t.Errorf("%+v", result)
	}
}
