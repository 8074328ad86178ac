package containtest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/backend/jail"
	"github.com/cordon-sandbox/cordon/internal/cgroup"
	"github.com/cordon-sandbox/cordon/internal/hostpath"
	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// rounds returns how many random moments a test tries.
func rounds(n int) int {
	if testing.Short() {
		return n / 5
	}
	return n
}

// lingering returns a command that never ends, starts a daemon, and ignores all signals that it
// can ignore. It also returns the marker on its command line.
func (s *scene) lingering(t *testing.T) (run.Request, string) {
	t.Helper()
	marker := "cdn-" + filepath.Base(s.suite.directory) + "-" + filepath.Base(s.directory)
	s.params["marker"] = marker
	req := s.request
	req.Command.Args, req.Command.Env = s.command(attempt{act: "linger with daemon"})
	req.Command.Args = append(req.Command.Args, marker)
	return req, marker
}

var lifeActs = map[string]act{
	"linger with daemon": func(p params) error {
		if err := startSelf(p, "daemon middle"); errors.Is(err, errBroken) {
			return err
		}
		fmt.Println("READY")
		return linger(p)
	},
	"runner":               runnerAct,
	"runner at a terminal": runnerAtTerminal,
	"neighbor":             neighbor,
	"look for a neighbor":  lookForNeighbor,
	"victim":               victim,
	"attack a victim":      attackVictim,
}

// runnerAct is a Runner that starts commands until it is killed.
func runnerAct(args params) error {
	p, err := policy.Preset("command")
	if err != nil {
		return broken("%v", err)
	}
	p.AllowInterpreters, p.Read = true, []string{args.text("program")}
	options := jail.Options{LandlockABI: landlockABI()}
	if path := args.text("runsc"); path != "" {
		program, err := hostpath.ProgramAt(path)
		if err != nil {
			return broken("%v", err)
		}
		options.Runsc = &program
	} else {
		p.Jail = policy.JailBackend(args.text("jail"))
	}
	options.Policy = p
	b, err := jail.New(options)
	if err != nil {
		return broken("%v", err)
	}
	fmt.Println("READY")
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			_, err := runIn(context.Background(), b, p, run.Request{
				Command: run.Command{Args: []string{args.text("program"), args.text("marker")}, Workspace: args.text("workspace"), Env: map[string]string{actVariable: "linger with daemon", paramsVariable: encode(args)}},
			})
			fmt.Println("ended", err)
		})
	}
	all.Wait()
	return errQuiet
}

// TestContainKilledRunner checks that all processes end when their Runner is killed. This test
// adopts orphans meanwhile, so a process that survives becomes its child.
func TestContainKilledRunner(t *testing.T) {
	eachBackend(t, func(t *testing.T, suite *suite) {
		if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) }()
		s := suite.scene(t, attempt{}, suite.guarded)
		_, marker := s.lingering(t)
		s.params["jail"], s.params["program"], s.params["runsc"] = string(suite.jail), suite.program, ""
		if suite.gvisor() {
			s.params["runsc"] = runsc(t).Path
		}
		mounts := hosttest.Mounts(t)
		var pids []int
		for range rounds(30) {
			pids = append(pids, killRunner(t, s, marker))
		}
		if left := hosttest.NewMounts(t, mounts); len(left) > 0 {
			t.Errorf("mounts are left: %v", left)
		}
		// The next Runner cleans up after the dead one.
		again := suite.open(t, suite.policy, nil)
		if !usesCgroups(again) {
			return
		}
		cgroup.Sweep(cgroup.Probe().ProcessParent)
		for _, pid := range pids {
			if left := cgroupsOf(t, pid); len(left) > 0 {
				t.Errorf("cgroups are left: %v", left)
			}
		}
	})
}

// killRunner starts a Runner and kills it at a random moment.
func killRunner(t *testing.T, s *scene, marker string) (pid int) {
	t.Helper()
	cmd := exec.Command(s.suite.program)
	cmd.Env = append(os.Environ(), actVariable+"=runner", paramsVariable+"="+encode(s.params))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "READY\n" {
		t.Fatalf("the Runner says %q: %v", line, err)
	}
	moment := rand.N(150 * time.Millisecond)
	<-time.After(moment)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatalf("the Runner has ended before %v: %v", moment, err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != unix.SIGKILL {
		t.Fatalf("the Runner was to be killed after %v: %v", moment, err)
	}
	deadline := time.Now().Add(5 * time.Second)
	for {
		pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
		if errors.Is(err, unix.ECHILD) {
			break
		}
		if time.Now().After(deadline) {
			left := processesWithArg(marker)
			t.Fatalf("killed after %v, a Runner has left children behind (marked: %v)", moment, left)
		}
		if pid == 0 {
			pause()
		}
	}
	if left := processesWithArg(marker); len(left) > 0 {
		t.Errorf("killed after %v, a Runner has left %v behind", moment, left)
	}
	return cmd.Process.Pid
}

// runningCommand is a started request whose output can be read line by line.
type runningCommand struct {
	lines  *bufio.Reader
	result chan runEnd
}

type runEnd struct {
	result run.Result
	err    error
}

func start(ctx context.Context, b *jail.Backend, p policy.Policy, req run.Request) *runningCommand {
	reader, writer := io.Pipe()
	req.Streams.Out = writer
	s := &runningCommand{lines: bufio.NewReader(reader), result: make(chan runEnd, 1)}
	go func() {
		r, err := runIn(ctx, b, p, req)
		_ = writer.Close()
		s.result <- runEnd{r, err}
	}()
	return s
}

// until waits for a line with a prefix and returns the rest of the line.
func (s *runningCommand) until(t *testing.T, want string) string {
	t.Helper()
	for {
		line, err := s.lines.ReadString('\n')
		if rest, found := strings.CutPrefix(line, want); found {
			go func() { _, _ = io.Copy(io.Discard, s.lines) }()
			return strings.TrimSpace(rest)
		}
		if err != nil {
			e := <-s.result
			t.Fatalf("it did not print %s: %v %s", want, e.err, show(e.result))
		}
	}
}

func TestContainCloseWhileRunning(t *testing.T) {
	eachBackend(t, func(t *testing.T, suite *suite) {
		b, err := jail.New(suite.options(t, suite.policy, nil))
		if err != nil {
			t.Fatal(err)
		}
		var all []*runningCommand
		var markers []string
		for range 4 {
			s := suite.scene(t, attempt{}, suite.guarded)
			req, marker := s.lingering(t)
			all, markers = append(all, start(t.Context(), b, suite.policy, req)), append(markers, marker)
		}
		for _, one := range all {
			one.until(t, "READY")
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		for i, one := range all {
			if left := processesWithArg(markers[i]); len(left) > 0 {
				t.Errorf("processes %v are left", left)
			}
			if e := <-one.result; e.err == nil && e.result.Outcome != run.Canceled || e.err != nil && run.ClassOf(e.err) != run.Closed {
				t.Errorf("%v\n%s", e.err, show(e.result))
			}
		}
		if _, err := runIn(t.Context(), b, suite.policy, run.Request{Command: run.Command{Args: []string{"true"}}}); run.ClassOf(err) != run.Closed {
			t.Errorf("a closed backend says %v", err)
		}
	})
}

func TestContainCanceledAtAnyMoment(t *testing.T) {
	eachBackend(t, func(t *testing.T, suite *suite) {
		s := suite.scene(t, attempt{}, suite.guarded)
		req, marker := s.lingering(t)
		for range rounds(50) {
			moment := rand.N(60 * time.Millisecond)
			ctx, cancel := context.WithTimeout(t.Context(), moment)
			began := time.Now()
			r, err := runIn(ctx, suite.backend, suite.policy, req)
			cancel()
			if err != nil && !errors.Is(err, context.DeadlineExceeded) || err == nil && r.Outcome != run.Canceled {
				t.Errorf("canceled after %v: %v\n%s", moment, err, show(r))
			}
			if took := time.Since(began); took > moment+3*time.Second {
				t.Errorf("canceled after %v, it took %v", moment, took)
			}
			if left := processesWithArg(marker); len(left) > 0 {
				t.Fatalf("canceled after %v, processes %v are left", moment, left)
			}
		}
		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := runIn(canceled, suite.backend, suite.policy, req); !errors.Is(err, context.Canceled) {
			t.Errorf("canceled before it began: %v", err)
		}
	})
}

func TestContainKilledFromOutside(t *testing.T) {
	eachBackend(t, func(t *testing.T, suite *suite) {
		for name, test := range map[string]struct {
			victims func(pids []int) []int
			right   func(e runEnd) bool
		}{
			// The command's own end, and its message about it.
			"the command": {
				func(pids []int) []int {
					// bubblewrap has its arguments on its command line, too.
					return slices.DeleteFunc(pids, func(pid int) bool { return commandName(pid) == "bwrap" })
				},
				func(e runEnd) bool {
					if suite.jail == policy.JailBwrap {
						return e.err == nil && bwrapSignaled(unix.SIGKILL).is(e.result)
					}
					return e.err == nil && e.result.Outcome == run.Signaled && e.result.Signal == "SIGKILL"
				},
			},
			// How the command would have ended is unknown, so the Runner returns an error.
			"the init": {
				func(pids []int) []int { return []int{parentOf(t, pids[0])} },
				func(e runEnd) bool {
					return run.ClassOf(e.err) == run.Internal && strings.Contains(e.err.Error(), "killed from outside")
				},
			},
		} {
			t.Run(name, func(t *testing.T) {
				s := suite.scene(t, attempt{}, suite.guarded)
				req, marker := s.lingering(t)
				one := start(t.Context(), suite.backend, suite.policy, req)
				one.until(t, "READY")
				killed := 0
				for _, pid := range test.victims(processesWithArg(marker)) {
					switch err := unix.Kill(pid, unix.SIGKILL); {
					case err == nil:
						killed++
					case !errors.Is(err, unix.ESRCH): // the others end with the first
						t.Errorf("process %d: %v", pid, err)
					}
				}
				if killed == 0 {
					t.Fatal("nothing was killed")
				}
				if e := <-one.result; !test.right(e) {
					t.Errorf("%v\n%s", e.err, show(e.result))
				}
				if left := processesWithArg(marker); len(left) > 0 {
					t.Errorf("processes %v are left", left)
				}
			})
		}
	})
}

func commandName(pid int) string {
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return "" // it has ended
	}
	return strings.TrimSpace(string(name))
}

func parentOf(t *testing.T, pid int) int {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	var parent int
	for line := range strings.Lines(string(data)) {
		if _, err := fmt.Sscanf(line, "PPid: %d", &parent); err == nil && parent != os.Getpid() && parent > 1 {
			return parent
		}
	}
	t.Fatalf("process %d has no parent", pid)
	return 0
}

// TestContainTwoRunners checks that each of two Runners in one process ends only its own
// commands.
func TestContainTwoRunners(t *testing.T) {
	eachBackend(t, func(t *testing.T, suite *suite) {
		s := suite.scene(t, attempt{}, suite.guarded)
		req, marker := s.lingering(t)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		one := start(ctx, suite.backend, suite.policy, req)
		one.until(t, "READY")
		other, err := jail.New(jail.Options{Policy: suite.policy})
		if err != nil {
			t.Fatal(err)
		}
		if r, err := runIn(t.Context(), other, suite.policy, run.Request{Command: run.Command{Args: []string{"true"}}}); err != nil || !r.OK() {
			t.Errorf("%v\n%s", err, show(r))
		}
		if err := other.Close(); err != nil {
			t.Error(err)
		}
		if len(processesWithArg(marker)) == 0 {
			t.Error("one Runner has ended the other's command")
		}
		cancel()
		if e := <-one.result; e.err != nil || e.result.Outcome != run.Canceled {
			t.Errorf("%v\n%s", e.err, show(e.result))
		}
	})
}
