package process

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Threads of native code do not hold the interpreter's lock, so many can ask for another
// thread at the same moment.
func TestHammerThreads(t *testing.T) {
	b := open(t, Options{Idle: 1})
	requireHost(t, b, policy.WallSeccomp)
	job := jobOf(b, `
import ctypes, sys, threading
libc = ctypes.CDLL(None)
barrier = threading.Barrier(12)
def more():
    handle = ctypes.c_ulong()
    barrier.wait()
    for _ in range(4):
        libc.pthread_create(ctypes.byref(handle), None, libc.sleep, ctypes.c_void_p(5))
threads = [threading.Thread(target=more) for _ in range(12)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join(0.5)
print("made", flush=True)
sys.stdin.read()
import os
os._exit(0)
`, nil)
	s, input, done := openWithInput(t, b, &job)
	defer done()
	most := 0
	job.Streams.Out = writerFunc(func(p []byte) {
		if strings.Contains(string(p), "made") {
			tasks, err := os.ReadDir("/proc/" + strconv.Itoa(s.(*sandbox).member.PID) + "/task")
			if err != nil {
				t.Error(err)
			}
			most = len(tasks)
			input.Close()
		}
	})
	if r, err := s.Run(t.Context(), job); err != nil {
		t.Fatal(err)
	} else if most == 0 {
		t.Fatalf("the attempt is broken: %s %s", r.Error, r.Stderr)
	}
	if most > job.Limits.Threads {
		t.Errorf("%d threads, with a limit of %d", most, job.Limits.Threads)
	}
}

type writerFunc func([]byte)

func (f writerFunc) Write(p []byte) (int, error) { f(p); return len(p), nil }

// Failed calls are counted, also if the kernel and not cordon refuses them.
func TestFailedCallsAreCounted(t *testing.T) {
	b := open(t, Options{Policy: policy.Policy{AllowNet: []string{"example.com"}}})
	requireHost(t, b, policy.WallSeccomp)
	for name, script := range map[string]string{
		"threads with storage that cannot be addressed": `
import ctypes, platform
libc = ctypes.CDLL(None, use_errno=True)
assert platform.machine() == "x86_64"
for _ in range(40_000):
    libc.syscall(56, ctypes.c_ulong(0x3d0f00), 0, 0, 0, ctypes.c_ulong(1 << 63))`,
		"sockets without descriptors": `
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
call = __import__("platform").machine() == "x86_64" and 41 or 198
try:
    while True:
        os.dup(0)
except OSError:
    pass
for _ in range(40_000):
    libc.syscall(call, 2, 1, 0)`,
	} {
		t.Run(name, func(t *testing.T) {
			if strings.HasPrefix(name, "threads") && runtime.GOARCH != "amd64" {
				t.Skip("arm64 takes every value")
			}
			if r := runJob(t, b, jobOf(b, script, nil)); r.Outcome != run.Denied {
				t.Errorf("%s: %s\n%s", r.Outcome, r.Error, r.Stderr)
			}
		})
	}
}
