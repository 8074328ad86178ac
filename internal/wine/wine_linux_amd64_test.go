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

// wineFixture is shared by all tests: a Wine prefix, and programs built for Windows.
type wineFixture struct {
	work           string // the directory of the built programs
	prefix, python string
	cordon, guest  string
	jobTest        string
	policy         string // lets cordon run without the walls that Wine lacks
}

var shared = struct {
	sync.Once
	wineFixture
	err error
}{}

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.work != "" {
		shared.cleanUp()
	}
	os.Exit(code)
}

// cleanUp kills processes that a failed test left, and removes the directories, including those
// of guests whose cordon.exe was killed.
func (w *wineFixture) cleanUp() {
	server := exec.Command("wineserver", "--kill")
	server.Env = w.environment()
	_ = server.Run()
	left, _ := filepath.Glob(filepath.Join(w.prefix, "drive_c", "users", "*", "Temp", "cordon-*"))
	for _, directory := range append(left, w.work) {
		os.RemoveAll(directory)
	}
}

// setUp returns the shared fixture, which the first call builds. It skips the test without Wine.
func setUp(t *testing.T) *wineFixture {
	t.Helper()
	directory := hosttest.NeedsExtra(t, hosttest.Wine)
	shared.Do(func() { shared.err = shared.build(directory) })
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return &shared.wineFixture
}

// build compiles the programs and writes the policy.
func (w *wineFixture) build(directory string) (err error) {
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

func (w *wineFixture) environment() []string {
	return []string{"WINEPREFIX=" + w.prefix, "WINEDEBUG=-all", "DISPLAY=", "PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "SECRET_OF_HOST=x"}
}

// result is the exit code and output of a program.
type result struct {
	code           int
	stdout, stderr string
}

// command prepares a program under Wine; finish returns its result after it has ended. Its output
// goes to files: Wine's server inherits the streams of the program that starts it, and keeps
// them open for a while.
func (w *wineFixture) command(ctx context.Context, t *testing.T, program string, args ...string) (c *exec.Cmd, finish func() result) {
	t.Helper()
	streams := t.TempDir()
	c = exec.CommandContext(ctx, "wine", append([]string{program}, args...)...)
	c.Env, c.Dir = w.environment(), filepath.Dir(w.cordon)
	stdout, stderr := create(t, filepath.Join(streams, "out")), create(t, filepath.Join(streams, "err"))
	c.Stdout, c.Stderr = stdout, stderr
	return c, func() result {
		r := result{code: c.ProcessState.ExitCode()}
		for name, destination := range map[string]*string{stdout.Name(): &r.stdout, stderr.Name(): &r.stderr} {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Error(err)
			}
			*destination = strings.ReplaceAll(string(text), "\r\n", "\n")
		}
		return r
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

// run runs a program in the directory of cordon.exe and waits for it.
func (w *wineFixture) run(t *testing.T, input, program string, args ...string) result {
	t.Helper()
	return w.runIn(t, filepath.Dir(w.cordon), input, program, args...)
}

// runIn runs a program in a directory and waits for it.
func (w *wineFixture) runIn(t *testing.T, directory, input, program string, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	c, finish := w.command(ctx, t, program, args...)
	c.Dir, c.Stdin = directory, strings.NewReader(input)
	var exit *exec.ExitError
	if err := c.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return finish()
}

// runScript runs a script with CPython for Windows, without the walls that Wine lacks.
func (w *wineFixture) runScript(t *testing.T, args ...string) result {
	t.Helper()
	return w.run(t, "", w.cordon, append([]string{"run", "--policy", w.policy, "--python", w.python}, args...)...)
}

// runGuest runs the guest program, without the walls that Wine lacks.
func (w *wineFixture) runGuest(t *testing.T, flags []string, args ...string) result {
	t.Helper()
	command := append([]string{"exec", "--policy", w.policy}, flags...)
	return w.run(t, "", w.cordon, append(append(command, "--", winePath(w.guest)), args...)...)
}

// check compares the exit code, and checks that stdout and stderr contain the given text.
func (r result) check(t *testing.T, code int, stdout, stderr string) {
	t.Helper()
	if r.code != code || !strings.Contains(r.stdout, stdout) || !strings.Contains(r.stderr, stderr) {
		t.Errorf("got exit code %d, want %d; stdout %.300q, want %q; stderr %.600q, want %q", r.code, code, r.stdout, stdout, r.stderr, stderr)
	}
}

// findProcesses returns the processes of the host whose command line contains a string.
func findProcesses(t *testing.T, text string) []int {
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
		if err == nil && bytes.Contains(line, []byte(text)) {
			found = append(found, pid)
		}
	}
	return found
}

// waitFor waits until a condition holds.
func waitFor(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); !condition(); <-time.After(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("timed out waiting for %s", what)
		}
	}
}

func kill(pids []int) {
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}
