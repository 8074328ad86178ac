package jail

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/confine"
	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

var bothJails = []policy.JailBackend{policy.JailNative, policy.JailBwrap}

func openJail(t *testing.T, p policy.Policy) *Backend {
	t.Helper()
	p.AllowInterpreters = true
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	b, err := New(Options{Policy: p})
	if err != nil {
		if run.ClassOf(err) == run.Unsupported {
			hosttest.Lacks(t, "%s: %v", p.Jail, err)
		}
		t.Fatalf("%s: %v", p.Jail, err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// attackMounts attacks mount points and their neighbors in every way. It writes a line for
// each act that succeeds.
const attackMounts = `
ws=$WS top=$TOP read=$READ
say() { echo "could $*"; }
for path in "$top" "$ws" "$read"; do
  mv "$path" /tmp/moved 2>/dev/null && say rename "$path"
  mkdir /tmp/other 2>/dev/null; mv -T /tmp/other "$path" 2>/dev/null && say replace "$path"
  rmdir "$path" 2>/dev/null && say remove "$path"
  umount -l "$path" 2>/dev/null && say unmount "$path"
  mount -t tmpfs x "$path" 2>/dev/null && say mount over "$path"
done
mount -o remount,rw "$top" 2>/dev/null && say remount "$top"
touch "$top/made" 2>/dev/null && say write beside the workspace
touch "$read/made" 2>/dev/null && say write to what may be read
ln -s /etc "$top/link" 2>/dev/null && say link beside the workspace
for secret in "$top/secret" "$ws/../secret" "$ws/../../$(basename "$top")/secret" "$ws/out" "$read/../secret" /proc/self/root"$top/secret" /proc/self/cwd/../secret; do
  cat "$secret" 2>/dev/null && say read "$secret"
done
ls -A "$top" | sort | tr '\n' ' '
cat "$read/file"
echo written >"$ws/made"
echo scratch >/tmp/own && cat /dev/shm/own
`

// A workspace and a grant below a private directory of commands are visible; nothing around
// them is, and they cannot be removed.
func TestMountsBelowPrivateDirectories(t *testing.T) {
	for _, kind := range bothJails {
		for _, parent := range []string{confine.Scratch, confine.SharedMemory, "/var/tmp"} {
			t.Run(string(kind)+parent, func(t *testing.T) {
				top, err := os.MkdirTemp(parent, "cordon-test-")
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { os.RemoveAll(top) })
				ws, read := filepath.Join(top, "ws"), filepath.Join(top, "deep", "read")
				if err := errors.Join(os.Mkdir(ws, 0o777), os.MkdirAll(read, 0o777)); err != nil {
					t.Fatal(err)
				}
				for path, text := range map[string]string{read + "/file": "granted\n", top + "/secret": "secret\n"} {
					if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
						t.Fatal(err)
					}
				}
				if err := os.Symlink(top+"/secret", ws+"/out"); err != nil {
					t.Fatal(err)
				}
				// File modes must not act as a wall.
				for _, path := range []string{top, ws, read, top + "/secret"} {
					if err := os.Chmod(path, 0o777); err != nil {
						t.Fatal(err)
					}
				}
				b := openJail(t, policy.Policy{Jail: kind, Read: []string{read}})
				r := runs(t, b, run.Request{
					// Not as arguments, which are checked before anything runs.
					Command: run.Command{Args: []string{"sh", "-c", attackMounts}, Workspace: ws, Env: map[string]string{"WS": ws, "TOP": top, "READ": read}},
				})
				if want := "deep ws granted\nscratch\n"; r.Stdout != want {
					t.Errorf("got  %q\nwant %q\n%s %s", r.Stdout, want, r.Error, r.Stderr)
				}
				if text, err := os.ReadFile(ws + "/made"); err != nil || string(text) != "written\n" {
					t.Errorf("the workspace has %q, %v", text, err)
				}
				for _, path := range []string{top + "/made", read + "/made", top + "/link"} {
					if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
						t.Errorf("%s was made on the host: %v", path, err)
					}
				}
			})
		}
	}
}

// Each private directory in the plan is either refused as a grant and as a workspace, or a
// path that is granted there shows the host's file.
func TestPrivateDirectoriesAsGrantsAndWorkspaces(t *testing.T) {
	for _, kind := range bothJails {
		t.Run(string(kind), func(t *testing.T) {
			b := openJail(t, policy.Policy{Jail: kind})
			var found []string
			for _, m := range root(b.plan.Root, recipe{limits: b.options.Policy.Limits}) {
				switch m.Kind {
				case confine.Tmpfs, confine.EmptyDir, confine.Proc, confine.DevPTS, confine.ScratchView, confine.ParentDir:
				case confine.Symlink:
					if m.Target != confine.Scratch {
						continue
					}
				default:
					continue
				}
				found = append(found, m.Path)
				t.Run(m.Path, func(t *testing.T) { testPrivateDirectory(t, kind, m.Path) })
			}
			for _, path := range []string{confine.Scratch, confine.SharedMemory, "/var/tmp", "/run", "/proc", "/dev/pts"} {
				if !slices.Contains(found, path) {
					t.Errorf("the plan has no %s: this shows nothing", path)
				}
			}
		})
	}
}

func testPrivateDirectory(t *testing.T, kind policy.JailBackend, dir string) {
	marker, err := os.MkdirTemp(dir, "cordon-test-")
	if err == nil {
		t.Cleanup(func() { os.RemoveAll(marker) })
		err = os.Chmod(marker, 0o777)
	}
	if err != nil {
		marker = "" // no user can have a file there
	}
	list := func(t *testing.T, p policy.Policy, req run.Request, path, want string) {
		t.Helper()
		p.Jail, p.AllowInterpreters, p.DangerousWorkspace = kind, true, true
		if err := p.Validate(); err != nil {
			if path == marker {
				t.Errorf("refused: %v", err)
			}
			return
		}
		b := openJail(t, p)
		req.Command.Args = []string{"sh", "-c", `ls -a "$1"`, "sh", path}
		r, err := attemptOnce(t.Context(), b, backend.Job{Request: req, Limits: b.options.Policy.Limits})
		switch {
		case run.ClassOf(err) == run.Invalid && path != marker:
		case err != nil:
			t.Error(err)
		case marker != "" && !strings.Contains(r.Stdout, want):
			t.Errorf("%s has\n%s and not %s\n%s", path, r.Stdout, want, r.Stderr)
		}
	}
	t.Run("grant", func(t *testing.T) {
		list(t, policy.Policy{Read: []string{dir}}, run.Request{}, dir, filepath.Base(marker))
	})
	t.Run("workspace", func(t *testing.T) {
		list(t, policy.Policy{}, run.Request{Command: run.Command{Workspace: dir, WorkspaceReadOnly: true}}, dir, filepath.Base(marker))
	})
	if marker == "" {
		return
	}
	if err := os.WriteFile(marker+"/inside", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Run("grant below", func(t *testing.T) {
		list(t, policy.Policy{Read: []string{marker}}, run.Request{}, marker, "inside")
	})
	t.Run("workspace below", func(t *testing.T) {
		list(t, policy.Policy{}, run.Request{Command: run.Command{Workspace: marker}}, marker, "inside")
	})
}
