package jail

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/internal/seccomp"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// sharedRun runs a shell script without namespaces.
func sharedRun(t *testing.T, p policy.Policy, workspace, script string) (run.Result, error) {
	t.Helper()
	p.Jail = policy.JailLandlock
	b := openJail(t, p)
	command := run.Command{Args: []string{"/bin/sh", "-c", script}, Workspace: workspace}
	return attemptOnce(t.Context(), b, backend.Job{Request: run.Request{Command: command}, Limits: b.options.Policy.Limits})
}

// The commands of root run as the owner of the workspace, and never as root.
func TestSharedCommandsOfRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can have commands of another user")
	}
	const uid, gid = 1234, 1235
	workspace := t.TempDir()
	_, err := sharedRun(t, policy.Policy{}, workspace, "true")
	if run.ClassOf(err) != run.Unsupported || !strings.Contains(err.Error(), "belongs to root") {
		t.Errorf("a workspace of root: %v", err)
	}
	mine, roots := filepath.Join(workspace, "mine"), filepath.Join(workspace, "roots")
	for _, name := range []string{mine, roots} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{workspace, mine} {
		if err := os.Chown(name, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Dir(workspace), 0o755); err != nil { // of this test
		t.Fatal(err)
	}
	r, err := sharedRun(t, policy.Policy{}, workspace, `id -u; id -g; echo x >made; chmod 640 mine; touch -d @1000 mine; chmod 666 roots; touch -d @1000 roots; ls -d "$TMPDIR" >&2; exit 0`)
	if err != nil || !r.OK() || !strings.HasPrefix(r.Stdout, "1234\n1235\n") {
		t.Fatalf("%v %+v", err, r)
	}
	for name, want := range map[string]struct {
		uid  uint32
		mode os.FileMode
	}{"made": {uid, 0o644}, "mine": {uid, 0o640}, "roots": {0, 0o600}} {
		info, err := os.Stat(filepath.Join(workspace, name))
		if err != nil {
			t.Fatal(err)
		}
		if stat := info.Sys().(*syscall.Stat_t); stat.Uid != want.uid || info.Mode() != want.mode {
			t.Errorf("%s: owner %d, mode %o", name, stat.Uid, info.Mode())
		}
		if name != "made" && (info.ModTime().Unix() == 1000) != (name == "mine") {
			t.Errorf("%s: time %v", name, info.ModTime())
		}
	}
	if len(r.Violations) > 0 { // the kernel refuses them to any user, without cordon
		t.Errorf("violations: %+v", r.Violations)
	}
	if uid := r.Enforcement.Walls[policy.WallUID]; !strings.HasPrefix(uid.Detail, "uid 1234,") {
		t.Errorf("the Result says %s", uid)
	}
	if path := strings.TrimSpace(r.Stderr); !strings.Contains(path, privatePattern) {
		t.Errorf("the private directory is %q", r.Stderr)
	} else if _, err := os.Lstat(path); err == nil {
		t.Errorf("%s is still there", path)
	}
}

// Root in a container of Docker has few capabilities: not the one to look at other users'
// processes.
func TestSharedInDocker(t *testing.T) {
	if hosttest.Degraded() || os.Geteuid() != 0 {
		t.Skip("run by root, outside")
	}
	hosttest.UseDockerProfile(t)
	hosttest.RunDegraded(t, "TestSharedCommandsOfRoot", 0)
	hosttest.RunDegraded(t, "TestInsideDegradedHost", 0)
}

// What Landlock cannot do is refused before anything runs.
func TestSharedRefuses(t *testing.T) {
	workspace := t.TempDir()
	below := filepath.Join(workspace, "vendor")
	if err := os.Mkdir(below, 0o755); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 { // otherwise a workspace of root is the reason
		if err := os.Chown(workspace, 1234, 1234); err != nil {
			t.Fatal(err)
		}
		top := filepath.Dir(workspace) // of this test
		if err := os.Chmod(top, 0o700); err != nil {
			t.Fatal(err)
		}
		b, err := New(Options{Policy: policy.Policy{Jail: policy.JailLandlock, Read: []string{below}}})
		if err == nil {
			err = b.Close()
		}
		if run.ClassOf(err) != run.Unsupported || !strings.Contains(err.Error(), "chmod o+x") || !strings.Contains(err.Error(), below) {
			t.Errorf("a grant out of reach: %v", err)
		}
		if err := os.Chmod(top, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	_, err := sharedRun(t, policy.Policy{Read: []string{below}}, workspace, "true")
	if run.ClassOf(err) != run.Unsupported || !strings.Contains(err.Error(), "cannot be read-only") {
		t.Errorf("a read-only directory in a writable workspace: %v", err)
	}
	for want, p := range map[string]policy.Policy{
		"cannot be read-only": {Read: []string{below}, Write: []string{workspace}},
		"host's network":      {Egress: policy.EgressNone},
		"pid":                 {Require: []policy.Wall{policy.WallPID}},
	} {
		p.Jail = policy.JailLandlock
		if b, err := New(Options{Policy: p}); run.ClassOf(err) != run.Unsupported || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
			if err == nil {
				t.Error(b.Close())
			}
		}
	}
}

// Every call that the filter passes to the Runner has an answer: one without would be denied.
func TestAskedCallsHaveAnswers(t *testing.T) {
	answered := []string{
		"setsid", "setpgid", "socket", "connect",
		"kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_open", "pidfd_send_signal",
	}
	for _, g := range seccomp.RulesOf(seccomp.Unscoped) {
		for _, r := range g.Rules {
			if _, change := changes[r.Call]; g.Then == seccomp.Ask && !change && !slices.Contains(answered, r.Call) {
				t.Errorf("%s has no answer", r.Call)
			}
		}
	}
}

// Programs look for the cache of users and hosts, and try IPv6, again and again. That is no
// reason to end them.
func TestSharedQuietRefusals(t *testing.T) {
	hosttest.Needs(t, "python3")
	r, err := sharedRun(t, policy.Policy{}, "", `exec python3 - <<'END'
import socket
for _ in range(12_000):
    s = socket.socket(socket.AF_UNIX)
    assert s.connect_ex("/var/run/nscd/socket") == 2, "nscd"
    s.close()
for _ in range(12_000):
    try:
        socket.socket(socket.AF_INET6)
    except OSError:
        continue
    raise AssertionError("there is IPv6")
print("all refused")
END
`)
	if err != nil || !r.OK() || r.Stdout != "all refused\n" || len(r.Violations) > 0 {
		t.Errorf("%v %+v", err, r)
	}
}

// Its sockets would be the host's: no process of the host can connect to a command.
func TestSharedCannotListen(t *testing.T) {
	hosttest.Needs(t, "python3")
	r, err := sharedRun(t, policy.Policy{}, "", `exec python3 - <<'END'
import os, socket
for address in ("\0cordon-test-listener", os.environ["TMPDIR"] + "/s"):
    s = socket.socket(socket.AF_UNIX)
    for attempt in (lambda: s.bind(address), s.listen):
        try:
            attempt()
        except PermissionError:
            continue
        raise AssertionError(f"{address!r} can be used")
print("all refused")
END
`)
	if err != nil || !r.OK() || r.Stdout != "all refused\n" || len(r.Violations) == 0 {
		t.Errorf("%v %+v", err, r)
	}
}

// The Runner cannot measure a process that hides from it.
func TestSharedCannotHide(t *testing.T) {
	hosttest.Needs(t, "python3")
	r, err := sharedRun(t, policy.Policy{}, "", `exec python3 - <<'END'
import ctypes
set_dumpable = 4
print(ctypes.CDLL(None).prctl(set_dumpable, 0, 0, 0, 0))
END
`)
	if err != nil || r.Stdout != "-1\n" || len(r.Violations) == 0 {
		t.Errorf("%v %+v", err, r)
	}
}

// The next command gets the sandbox that was built ahead, with a private directory that no
// command has used.
func TestSharedBuiltAhead(t *testing.T) {
	b := openJail(t, policy.Policy{Jail: policy.JailLandlock})
	seen := map[string]bool{}
	for range 4 {
		r := runs(t, b, run.Request{Command: run.Command{Args: []string{"/bin/sh", "-c", `pwd; ls; touch made`}}})
		b.mustWait(t, 1)
		if !r.OK() || strings.Count(r.Stdout, "\n") != 1 || seen[r.Stdout] {
			t.Errorf("%+v", r)
		}
		seen[r.Stdout] = true
	}
}

// A sandbox can be torn down as soon as it is built, also where its walls take no time.
func TestSharedEndsAtOnce(t *testing.T) {
	for _, without := range [][]policy.Wall{nil, {policy.WallSeccomp}} {
		b, err := New(Options{Policy: policy.Policy{Jail: policy.JailLandlock}, LandlockABI: 5, Without: without})
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() {
			for range 300 {
				if err := b.try(); err != nil {
					ended <- err
					return
				}
			}
			ended <- b.Close()
		}()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("without %v: %v", without, err)
			}
		case <-time.After(time.Minute):
			t.Fatalf("without %v: a sandbox does not end", without)
		}
	}
}

// The init removes an empty private directory itself: the Runner may be killed before it does.
func TestSharedInitRemovesDirectory(t *testing.T) {
	for _, abi := range []int{0, 5} { // 0: that of the kernel
		b, err := New(Options{Policy: policy.Policy{Jail: policy.JailLandlock}, LandlockABI: abi})
		if err != nil {
			t.Fatal(err)
		}
		p, err := b.open(recipe{limits: b.options.Policy.Limits}, nil, false)
		if err != nil {
			t.Fatal(err)
		}
		p.process.Kill()
		p.process.Wait()
		if _, err := os.Lstat(p.private.path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Landlock %d: the directory is still there: %v", abi, err)
		}
		p.tearDown()
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A directory that was left behind is removed, also one that its command has closed. One that
// is new or in use stays, and so does what only has the name of one.
func TestRemoveStale(t *testing.T) {
	parent := t.TempDir()
	old := time.Now().Add(-2 * staleAfter)
	create := func(name string, age time.Time) string {
		path := filepath.Join(parent, name)
		if err := errors.Join(os.Mkdir(path, 0o700), os.Chtimes(path, age, age)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	closed := filepath.Join(create(privatePattern+"stale", old), "closed")
	used, other := create(privatePattern+"used", old), create("other", old)
	link := filepath.Join(parent, privatePattern+"link")
	err := errors.Join(os.Mkdir(closed, 0o700), os.WriteFile(filepath.Join(closed, "file"), nil, 0o600), os.Chmod(closed, 0),
		os.Chtimes(filepath.Dir(closed), old, old), os.Symlink(other, link))
	if err != nil {
		t.Fatal(err)
	}
	lock, err := lockDirectory(used)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(lock)
	want := []string{used, other, link, create(privatePattern+"new", time.Now())}
	removeStaleIn(parent)
	left, err := filepath.Glob(filepath.Join(parent, "*"))
	if slices.Sort(want); err != nil || !slices.Equal(left, want) {
		t.Errorf("left: %v %v", left, err)
	}
}

// Another Runner does not take the directory of a sandbox that lives for one that was left.
func TestSharedDirectoryIsLocked(t *testing.T) {
	b := openJail(t, policy.Policy{Jail: policy.JailLandlock})
	p, err := b.open(recipe{limits: b.options.Policy.Limits}, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	defer p.tearDown()
	if _, err := lockDirectory(p.private.path); !errors.Is(err, unix.EWOULDBLOCK) {
		t.Errorf("locked by another: %v", err)
	}
}

// The watcher counts processes from time to time. A limit of the kernel's bounds how many a
// command starts meanwhile.
func TestSharedProcessesAreBounded(t *testing.T) {
	r, err := sharedRun(t, policy.Policy{}, "", "sed -n 's/^Max processes *//p' /proc/self/limits | cut -d ' ' -f 1")
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(r.Stdout))
	if most := allTasks() + 2*othersRoom; err != nil || n > most {
		t.Errorf("%q processes, and at most %d were to be allowed", r.Stdout, most)
	}
}

// The Runner's own connection is recognized by its whole address.
func TestAcceptFromNoStranger(t *testing.T) {
	listener, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	local, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(local)
	if err := unix.Bind(local, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	name, err := unix.Getsockname(local)
	if err != nil {
		t.Fatal(err)
	}
	for _, stranger := range []net.TCPAddr{{}, {IP: net.IPv4(127, 0, 0, 2), Port: name.(*unix.SockaddrInet4).Port}} {
		conn, err := net.DialTCP("tcp4", &stranger, listener.Addr().(*net.TCPAddr))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := conn.Write([]byte("hers")); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Connect(local, &unix.SockaddrInet4{Port: listener.Addr().(*net.TCPAddr).Port, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	conn, err := acceptFrom(listener, local)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := unix.Send(local, []byte("ours"), 0); err != nil {
		t.Fatal(err)
	}
	text := make([]byte, 4)
	if _, err := io.ReadFull(conn, text); err != nil || string(text) != "ours" {
		t.Errorf("another's connection: %q %v", text, err)
	}
}

// The error names TMPDIR where commands cannot use it. The commands of root have another user.
func TestSharedTemporaryFilesOutOfReach(t *testing.T) {
	parent := t.TempDir()
	closed, file := filepath.Join(parent, "top", "closed"), filepath.Join(parent, "file")
	err := errors.Join(os.MkdirAll(closed, 0o700), os.Chmod(closed, 0o500), os.WriteFile(file, nil, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{closed, file, filepath.Join(parent, "none")} {
		t.Setenv("TMPDIR", dir)
		b, err := New(Options{Policy: policy.Policy{Jail: policy.JailLandlock}})
		if err == nil {
			err = b.Close()
		}
		if run.ClassOf(err) != run.Unsupported || !strings.Contains(err.Error(), "below "+dir+",") || !strings.Contains(err.Error(), "TMPDIR") {
			t.Errorf("%s: %v", dir, err)
		}
	}
	if left, err := os.ReadDir(closed); err != nil || len(left) > 0 {
		t.Errorf("left: %v %v", left, err)
	}
}
