package toolstest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// testLeaks ends runs in the middle of a download, in every way. Resources of the run must be
// gone when Run has returned, and those of the Runner when Close has.
func testLeaks(t *testing.T, n *internet, p policy.Policy) {
	hosttest.Needs(t, "curl")
	p = strictPolicy(p)
	for _, way := range []struct {
		name    string
		end     func(cancel context.CancelFunc, runner *cordon.Runner) error
		limits  policy.Limits
		after   string // what the command does meanwhile
		outcome run.Outcome
	}{
		{name: "canceled", outcome: run.Canceled, end: func(cancel context.CancelFunc, _ *cordon.Runner) error {
			cancel()
			return nil
		}},
		{name: "closed", outcome: run.Canceled, end: func(_ context.CancelFunc, r *cordon.Runner) error { return r.Close() }},
		{name: "timed out", outcome: run.TimedOut, limits: policy.Limits{WallTime: 5 * time.Second}},
		{name: "left alone", outcome: run.Succeeded, after: "until [ -s file ]; do :; done; exit 0"},
		{name: "killed", outcome: run.Signaled, after: "until [ -s file ]; do :; done; kill -9 $$"},
	} {
		for _, url := range []string{"https://allowed.test.example/endless", "http://allowed.test.example/endless", "https://allowed.test.example/silent", "http://allowed.test.example/silent"} {
			t.Run(way.name+"/"+strings.ReplaceAll(url, "/", "-"), func(t *testing.T) {
				before, files := goleak.IgnoreCurrent(), openFiles(t)
				w := &workshop{t: t, dir: t.TempDir()}
				w.put("ca.pem", n.authority)
				p.AllowInterpreters = true
				runner, err := cordon.NewRunner(cordon.Options{Policy: p, Tier: policy.TierJail})
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				type answer struct {
					result run.Result
					err    error
				}
				answers := make(chan answer, 1)
				go func() {
					after := way.after
					if after == "" {
						after = "wait"
					}
					// Slowly, so that the disk limit is not reached first.
					result, err := runner.Run(ctx, run.Request{
						Command: run.Command{Args: []string{"sh"}, Workspace: w.dir, Env: map[string]string{"CURL_CA_BUNDLE": w.path("ca.pem")}}, Stdin: "curl -sSN --limit-rate 20M -o file " + url + " & " + after,
						Limits: way.limits,
					})
					answers <- answer{result, err}
				}()
				var download download
				select {
				case download = <-n.held:
				case got := <-answers:
					// It may have ended before we noticed its download.
					answers <- got
					select {
					case download = <-n.held:
					case <-time.After(10 * time.Second):
						err := errors.Join(got.err, runner.Close()) // otherwise the next test would find its processes
						t.Fatalf("it ended too early: %s %s %q, %v", got.result.Outcome, got.result.Error, got.result.Stderr, err)
					}
				}
				if way.end != nil {
					if err := way.end(cancel, runner); err != nil {
						t.Error(err)
					}
				}
				got := <-answers
				if got.err != nil && !errors.Is(got.err, context.Canceled) {
					t.Errorf("the end is our failure: %v", got.err)
				}
				want := way.outcome
				if want == run.Signaled && p.Jail == policy.JailBwrap {
					want = run.Exited // bubblewrap reports a signal as an exit code, like a shell
				}
				if got.err == nil && got.result.Outcome != want {
					t.Errorf("the outcome is %s (%s); want %s", got.result.Outcome, got.result.Error, want)
				}
				if len(got.result.Violations) > 0 {
					t.Errorf("violations: %+v", got.result.Violations)
				}
				<-download.done // the server notices that the client is gone
				if err := runner.Close(); err != nil {
					t.Error(err)
				}
				if left := hosttest.Children(t); len(left) > 0 {
					t.Errorf("there are processes: %v", left)
				}
				goleak.VerifyNone(t, before)
				if more := newFiles(t, files); len(more) > 0 {
					t.Errorf("descriptors are left: %v", more)
				}
			})
		}
	}
}

// newFiles lists files that are open and were not before. Go keeps the pipes of its splice(2)
// for a while; two rounds of its garbage collector release them.
func newFiles(t *testing.T, before []string) (more []string) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); {
		runtime.GC()
		more = slices.DeleteFunc(openFiles(t), func(name string) bool { return slices.Contains(before, name) })
		if len(more) == 0 {
			return nil
		}
		<-time.After(10 * time.Millisecond)
	}
	return more
}

// openFiles lists the open files of this process. Files without a name have a number.
func openFiles(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, entry := range entries {
		if target, err := os.Readlink(filepath.Join("/proc/self/fd", entry.Name())); err == nil {
			files = append(files, target)
		}
	}
	slices.Sort(files)
	return files
}
