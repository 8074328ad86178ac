package launch_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/backendtest"
	"github.com/cordon-sandbox/cordon/internal/backend/portable"
	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/internal/launch"
	"github.com/cordon-sandbox/cordon/policy"
)

// procFS lists processes in the form that the launcher of macOS uses.
type procFS struct{}

func (procFS) List() (all []launch.Member, err error) {
	entries, err := os.ReadDir("/proc")
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if fields := stat(pid); fields != nil && fields[0] != "Z" {
			all = append(all, launch.Member{PID: pid, Parent: number(fields[1]), Group: number(fields[2]), Started: int64(number(fields[19]))})
		}
	}
	return all, err
}

func (procFS) UsedBy(pid int) (u launch.Used, ok bool) {
	fields := stat(pid)
	if fields == nil {
		return u, false
	}
	const tick = 10 * time.Millisecond
	return launch.Used{
		CPUTime: time.Duration(number(fields[11])+number(fields[12])) * tick, Memory: policy.Bytes(number(fields[21]) * os.Getpagesize()),
	}, true
}

// stat returns the fields of /proc/PID/stat from the state on.
func stat(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	return strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
}

func number(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

// unconfinedLauncher starts processes like the launcher of macOS, but without Seatbelt.
type unconfinedLauncher struct{}

func (unconfinedLauncher) Walls(launch.Access) (map[policy.Wall]policy.WallStatus, error) {
	return map[policy.Wall]policy.WallStatus{policy.WallSeatbelt: policy.EnforcedWall("a lie, for tests"), policy.WallRlimit: policy.EnforcedWall(""), policy.WallEnvironment: policy.EnforcedWall("")}, nil
}

func (unconfinedLauncher) ChannelName(channel *os.File) string { return launch.ChannelName(channel) }

func (unconfinedLauncher) System() launch.System { return launch.System{} }

func (unconfinedLauncher) Start(o launch.Order) (launch.Process, error) {
	return launch.StartGroup(o, procFS{}, append([]string{o.Program}, o.Args[1:]...)...)
}

// The code for macOS passes the suite of every backend.
func TestGroupsPassTheBackendSuite(t *testing.T) {
	backendtest.Contract(t, func(t *testing.T, _ policy.Policy) backend.Backend {
		b, err := portable.NewScripts(t.Context(), portable.Options{Launcher: unconfinedLauncher{}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		})
		return b
	}, policy.Policy{})
}

// startedShell is a running shell and its output.
type startedShell struct {
	*launch.Group
	out   *bufio.Reader
	stdin *os.File
}

func startShell(t *testing.T, limits policy.Limits, script string) startedShell {
	t.Helper()
	stdin, typed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, stdout, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	g, err := launch.StartGroup(launch.Order{
		Env: []string{"PATH=/usr/bin:/bin"}, Dir: t.TempDir(), Stdin: stdin, Stdout: stdout, Stderr: stdout, Limits: limits.Or(policy.DefaultLimits()),
	}, procFS{}, "/bin/sh", "-c", script)
	if err != nil {
		t.Fatal(err)
	}
	stdin.Close()
	stdout.Close()
	t.Cleanup(func() {
		g.Kill()
		typed.Close()
		out.Close()
	})
	return startedShell{g, bufio.NewReader(out), typed}
}

func (s startedShell) line(t *testing.T) string {
	t.Helper()
	line, err := s.out.ReadString('\n')
	if err != nil {
		t.Fatalf("%q, %v", line, err)
	}
	return strings.TrimSuffix(line, "\n")
}

func TestLimitsApplyToTheChild(t *testing.T) {
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	// A descriptor that every child would inherit.
	leak, err := syscall.Open(os.DevNull, syscall.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(leak)
	s := startShell(t, policy.Limits{OpenFiles: 33, CPUTime: 2500 * time.Millisecond, Scratch: policy.MiB, Disk: policy.MiB},
		`echo $(ulimit -Hn) $(ulimit -Sn) $(ulimit -Ht) $(ulimit -Hc) $(ulimit -Hf); ls /proc/self/fd`)
	if got := s.line(t); got != "33 33 4 0 2048" {
		t.Errorf("limits are %s", got)
	}
	rest, err := io.ReadAll(s.out)
	if err != nil {
		t.Fatal(err)
	}
	// 3 belongs to ls. The channel, the lifeline and inherited descriptors are closed.
	got := strings.Join(strings.Fields(string(rest)), " ")
	if got != "0 1 2 3" {
		t.Errorf("it has %s", got)
	}
	if exit, err := s.Wait(); err != nil || exit.Signal != "" {
		t.Errorf("%+v, %v", exit, err)
	}
	var after syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &after); err != nil || after != before {
		t.Errorf("ours were %v and are %v, %v", before, after, err)
	}
}

// A process that leaves its group and session is found as a child of a known process, and
// killed too.
func TestKillReachesProcessesOutsideTheGroup(t *testing.T) {
	s := startShell(t, policy.Limits{}, `setsid sh -c 'echo $$; exec sleep 600' & wait`)
	away := number(s.line(t))
	if away == 0 || stat(away) == nil {
		t.Fatal("it is not there")
	}
	if u := s.Usage(); u.Processes < 2 {
		t.Errorf("%d processes", u.Processes)
	}
	s.Kill()
	if exit, err := s.Wait(); err != nil || exit.Signal != "SIGKILL" || exit.Code != -1 {
		t.Errorf("%+v, %v", exit, err)
	}
	awaitDeath(t, away)
}

// All processes of a command end with it, including those that left the group after they
// were listed.
func TestProcessesEndWithTheFirst(t *testing.T) {
	s := startShell(t, policy.Limits{}, `setsid sleep 600 & sleep 600 & echo $! ; read x`)
	inGroup := number(s.line(t))
	away := awaitLeaver(t, s.PID())
	s.Usage() // lists it
	s.stdin.Close()
	if _, err := s.Wait(); err != nil {
		t.Fatal(err)
	}
	awaitDeath(t, inGroup)
	awaitDeath(t, away)
}

// awaitLeaver waits for a child in another group.
func awaitLeaver(t *testing.T, parent int) (pid int) {
	t.Helper()
	hosttest.Eventually(t, "nobody left the group", func() bool {
		all, err := procFS{}.List()
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range all {
			if m.Parent == parent && m.Group == m.PID {
				pid = m.PID
			}
		}
		return pid != 0
	})
	return pid
}

// When the Runner is killed, its guests end.
func TestGuestsEndWithTheRunner(t *testing.T) {
	if os.Getenv("CORDON_TEST_RUNNER") != "" {
		s := startShell(t, policy.Limits{}, `echo $$; exec sleep 600`)
		if _, err := os.Stdout.WriteString(s.line(t) + "\n"); err != nil {
			t.Fatal(err)
		}
		select {} // until it is killed
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run=^TestGuestsEndWithTheRunner$")
	cmd.Env = append(os.Environ(), "CORDON_TEST_RUNNER=1", "TMPDIR="+t.TempDir())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid := number(strings.TrimSpace(line))
	if stat(pid) == nil {
		t.Fatalf("%q is not there", line)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	awaitDeath(t, pid)
}

func awaitDeath(t *testing.T, pid int) {
	t.Helper()
	t.Cleanup(func() {
		if t.Failed() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	hosttest.Eventually(t, fmt.Sprintf("process %d is still there", pid), func() bool {
		fields := stat(pid)
		return fields == nil || fields[0] == "Z"
	})
}

func TestUsageIsTheSumOfAll(t *testing.T) {
	s := startShell(t, policy.Limits{}, `(while :; do :; done) & (while :; do :; done) & wait`)
	hosttest.Eventually(t, "no time goes by", func() bool { return s.Usage().CPUTime >= 300*time.Millisecond })
	if u := s.Usage(); u.Processes != 3 || u.Memory == 0 {
		t.Errorf("%+v", u)
	}
	s.Kill()
	exit, err := s.Wait()
	if err != nil || exit.Usage.CPUTime < 300*time.Millisecond {
		t.Errorf("%+v, %v: the children's time is lost", exit, err)
	}
}

// On macOS, /bin/sh is bash, but it may also be dash or zsh.
func TestWrapperInOtherShells(t *testing.T) {
	for _, shell := range [][]string{{"bash", "--posix"}, {"zsh", "--emulate", "sh"}, {"dash"}} {
		program, err := exec.LookPath(shell[0])
		if err != nil {
			continue
		}
		theirs, ours, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		text := launch.Wrapper(policy.DefaultLimits())
		cmd := exec.Command(program, append(shell[1:], "-c", text, "cordon", "/bin/sh", "-c", "ulimit -n; exec sleep 600")...)
		cmd.ExtraFiles = []*os.File{nil, theirs}
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		theirs.Close()
		if line, err := bufio.NewReader(out).ReadString('\n'); line != "64\n" {
			t.Errorf("%s: %q, %v", shell[0], line, err)
		}
		ours.Close() // as our death would do
		if err := cmd.Wait(); cmd.ProcessState.String() != "signal: killed" {
			t.Errorf("%s: %v", shell[0], err)
		}
	}
}

func TestStartErrors(t *testing.T) {
	_, err := launch.StartGroup(launch.Order{Dir: filepath.Join(t.TempDir(), "missing")}, procFS{}, "/bin/true")
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}
