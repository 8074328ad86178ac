package process

import (
	"errors"
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

// In an unprivileged container the walls that are left hold, the report says
// which, and a policy that wants more is refused before anything runs.
func TestInsideDegradedHost(t *testing.T) {
	if !hosttest.Degraded() {
		t.Skip("run by TestDegradedHost")
	}
	b := open(t, Options{Policy: systemPython, Idle: 2})
	walls := b.Enforcement().Walls
	for _, w := range []policy.Wall{policy.WallUser, policy.WallMount, policy.WallPID, policy.WallNet, policy.WallIPC, policy.WallUTS, policy.WallCgroupNS} {
		if !strings.HasPrefix(walls[w], "missing: ") {
			t.Errorf("%s is %q here", w, walls[w])
		}
		if b.plan.Missing[w].Remedy == "" {
			t.Errorf("nothing says how to get %s", w)
		}
	}
	for _, w := range []policy.Wall{policy.WallNoNewPrivs, policy.WallCapabilities, policy.WallUID, policy.WallLandlock, policy.WallSeccomp, policy.WallRlimit, policy.WallEnvironment} {
		if !strings.HasPrefix(walls[w], "enforced") {
			t.Errorf("%s is %q here", w, walls[w])
		}
	}

	// A file of the same user: its owner's right is all that these need.
	mine := filepath.Join(t.TempDir(), "mine")
	if err := os.WriteFile(mine, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	// Without a pid namespace a guest can end itself by any signal.
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
		"connect":       {act("__import__('socket').socket()"), `"PermissionError"`},
		"fork":          {act("__import__('os').fork()"), `"PermissionError"`},
		"signal parent": {act("__import__('os').kill(__import__('os').getppid(), 0)"), `"PermissionError"`},
		"unshare":       {act("__import__('ctypes').CDLL(None, use_errno=True).unshare(0x10000000) == 0 or (_ for _ in ()).throw(PermissionError())"), `"PermissionError"`},
	} {
		job := jobOf(b, test.script, map[string]any{"a": 41, "mine": mine})
		if r := runJob(t, b, job); string(r.Value) != test.want {
			t.Errorf("%s: %s %s, want %s\n%s", name, r.Value, r.Error, test.want, r.Stderr)
		}
	}

	strict := systemPython
	strict.Require = []policy.Wall{policy.WallUser}
	_, err := New(t.Context(), Options{Policy: strict})
	if !errors.Is(err, run.ErrUnsupported) || !strings.Contains(err.Error(), "userns") {
		t.Errorf("a policy that requires user namespaces: %v", err)
	}
}

// act tries something and gives the name of the exception that stopped it.
func act(expression string) string {
	return "try:\n    " + expression + "\n    result = 'done'\nexcept Exception as e:\n    result = type(e).__name__\n"
}
