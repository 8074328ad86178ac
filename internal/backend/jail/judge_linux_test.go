package jail

import (
	"errors"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/confine"
	"github.com/cordon-sandbox/cordon/internal/output"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func endedWith(status unix.WaitStatus) confine.CommandEnd { return confine.CommandEnd{Status: &status} }

func TestJudge(t *testing.T) {
	killed, overtime := endedWith(unix.WaitStatus(unix.SIGKILL)), endedWith(unix.WaitStatus(unix.SIGXCPU))
	limit := policy.DefaultLimits().CPUTime
	for _, test := range []struct {
		name     string
		evidence evidence
		want     run.Outcome
		words    string
	}{
		{"success", evidence{End: endedWith(0)}, run.Succeeded, ""},
		{"an exit code", evidence{End: endedWith(3 << 8)}, run.Exited, "exit code 3"},
		{"a signal", evidence{End: endedWith(unix.WaitStatus(unix.SIGSEGV))}, run.Signaled, "SIGSEGV"},
		{"a real-time signal", evidence{End: endedWith(35)}, run.Signaled, "SIGRTMIN+1"},
		{"a signal without a name", evidence{End: endedWith(32)}, run.Signaled, "SIG32"},
		{"a signal that nobody of us sent", evidence{End: killed}, run.Signaled, "SIGKILL"},
		{"wall time", evidence{Killed: killedWall}, run.TimedOut, "wall time limit of 30s"},
		{"CPU time", evidence{Killed: killedCPU}, run.OutOfCPU, "CPU time limit of 10s"},
		{"CPU time, by the kernel", evidence{End: overtime, CPUTime: limit}, run.OutOfCPU, "CPU time limit of 10s"},
		{"CPU time, by the kernel's last means", evidence{End: killed, CPUTime: 2 * limit}, run.OutOfCPU, "CPU time limit of 10s"},
		{"the signal for CPU time, before its time", evidence{End: overtime, CPUTime: limit - 1}, run.Signaled, "SIGXCPU"},
		{"a crash behind its time", evidence{End: endedWith(unix.WaitStatus(unix.SIGSEGV)), CPUTime: limit}, run.Signaled, "SIGSEGV"},
		{"output", evidence{Killed: killedOutput, End: killed}, run.OutOfOutput, "output limit of 64KiB"},
		{"disk", evidence{Killed: killedDisk}, run.OutOfDisk, "disk limit of 64MiB"},
		{"a limit of its own", evidence{End: endedWith(unix.WaitStatus(unix.SIGXFSZ))}, run.Signaled, "SIGXFSZ"},
		{"scratch", evidence{End: endedWith(1 << 8), ScratchFull: true}, run.OutOfDisk, "scratch limit of 16MiB"},
		{"scratch, and it went on", evidence{End: endedWith(0), ScratchFull: true}, run.Succeeded, ""},
		{"memory", evidence{End: killed, OOMKills: 1}, run.OutOfMemory, "memory limit of 256MiB"},
		{"memory, behind its time", evidence{End: killed, OOMKills: 1, CPUTime: limit}, run.OutOfMemory, "memory limit"},
		{"memory of a child, and it gave up", evidence{End: endedWith(2 << 8), OOMKills: 1}, run.OutOfMemory, "memory limit"},
		{"memory of a child, and it went on", evidence{End: endedWith(0), OOMKills: 1}, run.Succeeded, ""},
		{"memory of the init", evidence{OOMKills: 1}, run.OutOfMemory, "memory limit"},
		{"processes", evidence{End: endedWith(1 << 8), ForksRefused: 9}, run.OutOfProcs, "limit of 64 processes"},
		{"processes, and it went on", evidence{End: endedWith(0), ForksRefused: 9}, run.Succeeded, ""},
		{"canceled", evidence{Killed: killedCanceled}, run.Canceled, "canceled"},
		{"hammering", evidence{Killed: killedHammering}, run.Denied, "kept trying"},
		{"the filter's signal, which a command can send too", evidence{End: endedWith(unix.WaitStatus(unix.SIGSYS))}, run.Signaled, "ended by SIGSYS, as programs are that"},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.evidence.Limits = policy.DefaultLimits()
			test.evidence.Stdout = output.Capture{Data: []byte("x"), Size: 2, Dropped: 1}
			r, err := judge(test.evidence)
			if err != nil {
				t.Fatal(err)
			}
			if r.Outcome != test.want || !strings.Contains(r.Error, test.words) || (r.Error == "") != r.OK() {
				t.Errorf("%s: %q; want %s: %q", r.Outcome, r.Error, test.want, test.words)
			}
			if r.Status != test.want.Status() || r.ErrorType != test.want.ErrorType() || !r.StdoutTruncated {
				t.Errorf("%+v", r)
			}
			if len(r.Violations) != 0 {
				t.Errorf("violations without evidence: %+v", r.Violations)
			}
			if test.evidence.Killed != "" && (r.ExitCode != nil || r.Signal != "SIGKILL") {
				t.Errorf("killed with code %v, signal %s", r.ExitCode, r.Signal)
			}
			if status := test.evidence.End.Status; status != nil && status.Signaled() && (r.OK() || r.ExitCode != nil || r.Signal == "") {
				t.Errorf("ended by signal %d: %s with code %v, signal %q", status.Signal(), r.Outcome, r.ExitCode, r.Signal)
			}
		})
	}
}

// A command that never ran is an error, not a Result.
func TestJudgeOfCommandThatNeverRan(t *testing.T) {
	for _, test := range []struct {
		evidence evidence
		class    run.Class
	}{
		{evidence{Program: "/x", End: confine.CommandEnd{Failure: unix.ENOENT}}, run.NotFound},
		{evidence{Program: "/x", End: confine.CommandEnd{Failure: unix.EACCES}}, run.NotExecutable},
		{evidence{Program: "/x", End: confine.CommandEnd{Failure: unix.E2BIG}}, run.Invalid},
		{evidence{Program: "/x", End: confine.CommandEnd{Failure: unix.EIO}}, run.Internal},
		{evidence{End: endedWith(1 << 8), NotExecuted: true}, run.Unsupported},
		{evidence{}, run.Internal}, // another program killed the init
	} {
		var classed *run.Error
		if _, err := judge(test.evidence); !errors.As(err, &classed) || classed.Class != test.class {
			t.Errorf("%+v: %v, want %s", test.evidence.End, err, test.class)
		}
	}
}

// A command is ended soon after its time is up, and not sampled while it cannot have used it
// up.
func TestSoonest(t *testing.T) {
	w := &watcher{guest: &guest{}}
	w.guest.job.Limits.CPUTime = time.Hour
	if first := w.soonest(0); first < time.Minute {
		t.Errorf("looks after %v", first)
	}
	if last := w.soonest(time.Hour - time.Millisecond); last != cpuEvery {
		t.Errorf("looks after %v", last)
	}
}
