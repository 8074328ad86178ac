package wine

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestJobObject runs the tests of internal/jobobject under Wine: job, token and handles.
func TestJobObject(t *testing.T) {
	w := setUp(t)
	got := w.run(t, "", w.jobTest, "-test.v")
	if got.code != 0 || strings.Count(got.stdout, "--- PASS") < 12 {
		t.Errorf("exit code %d, or fewer than 12 tests passed: %s%s", got.code, got.stdout, got.stderr)
	}
	// Tests of walls that Wine accepts but does not enforce are skipped under Wine, and
	// SPECIFICATION.md lists them as pending.
	specification, err := os.ReadFile("../../SPECIFICATION.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(got.stdout) {
		if name, skipped := strings.CutPrefix(line, "--- SKIP: "); skipped {
			name, _, _ = strings.Cut(name, " ")
			if !strings.Contains(string(specification), "`"+name+"`") {
				t.Errorf("%s is skipped under Wine, but SPECIFICATION.md does not list it as pending", name)
			}
		}
	}
}

// TestScripts checks the exit code and output of scripts run by CPython for Windows.
func TestScripts(t *testing.T) {
	w := setUp(t)
	for _, c := range []struct {
		name           string
		args           []string
		code           int
		stdout, stderr string
	}{
		{"script", []string{"-c", "print(1)"}, 0, "1\n", ""},
		{"result", []string{"-v", "result", "-c", "import sys\nresult = sys.platform"}, 0, "win32", ""},
		{"exception", []string{"-c", "1 / 0"}, 1, "", "ZeroDivisionError"},
		{"exit code", []string{"-c", "import sys; sys.exit(7)"}, 7, "", ""},
		{"os._exit", []string{"-c", "import os; os._exit(9)"}, 9, "", ""},
		{"endless loop", []string{"-t", "1s", "-c", "while True: pass"}, 124, "", "wall time limit of 1s"},
		{"too much memory", []string{"-m", "64MiB", "-c", "x = bytearray(300 << 20)\nwhile True: pass"}, 137, "", "memory limit of 64MiB"},
		{"too much output", []string{"--on-output-limit", "kill", "-o", "4KiB", "-c", "while True: print('x' * 1000)"}, 137, "xxx", "output limit of 4KiB"},
		{"truncated output", []string{"-o", "4KiB", "-c", "print('x' * 10000)"}, 0, "xxx", "cut at the output limit"},
		{"own files", []string{"-c", "import os\nos.makedirs('a/b')\nopen('a/b/c', 'w').write('x')\nprint(os.listdir())"}, 0, "['a']", ""},
		{"language rules", []string{"--restricted", "-c", "import os"}, 1, "", "import"},
		{"enforcement report", []string{"--json", "-c", "pass"}, 0, `"app_container":{"state":"missing"`, ""},
		{"environment is not inherited", []string{"-c", "import os; print(sorted(os.environ))"}, 0, "'TEMP'", ""},
		{"third-party code", []string{"--trust", "third-party", "-c", "pass"}, 125, "", "not strong enough"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := w.runScript(t, c.args...)
			got.check(t, c.code, c.stdout, c.stderr)
			if strings.Contains(got.stdout, "SECRET_OF_HOST") {
				t.Errorf("the environment was inherited: %s", got.stdout)
			}
		})
	}
}

// TestRefusals checks that cordon refuses what it cannot confine under Wine, and the messages.
func TestRefusals(t *testing.T) {
	w := setUp(t)
	// The default policy prefers no wall, so it is refused: Wine lacks some of them.
	w.run(t, "", w.cordon, "run", "--python", w.python, "-c", "print(1)").check(t, 125, "", "filesystem (app_container: ")
	w.run(t, "", w.cordon, "exec", "--", winePath(w.guest), "say", "x").check(t, 125, "", "rlimit (this system accepts the limits")
	// Without Python on the host, the message names the tier that has its own.
	w.run(t, "", w.cordon, "run", "-c", "print(1)").check(t, 127, "", "--tier wasm")
	w.run(t, "", w.cordon, "exec", "--policy", w.policy, "--allow-net", "example.org", "--", winePath(w.guest), "say").check(t, 125, "", "no host can be allowed")
	w.run(t, "", w.cordon, "exec", "--policy", w.policy, "--", "cmd", "/c", "ver").check(t, 126, "", "interpreter")
}

// TestCommands checks the exit code and output of programs.
func TestCommands(t *testing.T) {
	w := setUp(t)
	for _, c := range []struct {
		name           string
		flags, args    []string
		code           int
		stdout, stderr string
	}{
		{"arguments", nil, []string{"say", "a b", `c"d`, "", `e\`}, 0, `a b|c"d||e\` + "\n", ""},
		{"exit code", nil, []string{"exit", "42"}, 42, "", ""},
		{"fault", nil, []string{"fault"}, 137, "", "ACCESS_VIOLATION"},
		{"truncated output", []string{"-o", "4KiB", "--on-output-limit", "truncate", "-t", "1s"}, []string{"flood"}, 124, "xxx", "cut at the output limit"},
		{"too much output", []string{"-o", "4KiB", "--on-output-limit", "kill"}, []string{"flood"}, 137, "xxx", "output limit of 4KiB"},
		{"too much memory", []string{"-m", "64MiB"}, []string{"eat"}, 137, "", "memory limit of 64MiB"},
		{"environment", []string{"--env", "A=1"}, []string{"environment"}, 0, "A=1\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := w.runGuest(t, c.flags, c.args...)
			got.check(t, c.code, c.stdout, c.stderr)
			if strings.Contains(got.stdout, "SECRET_OF_HOST") {
				t.Errorf("the environment was inherited: %s", got.stdout)
			}
		})
	}
}

// TestInput checks that a guest reads the stdin of cordon.
func TestInput(t *testing.T) {
	w := setUp(t)
	w.run(t, "text from stdin", w.cordon, "exec", "--policy", w.policy, "--", winePath(w.guest), "copy").check(t, 0, "text from stdin", "")
}

// TestWorkspace checks that a guest can write to its workspace.
func TestWorkspace(t *testing.T) {
	w := setUp(t)
	workspace := t.TempDir()
	w.runGuest(t, []string{"--workspace", winePath(workspace)}, "write", "new.txt").check(t, 0, "", "")
	if text, err := os.ReadFile(filepath.Join(workspace, "new.txt")); err != nil || string(text) != "written" {
		t.Errorf("new.txt has %q, want %q; error %v", text, "written", err)
	}
}

// marker returns a string that no other command line contains.
func marker(t *testing.T) string {
	return t.Name() + strconv.FormatInt(time.Now().UnixNano(), 36)
}

// TestTimeoutKillsProcessTree checks from the host that no process of a guest is left after the
// wall time limit.
func TestTimeoutKillsProcessTree(t *testing.T) {
	w := setUp(t)
	mark := marker(t)
	defer func() { kill(findProcesses(t, mark)) }()
	got := w.runGuest(t, []string{"-t", "3s"}, "family", mark, "3")
	got.check(t, 124, "all are here", "wall time limit of 3s")
	if left := findProcesses(t, mark); len(left) > 0 {
		t.Errorf("%d processes are left after the timeout", len(left))
	}
}

// TestKillOnClose kills cordon.exe and checks that its guests end: the kernel (here, Wine's
// server) closes the handles of cordon.exe, and with them the job.
func TestKillOnClose(t *testing.T) {
	w := setUp(t)
	mark := marker(t)
	defer func() { kill(findProcesses(t, mark)) }()
	c, finish := w.command(t.Context(), t, w.cordon, "exec", "--policy", w.policy, "--", winePath(w.guest), "family", mark, "2")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	// Two guests match the marker, and cordon itself, whose arguments contain those of the
	// guest. A process that was just forked has the arguments of its parent.
	var cordonPIDs []int
	waitFor(t, "two guests and cordon", func() bool {
		cordonPIDs = findProcesses(t, "--\x00"+winePath(w.guest)+"\x00family\x00"+mark)
		return len(cordonPIDs) > 0 && len(findProcesses(t, mark)) == len(cordonPIDs)+2
	})
	kill(cordonPIDs)
	_ = c.Wait() // it fails, because cordon was killed
	waitFor(t, "the guests to end", func() bool { return len(findProcesses(t, mark)) == 0 })
	if got := finish(); got.code == 0 {
		t.Errorf("cordon was not killed: %+v", got)
	}
}

// TestDoctor checks that the report names the walls that Wine lacks and has, and the Python.
func TestDoctor(t *testing.T) {
	w := setUp(t)
	got := w.run(t, "", w.cordon, "doctor", "--python", w.python)
	for _, line := range []string{"app_container  missing", "job_object    enforced", "system calls are not filtered", "third-party code", "CPython 3.11.9"} {
		if !strings.Contains(got.stdout, line) {
			t.Errorf("doctor does not mention %q: %s%s", line, got.stdout, got.stderr)
		}
	}
}
