package wine

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
)

// windows is what the tests share: a Windows of Wine's, and programs for it.
type windows struct {
	work           string // a directory for all of it
	prefix, python string
	cordon, guest  string
	jobTest        string
	policy         string // by which cordon runs without the walls that Wine lacks
}

var built = struct {
	sync.Once
	windows
	err error
}{}

func TestMain(m *testing.M) {
	code := m.Run()
	if built.work != "" {
		built.remove()
	}
	os.Exit(code)
}

// remove ends what a failed test left running, and removes the directories; a cordon that was
// killed has left its guest's.
func (w *windows) remove() {
	server := exec.Command("wineserver", "--kill")
	server.Env = w.environment()
	_ = server.Run()
	left, _ := filepath.Glob(filepath.Join(w.prefix, "drive_c", "users", "*", "Temp", "cordon-*"))
	for _, directory := range append(left, w.work) {
		os.RemoveAll(directory)
	}
}

// start returns what the tests share, or skips the test.
func start(t *testing.T) *windows {
	t.Helper()
	directory := hosttest.NeedsExtra(t, hosttest.Wine)
	built.Do(func() { built.err = built.build(directory) })
	if built.err != nil {
		t.Fatal(built.err)
	}
	return &built.windows
}

func (w *windows) build(directory string) (err error) {
	if w.work, err = os.MkdirTemp("", "cordon-wine-"); err != nil {
		return err
	}
	work := w.work
	w.prefix, w.python = filepath.Join(directory, "prefix"), winePath(filepath.Join(directory, "python", "python.exe"))
	w.cordon, w.guest, w.jobTest = filepath.Join(work, "cordon.exe"), filepath.Join(work, "guest.exe"), filepath.Join(work, "jobobject.test.exe")
	w.policy = winePath(filepath.Join(work, "policy.yaml"))
	for _, arguments := range [][]string{
		{"build", "-trimpath", "-o", w.cordon, "../../cmd/cordon"},
		{"build", "-trimpath", "-o", w.guest, "./testdata/guest"},
		{"test", "-c", "-trimpath", "-o", w.jobTest, "../jobobject"},
	} {
		build := exec.Command("go", arguments...)
		build.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			return errors.New("go " + strings.Join(arguments, " ") + ": " + string(out))
		}
	}
	bundle, err := hosttest.FindExtra(hosttest.PythonWasm)
	if err != nil {
		return err
	}
	if bundle != "" {
		if err := os.Symlink(bundle, filepath.Join(work, "python-wasm.zip")); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(work, "policy.yaml"), []byte("walls:\n  prefer: [filesystem, network, rlimit]\n"), 0o600)
}

// winePath returns a path as programs under Wine see it.
func winePath(path string) string { return "Z:" + strings.ReplaceAll(path, "/", `\`) }

func (w *windows) environment() []string {
	return []string{"WINEPREFIX=" + w.prefix, "WINEDEBUG=-all", "DISPLAY=", "PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "CORDON_SECRET=x"}
}

// said is the exit code and output of a program.
type said struct {
	code     int
	out, err string
}

// command prepares a program under Wine. Its output goes to files: Wine's server
// inherits the streams of the program that starts it, and stays for a while.
func (w *windows) command(ctx context.Context, t *testing.T, program string, args ...string) (c *exec.Cmd, finish func() said) {
	t.Helper()
	streams := t.TempDir()
	c = exec.CommandContext(ctx, "wine", append([]string{program}, args...)...)
	c.Env, c.Dir = w.environment(), filepath.Dir(w.cordon)
	stdout, stderr := create(t, filepath.Join(streams, "out")), create(t, filepath.Join(streams, "err"))
	c.Stdout, c.Stderr = stdout, stderr
	return c, func() said {
		s := said{code: c.ProcessState.ExitCode()}
		for name, into := range map[string]*string{stdout.Name(): &s.out, stderr.Name(): &s.err} {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Error(err)
			}
			*into = strings.ReplaceAll(string(text), "\r\n", "\n")
		}
		return s
	}
}

func create(t *testing.T, name string) *os.File {
	t.Helper()
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return file
}

// run runs a program to its end, beside cordon or in a directory.
func (w *windows) run(t *testing.T, input, program string, args ...string) said {
	t.Helper()
	return w.runIn(t, filepath.Dir(w.cordon), input, program, args...)
}

func (w *windows) runIn(t *testing.T, directory, input, program string, args ...string) said {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	c, finish := w.command(ctx, t, program, args...)
	c.Dir, c.Stdin = directory, strings.NewReader(input)
	var failed *exec.ExitError
	if err := c.Run(); err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	return finish()
}

// script runs a script by CPython for Windows, and exec the guest; neither has the walls
// that Wine lacks.
func (w *windows) script(t *testing.T, args ...string) said {
	t.Helper()
	return w.run(t, "", w.cordon, append([]string{"run", "--policy", w.policy, "--python", w.python}, args...)...)
}

func (w *windows) exec(t *testing.T, flags []string, args ...string) said {
	t.Helper()
	all := append([]string{"exec", "--policy", w.policy}, flags...)
	return w.run(t, "", w.cordon, append(append(all, "--", winePath(w.guest)), args...)...)
}

// check compares the exit code and output with the expected ones.
func (s said) check(t *testing.T, code int, out, err string) {
	t.Helper()
	if s.code != code || !strings.Contains(s.out, out) || !strings.Contains(s.err, err) {
		t.Errorf("code %d, not %d; said %.300q, not %q; %.600q, not %q", s.code, code, s.out, out, s.err, err)
	}
}

// processes lists those of the host whose command line has a word.
func processes(t *testing.T, word string) []int {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	var found []int
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		line, err := os.ReadFile(filepath.Join("/proc", entry.Name(), "cmdline"))
		if err == nil && bytes.Contains(line, []byte(word)) {
			found = append(found, pid)
		}
	}
	return found
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); !is(); <-time.After(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it never came: %s", what)
		}
	}
}

func kill(pids []int) {
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}
