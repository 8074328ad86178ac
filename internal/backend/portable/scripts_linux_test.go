package portable

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/backendtest"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func openScripts(t *testing.T, l *naked, p policy.Policy) *Scripts {
	t.Helper()
	return openWith(t, Options{Policy: p, Launcher: l})
}

func openWith(t *testing.T, options Options) *Scripts {
	t.Helper()
	b, err := NewScripts(t.Context(), options)
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

func runScript(t *testing.T, l *naked, p policy.Policy, req run.Request) (run.Result, error) {
	t.Helper()
	b := openScripts(t, l, p)
	limits, err := p.Narrow(req.Limits)
	if err != nil {
		t.Fatal(err)
	}
	job := backend.Job{Request: req, Limits: limits}
	s, err := b.Open(t.Context(), job)
	if err != nil {
		return run.Result{}, err
	}
	result, err := s.Run(t.Context(), job)
	return result, errors.Join(err, s.Close())
}

func TestContract(t *testing.T) {
	// The suite resolves its policy, which would require Linux's walls by name.
	open := func(t *testing.T, _ policy.Policy) backend.Backend {
		return openScripts(t, newNaked(), policy.Policy{})
	}
	backendtest.Contract(t, open, policy.Policy{})
}

// A script has what it has on Linux: context, variables, streams.
func TestScripts(t *testing.T) {
	result, err := runScript(t, newNaked(), policy.Policy{}, run.Request{
		Script: run.Script{Source: "x = context['n'] * 2\nimport sys\nprint(input(), __name__, sys.argv, __file__)\nprint('and', file=sys.stderr)\nresult = x", Name: "mine.py", Context: map[string]any{"n": 21}, Variables: []string{"x"}},
		Stdin:  "typed",
	})
	if err != nil || !result.OK() || string(result.Value) != "42" || string(result.Variables["x"]) != "42" {
		t.Fatalf("%+v, %v", result, err)
	}
	if result.Stdout != "typed __main__ ['mine.py'] mine.py\n" || result.Stderr != "and\n" {
		t.Errorf("%q, %q", result.Stdout, result.Stderr)
	}
	if result.Usage.WallTime <= 0 || result.Usage.CPUTime <= 0 {
		t.Errorf("%+v", result.Usage)
	}
}

// The order for the walls lists what a script may reach, and its environment is built.
func TestOrderListsAccessOfScript(t *testing.T) {
	t.Setenv("CORDON_SECRET", "of the caller")
	l := newNaked()
	granted, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	result, err := runScript(t, l, policy.Policy{Read: []string{granted}, Write: []string{granted}}, run.Request{
		Script: run.Script{Source: "import os\nopen(os.environ['TMPDIR'] + '/a', 'w').write('a')\nresult = [os.getcwd(), os.environ['HOME'], 'CORDON_SECRET' in os.environ, os.listdir('.')]"},
	})
	if err != nil || !result.OK() {
		t.Fatalf("%+v, %v", result, err)
	}
	order := l.last(t)
	if len(order.Access.Write) != 1 || !slices.Contains(order.Access.Read, granted) {
		t.Errorf("writes %v, reads %v: scripts have their directory alone", order.Access.Write, order.Access.Read)
	}
	scratch := order.Access.Write[0]
	if want := `["` + scratch + `","` + scratch + `",false,["a"]]`; string(result.Value) != want {
		t.Errorf("%s instead of %s", result.Value, want)
	}
	if a := order.Access; a.Programs || a.Proxy != 0 || a.AnyNetwork || order.Dir != scratch {
		t.Errorf("%+v", a)
	}
	if home, err := os.UserHomeDir(); err == nil && (slices.Contains(order.Access.Read, home) || slices.Contains(order.Access.Read, "/")) {
		t.Errorf("reads %v", order.Access.Read)
	}
	if _, err := os.Lstat(scratch); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is left behind: %v", scratch, err)
	}
}

func TestProxyIsTheOnlyNetwork(t *testing.T) {
	l := newNaked()
	result, err := runScript(t, l, policy.Policy{AllowNet: []string{"allowed.example:80"}}, run.Request{
		Script: run.Script{Source: "import urllib.request, urllib.error\ntry:\n  urllib.request.urlopen('http://denied.example/')\nexcept urllib.error.HTTPError as e:\n  result = e.code"},
	})
	if err != nil || string(result.Value) != "403" || len(result.Violations) != 1 || result.Violations[0].Wall != policy.WallEgress {
		t.Fatalf("%+v, %v", result, err)
	}
	order := l.last(t)
	if order.Access.Proxy < 1024 || order.Access.AnyNetwork || !result.Enforcement.Walls[policy.WallEgress].Enforced() {
		t.Errorf("%+v, %v", order.Access, result.Enforcement.Walls)
	}
}

func TestRestrictedScripts(t *testing.T) {
	result, err := runScript(t, newNaked(), policy.Policy{}, run.Request{Script: run.Script{Source: "import os", Restricted: true}})
	if err != nil || result.Outcome != run.Refused || len(result.Violations) == 0 {
		t.Fatalf("%+v, %v", result, err)
	}
	result, err = runScript(t, newNaked(), policy.Policy{}, run.Request{Script: run.Script{Source: "import math\nresult = math.floor(2.5)", Restricted: true}})
	if err != nil || string(result.Value) != "2" || result.Enforcement.Walls[policy.WallLanguage].String() != "enforced (standard)" {
		t.Fatalf("%+v, %v", result, err)
	}
	b := openScripts(t, newNaked(), policy.Policy{})
	findings, err := b.Check(t.Context(), run.Check{Script: "import os\nprint(1)"})
	if err != nil || len(findings) != 1 || findings[0].Line != 1 {
		t.Errorf("%v, %v", findings, err)
	}
	if findings, err = b.Check(t.Context(), run.Check{Script: "print(1)"}); err != nil || len(findings) != 0 {
		t.Errorf("%v, %v", findings, err)
	}
}

// A failure before the guest's first line is an error, not a Result.
func TestFailedSetUpIsAnError(t *testing.T) {
	_, err := runScript(t, newNaked(), policy.Policy{Preload: []string{"no_such_module"}}, run.Request{Script: run.Script{Source: "pass"}})
	if run.ClassOf(err) != run.Unsupported || !strings.Contains(err.Error(), "preload: cannot import no_such_module") {
		t.Errorf("%v", err)
	}
	l := newNaked()
	l.failing = run.Errorf(run.Unsupported, "no walls today")
	if _, err := runScript(t, l, policy.Policy{}, run.Request{Script: run.Script{Source: "pass"}}); err == nil || !strings.Contains(err.Error(), "no walls today") {
		t.Errorf("%v", err)
	}
}

// A guest can write anything to its channel, but it can only lie about its value.
func TestHostileReports(t *testing.T) {
	for script, outcome := range map[string]run.Outcome{
		"import os; os.write(3, b'rubbish that is no frame')":             run.InvalidOutput,
		"import os; os.write(3, b'D\\xff\\xff\\xff\\xff')":                run.OutOfResult,
		"import os; os.write(3, b'D\\x00\\x00\\x00\\x00'); os._exit(0)":   run.InvalidOutput,
		"import os; os.close(3); os._exit(5)":                             run.Exited,
		"import os; os.write(3, b'R\\x00\\x00\\x00\\x00'); os._exit(0)":   run.InvalidOutput,
		"import os; os._exit(0)":                                          run.Succeeded,
		"import os; os.kill(os.getpid(), 9)":                              run.Signaled,
		"import os, time\nif os.fork() == 0: time.sleep(600)\nresult = 1": run.Succeeded,
	} {
		result, err := runScript(t, newNaked(), policy.Policy{}, run.Request{Script: run.Script{Source: script}})
		if err != nil || result.Outcome != outcome {
			t.Errorf("%q: %s (%s), %v", script, result.Outcome, result.Error, err)
		}
	}
}

// A guest that has sent its report is not waited for.
func TestGuestIsNotAwaitedAfterReport(t *testing.T) {
	result, err := runScript(t, newNaked(), policy.Policy{}, run.Request{
		Script: run.Script{Source: "import marshal, os, time\nwords = marshal.dumps({'end': 'ok', 'code': 0, 'result': 7}, 2)\n" +
			"os.write(3, b'D' + len(words).to_bytes(4, 'little') + words)\ntime.sleep(600)"},
	})
	if err != nil || string(result.Value) != "7" || result.Usage.WallTime > 10*time.Second {
		t.Errorf("%+v, %v", result, err)
	}
}

func TestScratchIsLimitedAndRemoved(t *testing.T) {
	l := newNaked()
	script := "import os\nos.makedirs('a/b')\nopen('a/b/c', 'wb').write(bytes(20 << 20))\nos.chmod('a/b', 0)\nos.chmod('a', 0)"
	result, err := runScript(t, l, policy.Policy{}, run.Request{Script: run.Script{Source: script}})
	if err != nil || result.Outcome != run.OutOfDisk {
		t.Fatalf("%+v, %v", result, err)
	}
	if _, err := os.Lstat(l.last(t).Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// A guest cannot make the Runner change or count the target of a symlink.
func TestScratchDoesNotFollowSymlinks(t *testing.T) {
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "large"), make([]byte, 20<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(outside, 0o100); err != nil {
		t.Fatal(err)
	}
	script := "import os\nos.symlink(context, 'link')\nos.mkdir('closed')\nos.symlink(context, 'closed/link')\nos.chmod('closed', 0)"
	result, err := runScript(t, newNaked(), policy.Policy{}, run.Request{Script: run.Script{Source: script, Context: outside}})
	if err != nil || !result.OK() {
		t.Errorf("%+v, %v", result, err)
	}
	info, err := os.Stat(outside)
	if err != nil || info.Mode().Perm() != 0o100 {
		t.Errorf("its mode is %v, %v", info.Mode(), err)
	}
	if err := os.Chmod(outside, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(outside, "large")); err != nil {
		t.Error(err)
	}
}

func TestCanceled(t *testing.T) {
	b := openScripts(t, newNaked(), policy.Policy{})
	ctx, cancel := context.WithCancel(t.Context())
	job := backend.Job{Request: run.Request{Script: run.Script{Source: "import time\nprint('x')\ntime.sleep(600)"}}, Limits: policy.DefaultLimits()}
	job.Streams.Out = writerFunc(func([]byte) { cancel() })
	s, err := b.Open(ctx, job)
	if err != nil {
		t.Fatal(err)
	}
	result, err := s.Run(ctx, job)
	if err = errors.Join(err, s.Close()); err != nil || result.Outcome != run.Canceled {
		t.Errorf("%+v, %v", result, err)
	}
}

// Close ends all guests, and returns when nothing is left of them.
func TestCloseEndsGuests(t *testing.T) {
	l := newNaked()
	b, err := NewScripts(t.Context(), Options{Launcher: l})
	if err != nil {
		t.Fatal(err)
	}
	running := make(chan struct{})
	job := backend.Job{Request: run.Request{Script: run.Script{Source: "import time\nprint('x')\ntime.sleep(600)"}}, Limits: policy.DefaultLimits()}
	job.Streams.Out = writerFunc(func([]byte) { close(running) })
	s, err := b.Open(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan run.Outcome, 1)
	go func() {
		result, err := s.Run(t.Context(), job)
		if err = errors.Join(err, s.Close()); err != nil {
			t.Error(err)
		}
		ended <- result.Outcome
	}()
	<-running
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	select {
	case outcome := <-ended:
		if outcome != run.Canceled {
			t.Error(outcome)
		}
	case <-time.After(10 * time.Second):
		t.Error("Close returned before the guest had ended")
	}
	if _, err := b.Open(t.Context(), job); run.ClassOf(err) != run.Closed {
		t.Errorf("%v", err)
	}
}

type writerFunc func([]byte)

func (f writerFunc) Write(b []byte) (int, error) {
	f(b)
	return len(b), nil
}

func TestFilesAndArguments(t *testing.T) {
	result, err := runScript(t, newNaked(), policy.Policy{}, run.Request{Script: run.Script{
		Source: "import sys, helper\nopen('out/b.txt', 'w').write(open('a.txt').read() * helper.times)\nresult = sys.argv[1:]",
		Files:  []run.File{{Name: "a.txt", Data: []byte("ab")}, {Name: "helper.py", Data: []byte("times = 2")}, {Name: "out/keep"}},
		Args:   []string{"-v"}, Artifacts: []string{"**/*.txt"},
	}})
	if err != nil || string(result.Value) != `["-v"]` || len(result.Artifacts) != 1 || string(result.Artifacts[0].Data) != "abab" {
		t.Errorf("%+v %v", result, err)
	}
	result, err = runScript(t, newNaked(), policy.Policy{}, run.Request{Script: run.Script{
		Source: "import os\nos.symlink('/etc/passwd', 'link')\nos.mkfifo('pipe')", Artifacts: []string{"*"},
	}})
	if err != nil || len(result.Artifacts) != 2 || result.Artifacts[0].Data != nil || result.Artifacts[1].Data != nil {
		t.Errorf("%+v %v", result, err)
	}
}
