package portable

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// waitingScripts is a tier whose interpreters may wait.
type waitingScripts struct {
	*Scripts
	launcher *naked
	grants   string
}

func openWaiting(t *testing.T, preload ...string) *waitingScripts {
	t.Helper()
	w := &waitingScripts{launcher: newNaked()}
	w.Scripts = openWith(t, Options{Policy: policy.Policy{Preload: preload}, Launcher: w.launcher, Scratch: t.TempDir(), Waiting: &Waiting{
		Max: 2, MaxEach: 1, Lifetime: time.Minute, Grants: func() (string, error) { return w.grants, nil },
	}})
	return w
}

func (w *waitingScripts) attempt(t *testing.T, req run.Request, limits policy.Limits) (run.Result, error) {
	t.Helper()
	job := backend.Job{Request: req, Limits: limits.Or(policy.DefaultLimits())}
	s, err := w.Open(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	result, err := s.Run(t.Context(), job)
	return result, errors.Join(err, s.Close())
}

// mustWait waits until this number of interpreters waits.
func (w *waitingScripts) mustWait(t *testing.T, want int) {
	t.Helper()
	hosttest.Eventually(t, fmt.Sprintf("%d interpreters wait", want), func() bool { return w.waiting.Idle() == want })
}

// The second script gets the interpreter that was started after the first one, with its own
// input, limits and output.
func TestInterpretersWait(t *testing.T) {
	w := openWaiting(t)
	for i := range 3 {
		if i > 0 {
			w.mustWait(t, 1)
		}
		began := w.launcher.started()
		result, err := w.attempt(t, run.Request{
			Script: run.Script{Source: "print(input())\nresult = context * 2", Context: i}, Stdin: "typed",
		}, policy.Limits{})
		if err != nil || string(result.Value) != []string{"0", "2", "4"}[i] || result.Stdout != "typed\n" {
			t.Errorf("%+v, %v", result, err)
		}
		if i > 0 && began != i+1 {
			t.Errorf("%d interpreters were started before script %d", began, i)
		}
	}
	w.mustWait(t, 1)
	for name, req := range map[string]run.Request{
		"other limits":   {Script: run.Script{Source: "result = 1"}},
		"language rules": {Script: run.Script{Source: "result = 1", Restricted: true}},
	} {
		limits := policy.Limits{}
		if name == "other limits" {
			limits.OpenFiles = 99
		}
		before := w.launcher.started()
		if result, err := w.attempt(t, req, limits); err != nil || !result.OK() || w.launcher.started() == before {
			t.Errorf("%s: %+v, %v, %d started", name, result, err, w.launcher.started()-before)
		}
	}
}

// An interpreter that could read other files than one that was started now is not used.
func TestInterpretersWithOldGrantsAreNotUsed(t *testing.T) {
	w := openWaiting(t)
	pass := run.Request{Script: run.Script{Source: "pass"}}
	if _, err := w.attempt(t, pass, policy.Limits{}); err != nil {
		t.Fatal(err)
	}
	w.mustWait(t, 1)
	w.grants = "another file"
	before := w.launcher.started()
	if result, err := w.attempt(t, pass, policy.Limits{}); err != nil || !result.OK() || w.launcher.started() == before {
		t.Errorf("%+v, %v", result, err)
	}
}

// What the interpreter used before its script came is not the script's.
func TestStartIsNotCharged(t *testing.T) {
	modules := []string{"asyncio", "unittest", "http.client", "decimal", "email", "xml.dom.minidom", "pydoc"}
	w := openWaiting(t, modules...)
	plain := exec.Command(w.python.Path, "-I", "-c", "import "+strings.Join(modules, ", "))
	if out, err := plain.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	imports := plain.ProcessState.UserTime() + plain.ProcessState.SystemTime()
	pass := run.Request{Script: run.Script{Source: "pass"}}
	if _, err := w.attempt(t, pass, policy.Limits{}); err != nil {
		t.Fatal(err)
	}
	w.mustWait(t, 1)
	result, err := w.attempt(t, pass, policy.Limits{})
	if err != nil || result.Usage.CPUTime > imports/2 {
		t.Errorf("%v of CPU time, where the imports take %v: %v", result.Usage.CPUTime, imports, err)
	}
}

// An interpreter that was killed while it waited is not a guest that failed.
func TestKilledInterpreterIsReplaced(t *testing.T) {
	w := openWaiting(t)
	pass := run.Request{Script: run.Script{Source: "pass"}}
	if _, err := w.attempt(t, pass, policy.Limits{}); err != nil {
		t.Fatal(err)
	}
	w.mustWait(t, 1)
	w.launcher.killAll()
	if _, err := w.attempt(t, pass, policy.Limits{}); !errors.Is(err, backend.ErrNotStarted) {
		t.Errorf("%v", err)
	}
	if result, err := w.attempt(t, pass, policy.Limits{}); err != nil || !result.OK() {
		t.Errorf("%+v, %v", result, err)
	}
}
