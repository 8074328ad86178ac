package jail

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/ahead"
	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func openBackend(t *testing.T, p policy.Policy) *Backend {
	t.Helper()
	b, err := New(Options{Policy: p})
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

func runs(t *testing.T, b *Backend, req run.Request) run.Result {
	t.Helper()
	r, err := attemptOnce(t.Context(), b, backend.Job{Request: req, Limits: b.options.Policy.Limits})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func attemptOnce(ctx context.Context, b *Backend, job backend.Job) (run.Result, error) {
	s, err := b.Open(ctx, job)
	if err != nil {
		return run.Result{}, err
	}
	r, err := s.Run(ctx, job)
	return r, errors.Join(err, s.Close())
}

// mustWait waits until this number of sandboxes waits.
func (b *Backend) mustWait(t *testing.T, want int) {
	t.Helper()
	hosttest.Eventually(t, fmt.Sprintf("%d sandboxes wait", want), func() bool { return b.ahead.Idle() == want })
}

// A sandbox that was built ahead is used only for the same workspace, and only if the same
// directory is still at its path.
func TestSandboxesBuiltAhead(t *testing.T) {
	b := openBackend(t, policy.Policy{AllowInterpreters: true})
	parent := t.TempDir()
	directory := filepath.Join(parent, "workspace")
	if err := os.Mkdir(directory, 0o700); err != nil {
		t.Fatal(err)
	}
	list := run.Request{Command: run.Command{Args: []string{"sh", "-c", "ls; touch made"}, Workspace: directory}}
	if r := runs(t, b, list); !r.OK() || r.Stdout != "" {
		t.Fatalf("%+v", r)
	}
	b.mustWait(t, 1)
	if r := runs(t, b, list); !r.OK() || r.Stdout != "made\n" {
		t.Errorf("in a sandbox that was built ahead: %q %s", r.Stdout, r.Error)
	}
	b.mustWait(t, 1)
	if err := os.Rename(directory, directory+".old"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(directory, 0o700); err != nil {
		t.Fatal(err)
	}
	if r := runs(t, b, list); !r.OK() || r.Stdout != "" {
		t.Errorf("another directory has taken the path: %q %s", r.Stdout, r.Error)
	}
	list.Command.WorkspaceReadOnly = true
	if r := runs(t, b, list); r.OK() || r.Stdout != "made\n" {
		t.Errorf("read-only: %q %s", r.Stdout, r.Error)
	}
	if r := runs(t, b, run.Request{Command: run.Command{Args: []string{"pwd"}}}); r.Stdout != "/tmp\n" {
		t.Errorf("without a workspace: %q", r.Stdout)
	}
}

// A sandbox built ahead is not used if a granted file was replaced.
func TestReplacedGrantsAreNotUsed(t *testing.T) {
	directory, err := os.MkdirTemp("/var/tmp", "cordon-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(directory) })
	if err := os.Chmod(directory, 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(directory, "config")
	write := func(text string) {
		if err := os.WriteFile(file+".new", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(file+".new", file); err != nil {
			t.Fatal(err)
		}
	}
	write("old")
	b := openBackend(t, policy.Policy{Read: []string{file}})
	for i, text := range []string{"old", "new"} {
		write(text)
		if r := runs(t, b, run.Request{Command: run.Command{Args: []string{"cat", file}}}); r.Stdout != text {
			t.Errorf("%q, want %q", r.Stdout, text)
		}
		b.mustWait(t, i+1) // the first is for a file that no longer exists
	}
}

func TestSandboxesAheadAreBounded(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	b, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range maxAhead + 4 {
		directory := filepath.Join(t.TempDir(), fmt.Sprint(i))
		if err := os.Mkdir(directory, 0o700); err != nil {
			t.Fatal(err)
		}
		if r := runs(t, b, run.Request{Command: run.Command{Args: []string{"true"}, Workspace: directory}}); !r.OK() {
			t.Fatalf("%+v", r)
		}
		b.mustWait(t, min(i+1, maxAhead))
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

// If a waiting sandbox was killed, the caller gets another one.
func TestKilledSandboxIsReplaced(t *testing.T) {
	b := openBackend(t, policy.Policy{})
	var killed atomic.Int32
	b.ahead = ahead.New(ahead.Options[recipe, *sandbox]{
		Make: func(r recipe) (*sandbox, error) {
			p, err := b.buildAhead(r)
			if err == nil {
				p.kill()
				p.process.Wait()
				killed.Add(1)
			}
			return p, err
		},
		Discard: (*sandbox).tearDown, Busy: b.busy, Max: 1, MaxEach: 1, Lifetime: time.Minute,
	})
	req := run.Request{Command: run.Command{Args: []string{"true"}, Workspace: t.TempDir()}}
	runs(t, b, req)
	b.mustWait(t, 1)
	attempt := func() (run.Result, error) {
		return attemptOnce(t.Context(), b, backend.Job{Request: req, Limits: b.options.Policy.Limits})
	}
	if r, err := backend.UntilStarted(context.Background(), attempt); err != nil || !r.OK() || killed.Load() == 0 {
		t.Errorf("%+v, %v; %d were killed", r, err, killed.Load())
	}
}
