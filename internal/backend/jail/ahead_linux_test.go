package jail

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/cordon-sandbox/cordon/internal/backend"
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

// waits returns the number of waiting sandboxes, after those under construction are built.
func (a *ahead) waits() (n int) {
	a.building.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, list := range a.idle {
		n += len(list)
	}
	return n
}

// mustWait fails the test unless this number of sandboxes waits.
func (a *ahead) mustWait(t *testing.T, want int) {
	t.Helper()
	if n := a.waits(); n != want {
		t.Fatalf("%d sandboxes wait, want %d", n, want)
	}
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
	b.ahead.mustWait(t, 1)
	if r := runs(t, b, list); !r.OK() || r.Stdout != "made\n" {
		t.Errorf("in a sandbox that was built ahead: %q %s", r.Stdout, r.Error)
	}
	b.ahead.mustWait(t, 1)
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
		b.ahead.mustWait(t, i+1) // the first is for a file that no longer exists
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
		for range maxAheadPerRecipe + 1 {
			if r := runs(t, b, run.Request{Command: run.Command{Args: []string{"true"}, Workspace: directory}}); !r.OK() {
				t.Fatalf("%+v", r)
			}
		}
	}
	if n := b.ahead.waits(); n == 0 || n > maxAhead {
		t.Errorf("%d sandboxes wait", n)
	}
	for r, list := range b.ahead.idle {
		if len(list) > maxAheadPerRecipe {
			t.Errorf("%d sandboxes wait for %s", len(list), r.workspace.path)
		}
		b.ahead.expire(r, list[0])
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if n := b.ahead.count; n != 0 {
		t.Errorf("%d sandboxes are still counted", n)
	}
	if p := b.ahead.take(recipe{}); p != nil {
		t.Error("a closed backend returns a sandbox")
	}
}

// A sandbox whose time is up while a caller takes it is not lost.
func TestSandboxIsTakenWhileItExpires(t *testing.T) {
	b := openBackend(t, policy.Policy{})
	runs(t, b, run.Request{Command: run.Command{Args: []string{"true"}, Workspace: t.TempDir()}})
	if n := b.ahead.waits(); n != 1 {
		t.Fatalf("%d sandboxes wait", n)
	}
	for r, list := range b.ahead.idle {
		list[0].expiry.Stop() // as if it had fired and waited for the lock
		p := b.ahead.take(r)
		if p == nil {
			t.Fatal("the sandbox is lost")
		}
		b.ahead.expire(r, list[0])
		if err := p.process.Execute("/bin/true", []string{"true"}, nil); err != nil {
			t.Errorf("it was ended: %v", err)
		}
		if end, err := p.process.End(); err != nil || end.Status == nil || *end.Status != 0 {
			t.Errorf("it was ended: %+v, %v", end, err)
		}
		p.tearDown()
	}
}

// If a waiting sandbox was killed, the caller gets another one.
func TestKilledSandboxIsReplaced(t *testing.T) {
	b := openBackend(t, policy.Policy{})
	req := run.Request{Command: run.Command{Args: []string{"true"}, Workspace: t.TempDir()}}
	runs(t, b, req)
	b.ahead.mustWait(t, 1)
	for _, list := range b.ahead.idle {
		for _, w := range list {
			w.kill()
			w.process.Wait()
		}
	}
	attempt := func() (run.Result, error) {
		return attemptOnce(t.Context(), b, backend.Job{Request: req, Limits: b.options.Policy.Limits})
	}
	if r, err := backend.UntilStarted(context.Background(), attempt); err != nil || !r.OK() {
		t.Errorf("%+v, %v", r, err)
	}
}
