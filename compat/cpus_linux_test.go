package compat_test

import (
	"path/filepath"
	"runtime"
	"testing"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// multiplies multiplies matrices that are large enough for threads, and then starts threads
// until the limit. Those of the library count, so the rest tells how many it has.
const multiplies = `
import threading
import numpy as np
a = np.ones((700, 700))
sums = {float((a @ a).sum()) for _ in range(3)}
last, more = threading.Event(), []
try:
    while True:
        thread = threading.Thread(target=last.wait)
        thread.start()
        more.append(thread)
except RuntimeError:
    pass
last.set()
result = [sorted(sums), 8 - 1 - len(more)]
`

// numpy's library has as many threads as the guest has CPUs, whether it was loaded before
// the guest or by it.
func TestNumpyUsesItsCPUs(t *testing.T) {
	if runtime.NumCPU() == 1 {
		skipOrFail(t, "there is one CPU")
	}
	venv := virtualEnvironment(t)
	for name, preload := range map[string][]string{"preloaded": {"numpy"}, "imported": {}} {
		t.Run(name, func(t *testing.T) {
			r := newRunner(t, policy.Policy{Python: filepath.Join(venv, "bin", "python3"), Maxima: maxima, Preload: preload})
			for _, tt := range []struct {
				name string
				cpus int
				want string
			}{
				{"the default", 0, `[[343000000.0],0]`},
				{"two", 2, `[[343000000.0],1]`},
				{"one again", 1, `[[343000000.0],0]`},
			} {
				got, err := r.Run(t.Context(), run.Request{Script: run.Script{Source: multiplies}, Limits: policy.Limits{CPUs: tt.cpus, Threads: 8}})
				if err != nil {
					t.Fatal(err)
				}
				if string(got.Value) != tt.want {
					t.Errorf("%s: %s, want %s: %s %s", tt.name, got.Value, tt.want, got.Error, got.Stderr)
				}
			}
		})
	}
}

// Where there are fewer threads than CPUs, the library does not ask for more.
func TestNumpyWithFewThreads(t *testing.T) {
	venv := virtualEnvironment(t)
	r := newRunner(t, policy.Policy{Python: filepath.Join(venv, "bin", "python3"), Maxima: maxima, Preload: []string{"numpy"}})
	got, err := r.Run(t.Context(), run.Request{
		Script: run.Script{Source: "import numpy as np\na = np.ones((400, 400))\nresult = (a @ a).sum()"},
		Limits: policy.Limits{CPUs: 2, Threads: 1},
	})
	if err != nil || string(got.Value) != "64000000.0" || len(got.Violations) > 0 {
		t.Errorf("%s, %v: %s %s %v", got.Value, err, got.Error, got.Stderr, got.Violations)
	}
}
