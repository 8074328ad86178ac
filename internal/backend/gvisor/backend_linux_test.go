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

func TestNetwork(t *testing.T) { backendtest.Network(t, open, policy.Policy{}) }

func TestContainment(t *testing.T) {
	hosttest.NotUnderRace(t, "it tests walls, which the detector does not see")
	backendtest.Containment(t, open, policy.Policy{})
}

// No guest has the host's network, so a policy that asks for it is refused before anything runs.
func TestNoHostNetwork(t *testing.T) {
	for _, mode := range []policy.Egress{policy.EgressNone, policy.EgressPreflight} {
		p := policy.Policy{Egress: mode, AllowNet: []string{"example.com:443"}}
		for what, err := range map[string]error{
			"command": Lacks(p), "script": Lacks(p),
			"New": func() error { _, err := New(t.Context(), Options{Policy: p}); return err }(),
		} {
			if !errors.Is(err, run.ErrUnsupported) || !strings.Contains(err.Error(), "egress: strict") {
				t.Errorf("%s, %s: %v", mode, what, err)
			}
		}
	}
}

// Commands reach the proxy, too.
func TestHosts(t *testing.T) {
	b := open(t, policy.Policy{AllowNet: []string{"example.com:443"}, AllowInterpreters: true})
	command := backend.Job{Limits: policy.DefaultLimits(), Request: run.Request{
		Command: run.Command{Args: []string{"python3", "-"}},
		Stdin:   "import urllib.error, urllib.request\ntry: urllib.request.urlopen('http://other.example/')\nexcept urllib.error.HTTPError as e: print(e.code, e.read().decode())",
	}}
	s, err := b.Open(t.Context(), command)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r, err := s.Run(t.Context(), command)
	if err != nil || !r.OK() || !strings.HasPrefix(r.Stdout, "403 cordon: other.example:80: not in allow_net") {
		t.Fatalf("%s %s %q %q, %v", r.Outcome, r.Error, r.Stdout, r.Stderr, err)
	}
	if len(r.Violations) != 1 || r.Violations[0].Wall != policy.WallEgress || r.Violations[0].Detail != "other.example:80: not in allow_net" || r.Violations[0].Hint == "" {
		t.Errorf("%+v", r.Violations)
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
