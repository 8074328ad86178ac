package process

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// openWithInput leases a sandbox for a job, and gives the job an input that lasts until it is
// closed. The caller calls done.
func openWithInput(t *testing.T, b *Backend, job *backend.Job) (s backend.Sandbox, input *os.File, done func()) {
	t.Helper()
	s, err := b.Open(t.Context(), *job)
	if err != nil {
		t.Fatal(err)
	}
	in, input, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	job.Streams.In = in
	return s, input, func() {
		in.Close()
		s.Close()
	}
}

// cpusOf runs a script up to the line "stop", which it prints before it reads its input, and
// returns the CPUs that the kernel allows each of its threads. Meanwhile does something
// else, if it is not nil.
func cpusOf(t *testing.T, b *Backend, job backend.Job, meanwhile func()) (cpus []string) {
	t.Helper()
	s, input, done := openWithInput(t, b, &job)
	defer done()
	job.Streams.Out = writerFunc(func(p []byte) {
		if !strings.Contains(string(p), "stop") {
			return
		}
		defer input.Close()
		files, err := filepath.Glob("/proc/" + strconv.Itoa(s.(*sandbox).member.PID) + "/task/*/status")
		if err != nil {
			t.Error(err)
		}
		for _, file := range files {
			status, err := os.ReadFile(file)
			if err != nil {
				t.Error(err)
			}
			_, list, _ := bytes.Cut(status, []byte("\nCpus_allowed_list:\t"))
			list, _, _ = bytes.Cut(list, []byte("\n"))
			cpus = append(cpus, string(list))
		}
		if meanwhile != nil {
			meanwhile()
		}
	})
	r, err := s.Run(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	if !b.options.OneShot {
		awaitReaped(t, s)
	}
	if !r.OK() || len(cpus) == 0 {
		t.Fatalf("the script is broken: %s %s", r.Error, r.Stderr)
	}
	return cpus
}

// awaitReaped waits until the fork server has reaped the worker of a sandbox: until then, its
// CPU is not free.
func awaitReaped(t *testing.T, s backend.Sandbox) {
	t.Helper()
	for !s.(*sandbox).member.Reaped() {
		select {
		case <-t.Context().Done():
			t.Fatal(t.Context().Err())
		case <-time.After(time.Millisecond):
		}
	}
}

const (
	stop       = "print('stop', flush=True)\nimport sys\nsys.stdin.read()\n"
	twoThreads = "import threading\nlast = threading.Event()\nfor _ in range(2):\n    threading.Thread(target=last.wait).start()\n" + stop + "last.set()\n"
)

// ours returns the CPUs of this process, as the kernel writes them.
func ours(t *testing.T) string {
	t.Helper()
	if runtime.NumCPU() == 1 {
		hosttest.Lacks(t, "there is one CPU")
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(status), "\nCpus_allowed_list:\t")
	list, _, _ = strings.Cut(list, "\n")
	return list
}

func TestCPUs(t *testing.T) {
	all := ours(t)
	b := open(t, Options{Policy: policy.Policy{Maxima: policy.Limits{CPUs: 1 << 10}}})
	requireHost(t, b, policy.WallSeccomp)
	one := func(cpus []string) bool {
		_, err := strconv.Atoi(cpus[0])
		return err == nil
	}
	for name, tt := range map[string]struct {
		script  string
		limit   int
		threads int
		want    func(cpus []string) bool
	}{
		"one thread, on any CPU":         {stop, 1, 1, func(cpus []string) bool { return cpus[0] == all }},
		"more threads, on one CPU":       {twoThreads, 1, 3, one},
		"as many CPUs as there are":      {twoThreads, runtime.NumCPU(), 3, func(cpus []string) bool { return cpus[0] == all }},
		"more CPUs than there are":       {twoThreads, 1 << 10, 3, func(cpus []string) bool { return cpus[0] == all }},
		"fewer CPUs, known at the start": {stop, runtime.NumCPU() - 1, 1, func(cpus []string) bool { return runtime.NumCPU() == 2 || cpus[0] != all }},
	} {
		t.Run(name, func(t *testing.T) {
			job := jobOf(b, tt.script, nil)
			job.Limits.CPUs = tt.limit
			cpus := cpusOf(t, b, job, nil)
			if len(cpus) != tt.threads || !tt.want(cpus) {
				t.Errorf("threads on the CPUs %v; ours are %s", cpus, all)
			}
			for _, thread := range cpus {
				if thread != cpus[0] {
					t.Errorf("threads on different CPUs: %v", cpus)
				}
			}
		})
	}
}

// Guests that run at the same time do not share a CPU while another is free. That of a guest
// that has ended is free again: otherwise each CPU would count as used after as many guests
// as there are CPUs.
func TestCPUsAreSpread(t *testing.T) {
	ours(t)
	b := open(t, Options{})
	requireHost(t, b, policy.WallSeccomp)
	var others []string
	first := cpusOf(t, b, jobOf(b, twoThreads, nil), func() {
		for range runtime.NumCPU() {
			others = append(others, cpusOf(t, b, jobOf(b, twoThreads, nil), nil)[0])
		}
	})
	if len(others) == 0 || slices.Contains(others, first[0]) {
		t.Errorf("a guest on CPU %s, and meanwhile others on %v", first[0], others)
	}
}

// A guest cannot change its CPUs, from any of its threads, neither before it is held to
// them nor after.
func TestCPUsCannotBeChanged(t *testing.T) {
	ours(t)
	b := open(t, Options{})
	requireHost(t, b, policy.WallSeccomp)
	r := runJob(t, b, jobOf(b, `
import os, threading
outcomes = []
def widen():
    for pid in (0, os.getpid(), threading.get_native_id()):
        try:
            os.sched_setaffinity(pid, range(64))
            outcomes.append("widened")
        except PermissionError:
            outcomes.append("denied")
def many():
    return len(os.sched_getaffinity(0))
widen()
thread = threading.Thread(target=widen)
thread.start()
thread.join()
widen()
result = [sorted(set(outcomes)), len(outcomes), many()]`, nil))
	if got := string(r.Value); got != `[["denied"],9,1]` {
		t.Errorf("%s: %s %s %s", r.Outcome, got, r.Error, r.Stderr)
	}
}

// Numeric libraries read how many threads to start from the environment, in C and in Python.
func TestThreadVariablesFollowCPUs(t *testing.T) {
	for _, oneshot := range []bool{false, true} {
		for limit, want := range map[int]int{1: 1, 2: min(2, runtime.NumCPU()), 64: min(16, runtime.NumCPU())} {
			t.Run(fmt.Sprintf("%d, oneshot %v", limit, oneshot), func(t *testing.T) {
				b := open(t, Options{Policy: policy.Policy{Maxima: policy.Limits{CPUs: 64}}, OneShot: oneshot})
				job := jobOf(b, `
import ctypes, os
libc = ctypes.CDLL(None)
libc.getenv.restype = ctypes.c_char_p
names = [name for name in os.environ if name.endswith("_NUM_THREADS")]
result = [len(names), sorted({os.environ[name] for name in names} | {libc.getenv(name.encode()).decode() for name in names})]`, nil)
				job.Limits.CPUs = limit
				r := runJob(t, b, job)
				var got, wanted any
				if err := json.Unmarshal(r.Value, &got); r.Outcome != run.Succeeded || err != nil {
					t.Fatalf("%s: %s %s", r.Outcome, r.Error, r.Stderr)
				}
				if err := json.Unmarshal([]byte(`[4, ["`+strconv.Itoa(want)+`"]]`), &wanted); err != nil || !reflect.DeepEqual(got, wanted) {
					t.Errorf("%v, want %v", got, wanted)
				}
			})
		}
	}
}
