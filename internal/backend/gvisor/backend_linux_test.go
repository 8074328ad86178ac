package gvisor

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/backendtest"
	"github.com/cordon-sandbox/cordon/internal/hints"
	"github.com/cordon-sandbox/cordon/internal/hostpath"
	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func open(t *testing.T, p policy.Policy) backend.Backend {
	t.Helper()
	program, err := hostpath.ProgramAt(hosttest.NeedsExtra(t, hosttest.Runsc))
	if err != nil {
		t.Fatal(err)
	}
	b, err := New(t.Context(), Options{Policy: p, Runsc: &program})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func TestContract(t *testing.T) { backendtest.Contract(t, open, policy.Policy{}) }

func TestContainment(t *testing.T) {
	hosttest.NotUnderRace(t, "it tests walls, which the detector does not see")
	backendtest.Containment(t, open, policy.Policy{})
}

// The tier has no network, so a policy that allows one is refused before anything runs.
func TestNoNetwork(t *testing.T) {
	for name, p := range map[string]policy.Policy{
		"hosts":     {AllowNet: []string{"example.com:443"}},
		"none":      {Egress: policy.EgressNone},
		"preflight": {Egress: policy.EgressPreflight},
	} {
		for what, err := range map[string]error{"Lacks": Lacks(p), "New": func() error { _, err := New(t.Context(), Options{Policy: p}); return err }()} {
			if !errors.Is(err, run.ErrUnsupported) || !strings.Contains(err.Error(), "no network") {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
	}
}

// A policy that requires a wall that gVisor cannot have leaves third-party commands to the jail.
func TestNoLandlock(t *testing.T) {
	if err := Lacks(policy.Policy{Require: []policy.Wall{policy.WallLandlock}}); !errors.Is(err, run.ErrUnsupported) || !strings.Contains(err.Error(), "landlock") {
		t.Error(err)
	}
}

// Scripts of several runs at once are kept apart, and nothing is left of them.
func TestConcurrentScripts(t *testing.T) {
	b := open(t, policy.Policy{})
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			job := backend.Job{Request: run.Request{Script: run.Script{
				Source: "import os\nopen('/tmp/own', 'x').write(str(context))\nresult = [context, sorted(os.listdir('/tmp'))]", Context: i,
			}}, Limits: policy.DefaultLimits()}
			s, err := b.Open(t.Context(), job)
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			r, err := s.Run(t.Context(), job)
			if want := fmt.Sprintf(`[%d,["own"]]`, i); err != nil || strings.ReplaceAll(string(r.Value), " ", "") != want {
				t.Errorf("%s %s %s, %v", r.Outcome, r.Value, r.Error, err)
			}
		})
	}
	all.Wait()
}

// A system call that gVisor does not have is a violation with its name; what every program
// does is none.
func TestUnsupportedCallsAreReported(t *testing.T) {
	b := open(t, policy.Policy{AllowInterpreters: true})
	for program, want := range map[string]string{
		"pass": "",
		fmt.Sprintf("import ctypes; ctypes.CDLL(None).syscall(%d, 0, 0, 0, 0, 0)", unix.SYS_PERF_EVENT_OPEN): "perf_event_open",
	} {
		job := backend.Job{Request: run.Request{Command: run.Command{Args: []string{"/usr/bin/python3", "-c", program}}}, Limits: policy.DefaultLimits()}
		s, err := b.Open(t.Context(), job)
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Run(t.Context(), job)
		var reported string
		for _, v := range r.Violations {
			if reported += v.Op; v.Wall != policy.WallGVisor || v.HintCode != hints.OtherKernel {
				t.Errorf("%+v", v)
			}
		}
		if err = errors.Join(err, s.Close()); err != nil || !r.OK() || reported != want {
			t.Errorf("%q: %s %s, reported %q, %v", program, r.Outcome, r.Stderr, reported, err)
		}
	}
}
