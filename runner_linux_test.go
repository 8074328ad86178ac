package cordon_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

const victimVariable = "CORDON_TEST_VICTIM"

func TestMain(m *testing.M) {
	if os.Getenv(victimVariable) != "" {
		victim()
	}
	goleak.VerifyTestMain(m)
}

func newRunner(t testing.TB, o cordon.Options) *cordon.Runner {
	t.Helper()
	r, err := cordon.NewRunner(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func mustRun(t testing.TB, r *cordon.Runner, req run.Request) run.Result {
	t.Helper()
	res, err := r.Run(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// Each of 200 concurrent callers gets its own answer.
func TestHammerConcurrentRuns(t *testing.T) {
	r := newRunner(t, cordon.Options{})
	var wait sync.WaitGroup
	for i := range 200 {
		wait.Go(func() {
			res, err := r.Run(t.Context(), run.Request{
				ID: strconv.Itoa(i), Script: run.Script{Source: "print('out', context)\nresult = [context, context * 2]", Context: i},
			})
			if err != nil {
				t.Error(err)
				return
			}
			if want := fmt.Sprintf("[%d,%d]", i, 2*i); strings.ReplaceAll(string(res.Value), " ", "") != want || res.ID != strconv.Itoa(i) || res.Stdout != fmt.Sprintf("out %d\n", i) {
				t.Errorf("run %d: id %q, %s, %q", i, res.ID, res.Value, res.Stdout)
			}
		})
	}
	wait.Wait()
}

// The message about a result that is too large says so.
func TestLargeResults(t *testing.T) {
	patient := policy.Limits{WallTime: 4 * time.Minute, CPUTime: 4 * time.Minute} // a busy machine may be slow
	r := newRunner(t, cordon.Options{Policy: policy.Policy{Limits: patient, Maxima: patient}})
	for script, want := range map[string]struct {
		outcome run.Outcome
		words   string
	}{
		"result = 'a' * ((8 << 20) - 2)":                               {run.Succeeded, ""},
		"result = 'a' * ((8 << 20) - 1)":                               {run.OutOfResult, "result limit of 8MiB"},
		"result = 'a' * (70 << 20)":                                    {run.OutOfResult, "result limit of 8MiB"},
		"result = 'a' * (100 << 20)":                                   {run.OutOfMemory, "256MiB"},
		"result = 'a' * (140 << 20)":                                   {run.OutOfMemory, "256MiB"},
		"class L(list): pass\nresult = L([n] for n in range(1500000))": {run.OutOfMemory, "256MiB"},
	} {
		res := mustRun(t, r, run.Request{Script: run.Script{Source: script}})
		if res.Outcome != want.outcome || !strings.Contains(res.Error, want.words) {
			t.Errorf("%s: %s, %s; want %s, %s", script, res.Outcome, res.Error, want.outcome, want.words)
		}
	}
}

func TestTwoRunnersInOneProcess(t *testing.T) {
	a, b := newRunner(t, cordon.Options{Idle: 1}), newRunner(t, cordon.Options{Idle: 1})
	if got := mustRun(t, a, run.Request{Script: run.Script{Source: "result = 1"}}); string(got.Value) != "1" {
		t.Errorf("first: %s", got.Value)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if got := mustRun(t, b, run.Request{Script: run.Script{Source: "result = 2"}}); string(got.Value) != "2" {
		t.Errorf("second: %s", got.Value)
	}
	if _, err := a.Run(t.Context(), run.Request{Script: run.Script{Source: "result = 1"}}); !errors.Is(err, run.ErrClosed) {
		t.Errorf("a closed Runner answers %v", err)
	}
}

// Canceling a run kills its guest at once, and the pool goes on.
func TestCancelKillsTheGuest(t *testing.T) {
	r := newRunner(t, cordon.Options{Idle: 2})
	ctx, cancel := context.WithCancel(t.Context())
	started := make(chan struct{})
	var once sync.Once
	res, err := r.Run(ctx, run.Request{
		Script:  run.Script{Source: "print('started', flush=True)\nwhile True: pass"},
		Streams: run.Streams{Out: writer(func([]byte) { once.Do(func() { close(started); cancel() }) })},
	})
	<-started
	if err != nil || res.Outcome != run.Canceled || res.ErrorType != "canceled" {
		t.Errorf("%v %v %v", err, res.Outcome, res.Error)
	}
	if _, err := r.Run(ctx, run.Request{Script: run.Script{Source: "result = 1"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that is over from the start: %v", err)
	}
	if got := mustRun(t, r, run.Request{Script: run.Script{Source: "result = 3"}}); string(got.Value) != "3" {
		t.Errorf("afterwards: %s", got.Value)
	}
}

type writer func([]byte)

func (w writer) Write(b []byte) (int, error) { w(b); return len(b), nil }

// descendants lists the processes below pid.
func descendants(pid int) []int {
	children := map[int][]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		data, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
		child, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		parent, _ := strconv.Atoi(fields[1])
		children[parent] = append(children[parent], child)
	}
	var all []int
	for queue := children[pid]; len(queue) > 0; queue = queue[1:] {
		all = append(all, queue[0])
		queue = append(queue, children[queue[0]]...)
	}
	return all
}

// A killed fork server is replaced. A run that it was serving returns an error; later
// runs succeed, once its workers are dead.
func TestKilledZygoteIsReplaced(t *testing.T) {
	r := newRunner(t, cordon.Options{Idle: 2})
	mustRun(t, r, run.Request{Script: run.Script{Source: "result = 1"}})
	var once sync.Once
	_, err := r.Run(t.Context(), run.Request{
		Script: run.Script{Source: "print('started', flush=True)\nimport time; time.sleep(60)"},
		Streams: run.Streams{Out: writer(func([]byte) {
			once.Do(func() {
				killZygotes(t)
			})
		})},
	})
	if run.ClassOf(err) != run.Internal || err == nil {
		t.Errorf("the run under way: %v", err)
	}
	for i := range 20 {
		if got := mustRun(t, r, run.Request{Script: run.Script{Source: "result = context", Context: i}}); string(got.Value) != strconv.Itoa(i) {
			t.Errorf("afterwards: %s %s", got.Value, got.Error)
		}
	}
}

// killZygotes returns when they are dead.
func killZygotes(t *testing.T) {
	t.Helper()
	for _, pid := range zygotes(os.Getpid()) {
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			continue // it has ended
		}
		_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) // ESRCH: it has just ended
		for err = unix.EINTR; err == unix.EINTR; {         // signals of Go's runtime
			_, err = unix.Ppoll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, nil, nil)
		}
		if err != nil {
			t.Error(err)
		}
		unix.Close(fd)
	}
}

// zygotes lists the children of pid that have children, or will have.
func zygotes(pid int) []int {
	var found []int
	for _, child := range descendants(pid) {
		if data, err := os.ReadFile("/proc/" + strconv.Itoa(child) + "/cmdline"); err == nil && strings.Contains(string(data), "MAGIC_NUMBER") {
			if status, err := os.ReadFile("/proc/" + strconv.Itoa(child) + "/stat"); err == nil && strings.Fields(string(status[strings.LastIndexByte(string(status), ')')+1:]))[1] == strconv.Itoa(pid) {
				found = append(found, child)
			}
		}
	}
	return found
}

// victim runs guests until the test kills it.
func victim() {
	if os.Getenv(victimVariable) == "one shot" {
		r, err := cordon.NewRunner(cordon.Options{OneShot: true})
		if err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		_, err = r.Run(context.Background(), run.Request{
			Script: run.Script{Source: "print('ready', flush=True)\nwhile True: pass"}, Streams: run.Streams{Out: os.Stdout},
		})
		fmt.Println("not reached:", err)
		os.Exit(1)
	}
	r, err := cordon.NewRunner(cordon.Options{Idle: 4})
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	for range 3 {
		go func() {
			for {
				_, _ = r.Run(context.Background(), run.Request{Script: run.Script{Source: "while True: pass"}, Limits: policy.Limits{WallTime: time.Minute}})
			}
		}()
	}
	go func() {
		for {
			_, _ = r.Run(context.Background(), run.Request{Script: run.Script{Source: "open('/tmp/x', 'w').write('x' * 1000000)"}})
		}
	}()
	fmt.Println("ready")
	select {}
}

// If cordon gets SIGKILL at any moment, none of its processes stays.
func TestKilledRunnerLeavesNothing(t *testing.T) {
	before := hosttest.Mounts(t)
	for i := range 8 {
		cmd := exec.Command("/proc/self/exe")
		cmd.Env = append(os.Environ(), victimVariable+"=many")
		if i >= 4 {
			cmd.Env = append(os.Environ(), victimVariable+"=one shot")
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// Kill it early in its start, in the middle, and while it runs guests.
		if i%4 != 0 {
			if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
				t.Fatalf("victim: %q %v", line, err)
			}
		}
		for range i {
			runtime.Gosched()
		}
		left := watch(descendants(cmd.Process.Pid))
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed
		for pid, fd := range left {
			poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
			n, err := unix.Poll(poll, 30_000)
			for err == unix.EINTR {
				n, err = unix.Poll(poll, 30_000)
			}
			if n != 1 || err != nil {
				t.Errorf("process %d outlives its Runner (%v)", pid, err)
			}
			unix.Close(fd)
		}
	}
	if left := hosttest.NewMounts(t, before); len(left) > 0 {
		t.Errorf("mounts are left:\n%s", strings.Join(left, "\n"))
	}
}

// watch opens a pidfd for each process, to wait for its end.
func watch(pids []int) map[int]int {
	open := map[int]int{}
	for _, pid := range pids {
		if fd, err := unix.PidfdOpen(pid, 0); err == nil {
			open[pid] = fd
		}
	}
	return open
}

// A short soak test: runs that end in every way, many times, leave nothing behind.
func TestNothingIsLeftBehind(t *testing.T) {
	requests := []run.Request{
		{Script: run.Script{Source: "result = context['a'] + 1", Context: map[string]any{"a": 41}}},
		{Script: run.Script{Source: "1/0"}},
		{Script: run.Script{Source: "import ctypes; ctypes.string_at(0)"}},
		{Script: run.Script{Source: "while True: pass"}, Limits: policy.Limits{WallTime: 30 * time.Millisecond}},
		{Script: run.Script{Source: "x = bytearray(1 << 30)"}},
		{Script: run.Script{Source: "print('x' * 1000000)"}},
		{Script: run.Script{Source: "import os; os._exit(3)"}},
		{Script: run.Script{Source: "import os; os.close(3)"}},
		{Script: run.Script{Source: "open('/tmp/f', 'w').write('x' * 100000)"}},
		{Script: run.Script{Source: "result = 1"}, Limits: policy.Limits{Memory: 512 * policy.MiB}}, // its worker is not from the pool
	}
	before := hosttest.Mounts(t)
	files := len(descriptors(t))
	r, err := cordon.NewRunner(cordon.Options{Idle: 4})
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for worker := range 8 {
		wait.Go(func() {
			for i := range 25 {
				req := requests[(worker+i)%len(requests)]
				ctx, cancel := context.WithCancel(t.Context())
				if i%10 == 9 {
					time.AfterFunc(time.Millisecond, cancel)
				}
				_, err := r.Run(ctx, req)
				if err != nil && ctx.Err() == nil {
					t.Errorf("%s: %v", req.Script.Source, err)
				}
				cancel()
			}
		})
	}
	wait.Wait()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if left := descendants(os.Getpid()); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
	if after := descriptors(t); len(after) > files {
		t.Errorf("descriptors are left: %d before, now %v", files, after)
	}
	if left := hosttest.NewMounts(t, before); len(left) > 0 {
		t.Errorf("mounts are left:\n%s", strings.Join(left, "\n"))
	}
	if groups, _ := filepath.Glob("/sys/fs/cgroup/memory/*/*/cordon-" + strconv.Itoa(os.Getpid()) + "-*"); len(groups) > 0 {
		t.Errorf("cgroups are left: %v", groups)
	}
}

func descriptors(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	var open []string
	for _, e := range entries {
		if target, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil {
			open = append(open, target)
		}
	}
	return open
}

// A run that needs a new worker asks the fork server, and may be the first to find it
// dead. It must succeed all the same.
func TestRunSucceedsAfterZygoteDied(t *testing.T) {
	r := newRunner(t, cordon.Options{Idle: 1})
	wider := policy.Limits{Scratch: 20 * policy.MiB}
	for i := range 10 {
		for _, pid := range zygotes(os.Getpid()) {
			// The last one may be reaped in the meantime.
			if err := unix.Kill(pid, unix.SIGKILL); err != nil && err != unix.ESRCH {
				t.Fatal(err)
			}
		}
		if got := mustRun(t, r, run.Request{Script: run.Script{Source: "result = context", Context: i}, Limits: wider}); string(got.Value) != strconv.Itoa(i) {
			t.Errorf("run %d: %s %s", i, got.Value, got.Error)
		}
	}
}
