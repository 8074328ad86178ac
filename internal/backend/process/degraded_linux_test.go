package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

const anyUser = 12345

func TestDegradedHost(t *testing.T) {
	if hosttest.Degraded() {
		t.Skip("this is the inside")
	}
	t.Run("ordinary user", func(t *testing.T) {
		uid := anyUser
		if os.Geteuid() != 0 {
			uid = os.Geteuid()
		}
		hosttest.RunDegraded(t, "TestInsideDegradedHost", uid)
	})
	t.Run("root", func(t *testing.T) {
		if os.Geteuid() != 0 {
			t.Skip("only root can be root")
		}
		hosttest.RunDegraded(t, "TestInsideDegradedHost", 0)
	})
}

// In an unprivileged container the remaining walls hold, the report names them, and a
// policy that requires more is refused before anything runs.
func TestInsideDegradedHost(t *testing.T) {
	if !hosttest.Degraded() {
		t.Skip("run by TestDegradedHost")
	}
	for _, abi := range []int{0, oldLandlock, 5} {
		t.Run(fmt.Sprintf("Landlock %d", abi), func(t *testing.T) { testDegradedHost(t, abi) })
	}
}

// testDegradedHost tests with the kernel's own Landlock (0), or an older one.
func testDegradedHost(t *testing.T, abi int) {
	directory := t.TempDir()
	granted := filepath.Join(directory, "granted")
	mine := filepath.Join(directory, "mine")
	for _, file := range []string{granted, mine} {
		if err := os.WriteFile(file, []byte("text"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	// Everybody may write to them, so that only walls stop a guest with another user.
	for path, mode := range map[string]os.FileMode{directory: 0o777, granted: 0o666, mine: 0o666, filepath.Dir(directory): 0o755} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	p := systemPython
	p.Read = []string{granted}
	b := open(t, Options{Policy: p, Idle: 2, LandlockABI: abi})
	walls := b.Enforcement().Walls
	for _, w := range []policy.Wall{policy.WallUser, policy.WallMount, policy.WallPID, policy.WallNet, policy.WallIPC, policy.WallUTS, policy.WallCgroupNS} {
		if walls[w].Enforced() {
			t.Errorf("%s is %q here", w, walls[w])
		}
		if b.plan.Missing[w].Remedy == "" {
			t.Errorf("nothing says how to get %s", w)
		}
	}
	for _, w := range []policy.Wall{policy.WallNoNewPrivs, policy.WallCapabilities, policy.WallUID, policy.WallLandlock, policy.WallSeccomp, policy.WallRlimit, policy.WallEnvironment} {
		if !walls[w].Enforced() {
			t.Errorf("%s is %q here", w, walls[w])
		}
	}

	// Without a pid namespace a guest can kill itself with any signal.
	for _, name := range []string{"SIGRTMIN+1", "SIGXCPU", "SIGSYS"} {
		number, _ := run.SignalNumber(name)
		r := runJob(t, b, jobOf(b, "import signal; signal.raise_signal(context)", number))
		if r.Outcome != run.Signaled || r.Signal != name || r.ExitCode != nil || len(r.Violations) != 0 {
			t.Errorf("%s: %s %q, signal %q, code %v, violations %v", name, r.Outcome, r.Error, r.Signal, r.ExitCode, r.Violations)
		}
	}
	for name, test := range map[string]struct{ script, want string }{
		"it works":      {"result = context['a'] + 1", "42"},
		"modules":       {"import json, sqlite3, decimal\nresult = json.loads('[1]')", "[1]"},
		"threads":       {"import threading\nr = []\nt = threading.Thread(target=lambda: r.append(1)); t.start(); t.join()\nresult = r", "[1]"},
		"read":          {act("open('/etc/passwd').read()"), `"PermissionError"`},
		"environment":   {act("open('/proc/self/environ').read()"), `"PermissionError"`},
		"list":          {act("__import__('os').listdir('/')"), `"PermissionError"`},
		"write":         {act("open('/tmp/cordon-was-here', 'w')"), `"PermissionError"`},
		"chmod":         {act("__import__('os').chmod(context['mine'], 0o777)"), `"PermissionError"`},
		"utime":         {act("__import__('os').utime(context['mine'])"), `"PermissionError"`},
		"read granted":  {"result = open(context['granted']).read()", `"text"`},
		"signal itself": {signalsItself, `[10,10,10]`},
		"connect":       {act("__import__('socket').socket()"), `"PermissionError"`},
		"fork":          {act("__import__('os').fork()"), `"PermissionError"`},
		"signal parent": {act("__import__('os').kill(__import__('os').getppid(), 0)"), `"PermissionError"`},
		"unshare":       {act("__import__('ctypes').CDLL(None, use_errno=True).unshare(0x10000000) == 0 or (_ for _ in ()).throw(PermissionError())"), `"PermissionError"`},
	} {
		job := jobOf(b, test.script, map[string]any{"a": 41, "mine": mine, "granted": granted})
		if r := runJob(t, b, job); string(r.Value) != test.want {
			t.Errorf("%s: %s %s, want %s\n%s", name, r.Value, r.Error, test.want, r.Stderr)
		}
	}

	// Each act is tried on a file that is granted for reading, and on one that is not.
	for name, script := range map[string]string{
		"truncate":               "os.truncate(path, 0)",
		"open to read":           "os.open(path, os.O_RDONLY | os.O_TRUNC)",
		"open for nothing":       "os.open(path, 3 | os.O_TRUNC)",
		"open to write":          "os.open(path, os.O_WRONLY | os.O_TRUNC)",
		"open to read and write": "os.open(path, os.O_RDWR | os.O_TRUNC)",
		"make anew":              "open(path, 'w')",
		"by descriptor":          "os.truncate('/proc/self/fd/%d' % os.open(path, os.O_PATH), 0)",
	} {
		for _, path := range []string{granted, mine} {
			r := runJob(t, b, jobOf(b, "import os\npath = context\n"+act(script), path))
			if text, err := os.ReadFile(path); err != nil || string(text) != "text" {
				t.Fatalf("%s emptied %s: %q, %v", name, path, text, err)
			}
			if string(r.Value) != `"PermissionError"` {
				t.Errorf("%s of %s: %s %s", name, path, r.Value, r.Error)
			}
		}
	}

	// A fork server that becomes the worker has the same filters.
	single := open(t, Options{Policy: p, OneShot: true, LandlockABI: abi})
	r := runJob(t, single, jobOf(single, "import os\npath = context\n"+signalsParentAndTruncates, mine))
	if string(r.Value) != `["PermissionError","PermissionError"]` {
		t.Errorf("a single run: %s %s", r.Value, r.Error)
	}

	strict := systemPython
	strict.Require = []policy.Wall{policy.WallUser}
	_, err := New(t.Context(), Options{Policy: strict})
	if !errors.Is(err, run.ErrUnsupported) || !strings.Contains(err.Error(), "userns") {
		t.Errorf("a policy that requires user namespaces: %v", err)
	}
}

const signalsParentAndTruncates = `
result = []
for act in (lambda: os.kill(os.getppid(), 0), lambda: os.truncate(path, 0)):
    try:
        act()
        result.append("done")
    except Exception as e:
        result.append(type(e).__name__)
`

const signalsItself = `
import os, signal, threading
result = []
signal.signal(signal.SIGUSR1, lambda number, frame: result.append(int(number)))
os.kill(os.getpid(), signal.SIGUSR1)
signal.raise_signal(signal.SIGUSR1)
signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)
`

// act returns code that evaluates an expression and returns the name of the exception
// that stopped it.
func act(expression string) string {
	return "try:\n    " + expression + "\n    result = 'done'\nexcept Exception as e:\n    result = type(e).__name__\n"
}
