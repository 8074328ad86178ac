package process

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/internal/tuning"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// limitCases are changes of a job's limits, and whether a waiting worker can serve them.
var limitCases = []struct {
	name    string
	change  func(*policy.Limits)
	waiting bool
}{
	{"the policy's", func(*policy.Limits) {}, true},
	{"lower", func(l *policy.Limits) { l.Memory, l.CPUTime, l.OpenFiles = 32*policy.MiB, time.Second, 32 }, true},
	{"higher", func(l *policy.Limits) {
		l.Memory, l.CPUTime, l.WallTime, l.OpenFiles, l.Threads = 512*policy.MiB, 20*time.Second, 30*time.Second, 256, 16
	}, true},
	{"more scratch", func(l *policy.Limits) { l.Scratch *= 2 }, false},
}

// A waiting worker serves runs with other limits than the policy's. Only another size of
// the scratch space needs a new one.
func TestWaitingWorkersServeOtherLimits(t *testing.T) {
	b := open(t, Options{Policy: systemPython, Idle: 4})
	workers := b.kinds[noRules].opened()
	for _, test := range limitCases {
		for workers.waiting() < 4 {
			runtime.Gosched()
		}
		job := jobOf(b, "import json\nresult = 42", nil) // served by this pool
		test.change(&job.Limits)
		s, err := b.Open(t.Context(), job)
		if err != nil {
			t.Fatal(err)
		}
		if taken := workers.waiting() < 4; taken != test.waiting {
			t.Errorf("limits %s: a waiting worker is taken: %v", test.name, taken)
		}
		if r, err := s.Run(t.Context(), job); err != nil || string(r.Value) != "42" {
			t.Errorf("limits %s: %s, %v", test.name, r.Error, err)
		}
		s.Close()
	}
}

// The kernel's limits of a guest are those of its run, soft and hard, whether the Runner or
// the worker sets them.
func TestGuestHasLimitsOfItsRun(t *testing.T) {
	for name, untuned := range map[string]tuning.Set{"the Runner sets them": 0, "the worker sets them": tuning.Limits} {
		t.Run(name, func(t *testing.T) { testLimitsOfRun(t, Options{Policy: systemPython, Untuned: untuned}) })
	}
}

func testLimitsOfRun(t *testing.T, options Options) {
	b := open(t, options)
	requireHost(t, b, policy.WallRlimit)
	for _, test := range limitCases {
		job := jobOf(b, `
import resource
names = ["RLIMIT_CPU", "RLIMIT_NOFILE", "RLIMIT_FSIZE", "RLIMIT_DATA"]
result = [resource.getrlimit(getattr(resource, name)) for name in names]
`, nil)
		test.change(&job.Limits)
		r := runJob(t, b, job)
		var got [4][2]int64
		if err := json.Unmarshal(r.Value, &got); err != nil {
			t.Fatalf("limits %s: %s %v", test.name, r.Error, err)
		}
		l := job.Limits
		for i, want := range []int64{int64(l.CPUTime/time.Second) + 2, int64(l.OpenFiles), int64(l.Scratch)} {
			if got[i] != [2]int64{want, want} {
				t.Errorf("limits %s: resource %d has %v, want %d", test.name, i, got[i], want)
			}
		}
		// Beside the interpreter's own data.
		const interpreter = int64(64 * policy.MiB)
		if data := got[3]; data[0] != data[1] || data[0] < int64(l.Memory) || data[0] > int64(l.Memory)+interpreter {
			t.Errorf("limits %s: data %v, want little more than %d", test.name, data, l.Memory)
		}
	}
}

// The limits hold while the worker reads and decodes what the caller sent: a context that
// is larger than the limit, and one that fits until it is decoded.
func TestLimitsHoldForContext(t *testing.T) {
	for name, without := range map[string][]policy.Wall{"all walls": nil, "no cgroup": {policy.WallCgroup}} {
		t.Run(name, func(t *testing.T) {
			b := open(t, Options{Policy: systemPython, Without: without})
			requireHost(t, b, policy.WallRlimit)
			for _, size := range []int{60 << 20, 24 << 20} {
				job := jobOf(b, "result = len(context)", strings.Repeat("x", size))
				job.Limits.Memory = 32 * policy.MiB
				r := runJob(t, b, job)
				if r.Outcome != run.OutOfMemory {
					t.Errorf("%d bytes: %s: %s", size, r.Outcome, r.Error)
				}
				if most := 64 * policy.MiB; r.Usage.Memory > most {
					t.Errorf("%d bytes: the worker used %v, want at most %v", size, r.Usage.Memory, most)
				}
			}
		})
	}
}
