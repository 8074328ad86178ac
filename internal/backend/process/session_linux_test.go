package process

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/bench/proc"
	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/backendtest"
	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func TestSessions(t *testing.T)     { backendtest.Sessions(t, opener, policy.Policy{}, true) }
func TestFiles(t *testing.T)        { backendtest.Files(t, opener, policy.Policy{}) }
func TestSessionFiles(t *testing.T) { backendtest.SessionFiles(t, opener, policy.Policy{}) }
func TestHostileSteps(t *testing.T) { backendtest.HostileSteps(t, opener, policy.Policy{}) }
func TestContractInSteps(t *testing.T) {
	backendtest.Contract(t, backendtest.InSteps(opener), policy.Policy{})
}

// All attempts to break out, from inside a step after another step.
func TestContainmentInSteps(t *testing.T) {
	hosttest.NotUnderRace(t, "it tests walls, which the detector does not see")
	backendtest.Containment(t, backendtest.InSteps(opener), policy.Policy{})
}

func TestSessionsInDegradedHost(t *testing.T) {
	inDegradedHost(t, func() {
		backendtest.Contract(t, backendtest.InSteps(opener), systemPython)
		backendtest.HostileSteps(t, opener, systemPython)
		s := openSession(t, open(t, Options{Policy: systemPython}))
		if _, err := s.Files(); run.ClassOf(err) != run.Unsupported || !strings.Contains(err.Error(), "no private /tmp") {
			t.Errorf("%v", err)
		}
	})
}

func openSession(t *testing.T, b *Backend) *session {
	t.Helper()
	s, err := b.OpenSession(t.Context(), backend.SessionOptions{Limits: b.options.Policy.Limits})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s.(*session)
}

// stepOf is a step with a wall time limit.
func stepOf(b *Backend, code string, limit time.Duration) backend.Job {
	job := jobOf(b, code, nil)
	job.Limits.WallTime = limit
	return job
}

// A step that does not end when it is interrupted is killed, and its session ends.
func TestStepThatIgnoresInterrupts(t *testing.T) {
	b := open(t, Options{Idle: 2})
	// The step says that it is ready inside of what catches interrupts: the next one may come
	// at once. A second handler is there for an interrupt that arrives in the first.
	const ready = "print('ready', flush=True)\n"
	catches := func(wait string) string {
		return "while True:\n  try:\n    " + ready +
			"    while True:\n      try: " + wait + "\n      except KeyboardInterrupt: pass\n" +
			"  except KeyboardInterrupt: pass\n"
	}
	for name, code := range map[string]string{
		"ignores the signal":      "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n" + ready + "while True: pass",
		"blocks the signal":       "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})\n" + ready + "while True: pass",
		"catches every interrupt": "import time\n" + catches("time.sleep(100)"),
		"never ends its cleanup":  "import time\ntry:\n    " + ready + "    time.sleep(100)\nfinally:\n    while True: pass",
		"waits in a thread":       "import threading\nt = threading.Thread(target=threading.Event().wait)\nt.start()\n" + catches("t.join()"),
	} {
		t.Run(name, func(t *testing.T) {
			s := openSession(t, b)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			job := jobOf(b, code, nil)
			job.Streams.Out = canceling(cancel)
			res, err := s.Run(ctx, job)
			if err != nil || res.Outcome != run.Canceled || res.Step.Survived || res.Signal != "SIGKILL" {
				t.Fatalf("%v %s %s %q %+v", err, res.Outcome, res.Error, res.Signal, res.Step)
			}
			if _, err := s.Run(t.Context(), jobOf(b, "pass", nil)); !errors.Is(err, run.ErrGone) {
				t.Errorf("the session goes on: %v", err)
			}
			hosttest.Eventually(t, "its process is dead", func() bool { return unix.Kill(s.member.PID, 0) != nil })
		})
	}
}

// canceling cancels a context when a guest writes.
type canceling context.CancelFunc

func (c canceling) Write(p []byte) (int, error) {
	c()
	return len(p), nil
}

// A guest that writes to its channel can only harm its own session: no later step gets an
// answer that an earlier one has written.
func TestForgedAnswersEndTheSession(t *testing.T) {
	b := open(t, Options{Idle: 2})
	const forge = `
import marshal, os
def forge(kind, **report):
    data = marshal.dumps({"end": "ok", "code": 0, "result": "forged", "display": [], "omitted": 0, **report}, 2)
    os.write(3, kind + len(data).to_bytes(4, "little") + data)
`
	for name, code := range map[string]string{
		"without a number":   "forge(b'D')",
		"with another one":   "forge(b'D', number=1)",
		"as the last answer": "forge(b'L', number=1)",
		"as code":            "forge(b'C', number=1)",
		"half of one":        "os.write(3, b'D\\xff\\xff')",
		"far too large":      "os.write(3, b'D\\xff\\xff\\xff\\xff')",
		"garbage":            "os.write(3, b'\\0' * 1000)",
		"closes the channel": "os.close(3)",
		"after the answer":   "import threading, time\nthreading.Timer(0.05, forge, (b'D',)).start()",
		"with the number of the step": `import sys
frame = sys._getframe()
while "number" not in frame.f_locals: frame = frame.f_back
forge(b'D', number=frame.f_locals["number"])`,
	} {
		t.Run(name, func(t *testing.T) {
			s := openSession(t, b)
			first, err := s.Run(t.Context(), stepOf(b, forge+code, 5*time.Second))
			if err != nil {
				t.Fatal(err)
			}
			for n := range 3 {
				job := stepOf(b, "result = "+strconv.Itoa(n)+"\nimport time; time.sleep(0.05)", 5*time.Second)
				res, err := s.Run(t.Context(), job)
				if errors.Is(err, run.ErrGone) {
					return
				}
				if err != nil || res.OK() && string(res.Value) != strconv.Itoa(n) {
					t.Errorf("after %s: step %d: %v %s %s", first.Outcome, n, err, res.Outcome, res.Value)
				}
			}
		})
	}
}

// Interrupts at random times hit the step for which they are meant and no other: each later
// step gives its own answer, and the state is whole.
func TestInterruptHammer(t *testing.T) {
	b := open(t, Options{Idle: 2})
	s := openSession(t, b)
	if res, err := s.Run(t.Context(), jobOf(b, "n = 0", nil)); err != nil || !res.OK() {
		t.Fatal(err, res.Error)
	}
	interrupted := 0
	for i := range 300 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%30)*50*time.Microsecond)
		res, err := s.Run(ctx, jobOf(b, "for i in range(20000): n = i\nresult = 'long'", nil))
		cancel()
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("step %d: %v", i, err)
		}
		if err == nil && res.Outcome == run.Canceled {
			interrupted++
		}
		res, err = s.Run(t.Context(), jobOf(b, "result = "+strconv.Itoa(i), nil))
		if err != nil || string(res.Value) != strconv.Itoa(i) {
			t.Fatalf("after %d interrupts, step %d: %v %s %s %s", interrupted, i, err, res.Outcome, res.Value, res.Stderr)
		}
	}
	if interrupted == 0 {
		t.Error("no step was interrupted")
	}
}

// An interrupt that arrives before the code of its step runs is not lost, and does not hit code
// of ours: the session goes on.
func TestEarlyInterrupts(t *testing.T) {
	b := open(t, Options{Idle: 4})
	for i := range 40 {
		s := openSession(t, b)
		for step := range 2 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*50*time.Microsecond)
			res, err := s.Run(ctx, jobOf(b, "while True: pass", nil))
			cancel()
			if errors.Is(err, context.DeadlineExceeded) {
				continue // it was not sent
			}
			if err != nil || res.Outcome != run.Canceled || !res.Step.Survived {
				t.Fatalf("step %d, interrupted after %d times 50µs: %v %s %s %+v", step, i, err, res.Outcome, res.Error, res.Step)
			}
		}
		if res, err := s.Run(t.Context(), jobOf(b, "result = 1", nil)); err != nil || !res.OK() {
			t.Fatalf("after it: %v %s", err, res.Error)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Python drops an interrupt that comes during the callback of a weak reference, as the import
// system has them. The next one ends the step.
func TestInterruptInCallback(t *testing.T) {
	s := openSession(t, open(t, Options{Idle: 1}))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	job := jobOf(s.backend, "import time, weakref\nclass C: pass\nc = C()\nr = weakref.ref(c, lambda _: (print('ready', flush=True), time.sleep(100)))\ndel c\nwhile True: pass", nil)
	job.Streams.Out = canceling(cancel)
	res, err := s.Run(ctx, job)
	if err != nil || res.Outcome != run.Canceled || !res.Step.Survived {
		t.Errorf("%v %s %s %+v\n%s", err, res.Outcome, res.Error, res.Step, res.Stderr)
	}
}

// An interrupt that comes between two steps ends nothing, also after one that Python has dropped.
func TestInterruptsBetweenSteps(t *testing.T) {
	s := openSession(t, open(t, Options{Idle: 1}))
	const later = `
import os, signal, sys, threading, time, types
def later():
    time.sleep(0.3)
    sys.unraisablehook(types.SimpleNamespace(exc_type=KeyboardInterrupt))
    os.kill(os.getpid(), signal.SIGINT)
    os.mkdir("done")
threading.Thread(target=later).start()`
	if res, err := s.Run(t.Context(), jobOf(s.backend, later, nil)); err != nil || !res.OK() {
		t.Fatalf("%v %s", err, res.Error)
	}
	files, err := s.Files()
	if err != nil {
		t.Fatal(err)
	}
	hosttest.Eventually(t, "the interrupt was sent", func() bool {
		_, _, err := files.Open("done")
		return err != nil && strings.Contains(err.Error(), "directory")
	})
	res, err := s.Run(t.Context(), jobOf(s.backend, "result = 1", nil))
	if err != nil || !res.OK() {
		t.Errorf("%v %s", err, res.Error)
	}
}

// What threads of a session use between its steps counts for the next step.
func TestThreadsBetweenStepsAreCharged(t *testing.T) {
	b := open(t, Options{Idle: 2})
	s := openSession(t, b)
	if res, err := s.Run(t.Context(), jobOf(b, "import threading\ndef spin():\n    while True: pass\nthreading.Thread(target=spin, daemon=True).start()", nil)); err != nil || !res.OK() {
		t.Fatal(err, res.Error)
	}
	used := func() time.Duration {
		var clock unix.Timespec
		if err := unix.ClockGettime(int32(^s.member.PID<<3|2), &clock); err != nil { // its CPU clock, as in package zygote
			t.Fatal(err)
		}
		return time.Duration(clock.Nano())
	}
	before := used()
	hosttest.Eventually(t, "the thread has used 300ms", func() bool { return used()-before > 300*time.Millisecond })
	job := jobOf(b, "for i in range(10**9): pass", nil)
	job.Limits.CPUTime = 300 * time.Millisecond
	res, err := s.Run(t.Context(), job)
	if err != nil || res.Outcome != run.OutOfCPU || res.Usage.CPUTime < 300*time.Millisecond {
		t.Errorf("%v %s %s, CPU time %v", err, res.Outcome, res.Error, res.Usage.CPUTime)
	}
}

// Threads that use the CPU while no step runs end their session, when they have used what a step
// may use.
func TestThreadsBetweenStepsAreBounded(t *testing.T) {
	b := open(t, Options{Idle: 2})
	limits := b.options.Policy.Limits
	limits.CPUTime = 200 * time.Millisecond
	opened, err := b.OpenSession(t.Context(), backend.SessionOptions{Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	s := opened.(*session)
	defer s.Close()
	job := jobOf(b, "import threading\ndef spin():\n    while True: pass\nthreading.Thread(target=spin, daemon=True).start()", nil)
	job.Limits = limits
	if res, err := s.Run(t.Context(), job); err != nil || !res.OK() {
		t.Fatal(err, res.Error)
	}
	hosttest.Eventually(t, "its process is dead", func() bool { return unix.Kill(s.member.PID, 0) != nil })
	if _, err := s.Run(t.Context(), job); !errors.Is(err, run.ErrGone) || !strings.Contains(err.Error(), "between two steps") {
		t.Errorf("%v", err)
	}
}

// A session keeps the limits with which it was opened.
func TestSessionKeepsItsLimits(t *testing.T) {
	b := open(t, Options{Idle: 2})
	s := openSession(t, b)
	job := jobOf(b, "pass", nil)
	job.Limits.Memory *= 2
	var field *policy.FieldError
	if _, err := s.Run(t.Context(), job); !errors.As(err, &field) || field.Field != "limits.memory" || !errors.Is(err, run.ErrInvalid) {
		t.Errorf("%v", err)
	}
	if res, err := s.Run(t.Context(), jobOf(b, "result = 1", nil)); err != nil || string(res.Value) != "1" {
		t.Errorf("after it: %v %s", err, res.Error)
	}
}

// Sessions of a dead fork server are gone; those of a replaced one go on.
func TestSessionsAndTheirForkServer(t *testing.T) {
	b := open(t, Options{Idle: 2, MaxForks: 4})
	s := openSession(t, b)
	if res, err := s.Run(t.Context(), jobOf(b, "x = 1", nil)); err != nil || !res.OK() {
		t.Fatal(err, res.Error)
	}
	for range 12 { // its fork server is replaced meanwhile
		if res := runJob(t, b, jobOf(b, "pass", nil)); !res.OK() {
			t.Fatal(res.Error)
		}
	}
	if res, err := s.Run(t.Context(), jobOf(b, "result = x", nil)); err != nil || string(res.Value) != "1" {
		t.Errorf("after its fork server was replaced: %v %s", err, res.Error)
	}
	s.member.server.Close()
	if _, err := s.Run(t.Context(), jobOf(b, "pass", nil)); err == nil {
		t.Error("a step runs without its fork server")
	}
	if _, err := s.Run(t.Context(), jobOf(b, "pass", nil)); !errors.Is(err, run.ErrGone) {
		t.Errorf("%v", err)
	}
}

// Sessions that are closed, killed, interrupted or left open leave no process, descriptor or
// cgroup behind when their backend is closed.
func TestSessionsLeaveNothing(t *testing.T) {
	before, err := proc.Files()
	if err != nil {
		t.Fatal(err)
	}
	b, err := New(t.Context(), Options{Idle: 2})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 24 {
		s, err := b.OpenSession(t.Context(), backend.SessionOptions{Limits: b.options.Policy.Limits})
		if err != nil {
			t.Fatal(err)
		}
		code := []string{"x = 1", "import os; os._exit(1)", "while True: x = 1", "import os; os.kill(os.getpid(), 9)"}[i%4]
		if _, err := s.Run(t.Context(), stepOf(b, code, 20*time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		if i%3 == 0 {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if _, err := b.OpenSession(t.Context(), backend.SessionOptions{Limits: b.options.Policy.Limits}); !errors.Is(err, run.ErrClosed) {
		t.Errorf("a closed backend: %v", err)
	}
	if left := hosttest.Children(t); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
	hosttest.Eventually(t, "no descriptor is left", func() bool {
		now, err := proc.Files()
		return err == nil && now <= before
	})
}

func TestNetworkInSteps(t *testing.T) {
	backendtest.Network(t, backendtest.InSteps(opener), policy.Policy{})
}
