package containtest

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// TestContainWorkspaceExchanged replaces the workspace with a link while a command starts. The
// target of the link must not become the workspace: otherwise anyone with write access to the
// parent directory could mount any directory of the host.
func TestContainWorkspaceExchanged(t *testing.T) {
	eachBackend(t, func(t *testing.T, suite *suite) {
		s := suite.scene(t, attempt{}, suite.guarded)
		s.write(t, "secrets/secret", s.secret, 0o644)
		workspace, link := filepath.Join(s.workspace, "w"), filepath.Join(s.workspace, "l")
		if err := errors.Join(os.Mkdir(workspace, 0o755), os.Symlink(filepath.Join(s.directory, "secrets"), link)); err != nil {
			t.Fatal(err)
		}
		stop, done := make(chan struct{}), make(chan error, 1)
		exchanged := 0
		go func() {
			for {
				select {
				case <-stop:
					done <- nil
					return
				default:
					if err := unix.Renameat2(unix.AT_FDCWD, workspace, unix.AT_FDCWD, link, unix.RENAME_EXCHANGE); err != nil {
						done <- err
						return
					}
					exchanged++
				}
			}
		}()
		ran, refused := 0, 0
		defer func() {
			close(stop)
			if err := <-done; err != nil || exchanged == 0 || ran == 0 {
				t.Errorf("only %d exchanges (%v) and %d runs: too few for a race", exchanged, err, ran)
			}
			t.Logf("%d exchanges, %d runs, %d refused", exchanged, ran, refused)
		}()
		// A link that existed when the caller named it is the caller's choice. Otherwise the
		// Runner must refuse, or use the directory that it checked.
		for deadline := time.Now().Add(raceTime()); time.Now().Before(deadline); {
			r, err := runIn(t.Context(), suite.backend, suite.policy, run.Request{
				Command: run.Command{Args: []string{"/bin/sh", "-c", "pwd; cat secret; echo owned > owned"}, Workspace: workspace},
			})
			if err != nil {
				refused++
				mustBeRefusal(t, err)
				continue
			}
			ran++
			where, _, _ := strings.Cut(r.Stdout, "\n")
			if where == workspace && strings.Contains(r.Stdout, s.secret) {
				t.Fatalf("the directory behind a link is mounted at %s\n%s", where, show(r))
			}
		}
	})
}

// redirections are scripts that redirect the path of a grant below the workspace for the next
// command. A command cannot move the mount, but it can move the directory that contains it. The
// kernel would then find another directory at that path on the host, and mount it.
var redirections = map[string]string{
	"to a directory of the host": `mkdir -p a && ln -s "$target" a/ssl`,
	"to a directory of both":     `mkdir -p a && ln -s ../../../../../etc a/ssl`,
	"of the parent directory":    `ln -s ../../../../etc a`,
}

func TestContainGrantRedirected(t *testing.T) {
	eachBackend(t, func(t *testing.T, suite *suite) {
		for name, redirect := range redirections {
			for _, kind := range []string{"read", "write"} {
				t.Run(kind+" "+name, func(t *testing.T) { redirectGrant(t, suite, kind, redirect, nil) })
				if suite.jail == policy.JailNative {
					t.Run(kind+" "+name+" without Landlock", func(t *testing.T) {
						// Landlock rules are for directories, not paths, and could hide the wrong mount.
						redirectGrant(t, suite, kind, redirect, []policy.Wall{policy.WallLandlock})
					})
				}
			}
		}
	})
}

func redirectGrant(t *testing.T, suite *suite, kind, redirect string, without []policy.Wall) {
	if kind == "read" {
		suite.needsNamespaces(t, "read-only directory in a writable one")
	}
	s := suite.scene(t, attempt{}, suite.guarded)
	secret := s.write(t, "secrets/secret", s.secret, 0o666)
	granted := filepath.Join(s.workspace, "a", "ssl")
	s.write(t, filepath.Join(granted, "file"), "granted", 0o644)
	before := tree(t, filepath.Dir(secret))
	p := suite.policy
	if kind == "read" {
		p.Read = append(p.Read[:1:1], granted)
	} else {
		p.Write = append(p.Write[:0:0], granted)
	}
	b := suite.open(t, p, without)
	name := "cdn-" + rand.Text()
	request := func(script string) run.Request {
		req := s.request
		req.Command.Args = []string{"/bin/sh", "-c", script}
		req.Command.Env = map[string]string{"target": filepath.Dir(secret), "granted": granted, "name": name}
		return req
	}
	if r, err := runIn(t.Context(), b, p, request("mv a c && "+redirect)); err != nil || !r.OK() {
		t.Fatalf("it cannot even try: %v\n%s", err, show(r))
	}
	canaries := []string{filepath.Join("/etc", name), filepath.Join("/etc/ssl", name)}
	for _, path := range canaries {
		defer os.Remove(path) // exists only if the test fails
	}
	for range 3 { // some sandboxes were built ahead, some were not
		r, err := runIn(t.Context(), b, p, request(`
cat "$granted/secret"; grep -h ^root: "$granted/passwd"; ls /etc/ssl "$granted" | grep -x private
for f in "$granted" /etc /etc/ssl; do echo owned > "$f/$name"; done; echo owned > "$granted/secret"; exit 0`))
		if err != nil {
			mustBeRefusal(t, err)
			continue
		}
		for _, word := range []string{s.secret, "root:", "private"} {
			if strings.Contains(r.Stdout, word) {
				t.Errorf("a command has chosen what the next one is granted\n%s", show(r))
			}
		}
	}
	if after := tree(t, filepath.Dir(secret)); after != before {
		t.Errorf("a command has written to the host: %s", after)
	}
	for _, path := range canaries {
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("a command has written to the host: %s", path)
		}
	}
}

// refusals are the errors, by class, for a path that no longer leads to the checked directory.
// Any other error is an unrelated failure.
var refusals = map[run.Class][]string{
	run.Invalid: {"was replaced by a symlink", "the workspace ", "workspace /", "which does not exist any more", "is not visible inside"},
	run.Unsupported: {
		"cannot be set up: open /", "cannot be set up: mount /", "cannot be set up: landlock: open /", "cannot be set up: bwrap: ", "cannot be set up: runsc: ",
	},
}

func mustBeRefusal(t *testing.T, err error) {
	t.Helper()
	right := slices.ContainsFunc(refusals[run.ClassOf(err)], func(words string) bool { return strings.Contains(err.Error(), words) })
	if !right {
		t.Errorf("a redirected path is no reason for this: %s: %v", run.ClassOf(err), err)
	}
}

func raceTime() time.Duration {
	if testing.Short() {
		return 300 * time.Millisecond
	}
	return 1500 * time.Millisecond
}

// TestContainWorkspaceBelowLinks checks that a path through a link in the root of a command does
// not lead to the host's directory of that name while the root is built.
func TestContainWorkspaceBelowLinks(t *testing.T) {
	eachBackend(t, func(t *testing.T, suite *suite) {
		name := "cdn-" + filepath.Base(suite.directory)
		workspace := filepath.Join("/var/tmp", name)
		if err := os.Mkdir(workspace, 0o755); err != nil {
			t.Fatal(err)
		}
		defer removeAll(t, workspace)
		wrong := filepath.Join(os.TempDir(), name)
		defer os.RemoveAll(wrong)
		r, err := runIn(t.Context(), suite.backend, suite.policy, run.Request{Command: run.Command{Args: []string{"/bin/sh", "-c", "pwd; echo text > file"}, Workspace: workspace}})
		if err != nil || !r.OK() {
			t.Errorf("a workspace in /var/tmp: %v\n%s", err, show(r))
		}
		if _, err := os.Stat(filepath.Join(workspace, "file")); err != nil {
			t.Error(err)
		}
		if _, err := os.Lstat(wrong); err == nil {
			t.Errorf("%s was created on the host", wrong)
		}
	})
}
