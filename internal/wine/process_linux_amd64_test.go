package wine

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The tests of the job, the token and the handles run there themselves.
func TestJobObject(t *testing.T) {
	w := start(t)
	got := w.run(t, "", w.jobTest, "-test.v")
	if got.code != 0 || strings.Count(got.out, "--- PASS") < 12 {
		t.Errorf("code %d: %s%s", got.code, got.out, got.err)
	}
	// Tests of walls that Wine accepts but does not enforce are skipped there, and pending in
	// SPECIFICATION.md.
	specification, err := os.ReadFile("../../SPECIFICATION.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(got.out) {
		if name, skipped := strings.CutPrefix(line, "--- SKIP: "); skipped {
			name, _, _ = strings.Cut(name, " ")
			if !strings.Contains(string(specification), "`"+name+"`") {
				t.Errorf("%s is skipped under Wine, and SPECIFICATION.md does not have it as pending", name)
			}
		}
	}
}

func TestScripts(t *testing.T) {
	w := start(t)
	for _, c := range []struct {
		name     string
		args     []string
		code     int
		out, err string
	}{
		{"a script", []string{"-c", "print(1)"}, 0, "1\n", ""},
		{"a result", []string{"-v", "result", "-c", "import sys\nresult = sys.platform"}, 0, "win32", ""},
		{"an exception", []string{"-c", "1 / 0"}, 1, "", "ZeroDivisionError"},
		{"an exit code", []string{"-c", "import sys; sys.exit(7)"}, 7, "", ""},
		{"a hard end", []string{"-c", "import os; os._exit(9)"}, 9, "", ""},
		{"an endless loop", []string{"-t", "1s", "-c", "while True: pass"}, 124, "", "wall time limit of 1s"},
		{"too much memory", []string{"-m", "64MiB", "-c", "x = bytearray(300 << 20)\nwhile True: pass"}, 137, "", "memory limit of 64MiB"},
		{"too much output", []string{"--on-output-limit", "kill", "-o", "4KiB", "-c", "while True: print('x' * 1000)"}, 137, "xxx", "output limit of 4KiB"},
		{"output that is cut", []string{"-o", "4KiB", "-c", "print('x' * 10000)"}, 0, "xxx", "cut at 4096 bytes"},
		{"files of its own", []string{"-c", "import os\nos.makedirs('a/b')\nopen('a/b/c', 'w').write('x')\nprint(os.listdir())"}, 0, "['a']", ""},
		{"language rules", []string{"--restricted", "-c", "import os"}, 1, "", "import"},
		{"what stands", []string{"--json", "-c", "pass"}, 0, `"app_container":{"state":"missing"`, ""},
		{"nothing of the environment", []string{"-c", "import os; print(sorted(os.environ))"}, 0, "'TEMP'", ""},
		{"third parties", []string{"--trust", "third-party", "-c", "pass"}, 125, "", "not strong enough"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := w.script(t, c.args...)
			got.check(t, c.code, c.out, c.err)
			if strings.Contains(got.out, "CORDON_SECRET") {
				t.Errorf("the environment was inherited: %s", got.out)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	w := start(t)
	// A policy that prefers nothing is refused, because Wine lacks walls.
	w.run(t, "", w.cordon, "run", "--python", w.python, "-c", "print(1)").check(t, 125, "", "filesystem (app_container: ")
	w.run(t, "", w.cordon, "exec", "--", winePath(w.guest), "say", "x").check(t, 125, "", "rlimit (this system accepts the limits")
	// Without a Python, the message names the tier that has its own.
	w.run(t, "", w.cordon, "run", "-c", "print(1)").check(t, 127, "", "--tier wasm")
	w.run(t, "", w.cordon, "exec", "--policy", w.policy, "--allow-net", "example.org", "--", winePath(w.guest), "say").check(t, 125, "", "no host can be allowed")
	w.run(t, "", w.cordon, "exec", "--policy", w.policy, "--", "cmd", "/c", "ver").check(t, 126, "", "interpreter")
}

func TestCommands(t *testing.T) {
	w := start(t)
	for _, c := range []struct {
		name        string
		flags, args []string
		code        int
		out, err    string
	}{
		{"arguments", nil, []string{"say", "a b", `c"d`, "", `e\`}, 0, `a b|c"d||e\` + "\n", ""},
		{"an exit code", nil, []string{"exit", "42"}, 42, "", ""},
		{"a fault", nil, []string{"fault"}, 137, "", "ACCESS_VIOLATION"},
		{"output that is cut", []string{"-o", "4KiB", "--on-output-limit", "truncate", "-t", "1s"}, []string{"flood"}, 124, "xxx", "cut at 4096 bytes"},
		{"too much output", []string{"-o", "4KiB", "--on-output-limit", "kill"}, []string{"flood"}, 137, "xxx", "output limit of 4KiB"},
		{"too much memory", []string{"-m", "64MiB"}, []string{"eat"}, 137, "", "memory limit of 64MiB"},
		{"environment", []string{"--env", "A=1"}, []string{"environment"}, 0, "A=1\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := w.exec(t, c.flags, c.args...)
			got.check(t, c.code, c.out, c.err)
			if strings.Contains(got.out, "CORDON_SECRET") {
				t.Errorf("the environment was inherited: %s", got.out)
			}
		})
	}
}

func TestInput(t *testing.T) {
	w := start(t)
	w.run(t, "what comes in", w.cordon, "exec", "--policy", w.policy, "--", winePath(w.guest), "copy").check(t, 0, "what comes in", "")
}

func TestWorkspace(t *testing.T) {
	w := start(t)
	workspace := t.TempDir()
	w.exec(t, []string{"--workspace", winePath(workspace)}, "write", "new.txt").check(t, 0, "", "")
	if text, err := os.ReadFile(filepath.Join(workspace, "new.txt")); err != nil || string(text) != "written" {
		t.Errorf("%q, %v", text, err)
	}
}

// marker is a word that no other command line has.
func marker(t *testing.T) string {
	return t.Name() + strconv.FormatInt(time.Now().UnixNano(), 36)
}

// The time limit ends a whole tree of processes, as the host can see.
func TestTimeoutEndsTheTree(t *testing.T) {
	w := start(t)
	word := marker(t)
	defer func() { kill(processes(t, word)) }()
	got := w.exec(t, []string{"-t", "3s"}, "family", word, "3")
	got.check(t, 124, "all are here", "wall time limit of 3s")
	if left := processes(t, word); len(left) > 0 {
		t.Errorf("%d processes are left", len(left))
	}
}

// cordon.exe is killed, and the kernel (here, Wine's server) closes its handles.
func TestKillOnClose(t *testing.T) {
	w := start(t)
	word := marker(t)
	defer func() { kill(processes(t, word)) }()
	c, finish := w.command(t.Context(), t, w.cordon, "exec", "--policy", w.policy, "--", winePath(w.guest), "family", word, "2")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	// Two guests, and cordon itself, whose arguments have the same words and more. A process
	// that was just forked has the arguments of its parent.
	var keepers []int
	eventually(t, "a family and its keeper", func() bool {
		keepers = processes(t, "--\x00"+winePath(w.guest)+"\x00family\x00"+word)
		return len(keepers) > 0 && len(processes(t, word)) == len(keepers)+2
	})
	kill(keepers)
	_ = c.Wait() // it was killed
	eventually(t, "the end of the guests", func() bool { return len(processes(t, word)) == 0 })
	if got := finish(); got.code == 0 {
		t.Errorf("cordon was not killed: %+v", got)
	}
}

func TestDoctor(t *testing.T) {
	w := start(t)
	got := w.run(t, "", w.cordon, "doctor", "--python", w.python)
	for _, line := range []string{"app_container  missing", "job_object    enforced", "system calls are not filtered", "third-party code", "CPython 3.11.9"} {
		if !strings.Contains(got.out, line) {
			t.Errorf("doctor does not mention %q: %s%s", line, got.out, got.err)
		}
	}
}
