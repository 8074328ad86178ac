package process

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

type wallTest struct {
	wall   policy.Wall
	masks  []policy.Wall
	root   bool // needs root
	limits policy.Limits
	// script sets result to whether the act succeeded.
	script string
	// held decides instead of the result, if the act ends the guest.
	held func(run.Result) bool
}

// systemPython is readable by everybody: some tests remove the mounts that make an
// interpreter in root's home usable for nobody.
var systemPython = policy.Policy{Python: "/usr/bin/python3"}

// Several walls stop most attacks, so removing one often changes nothing. To show that a
// wall matters, the walls that would hide its absence are removed first: with the wall
// the act must fail, and without it, everything else equal, the same act must succeed.
var wallTests = []wallTest{
	{
		wall: policy.WallNoNewPrivs,
		script: `
import ctypes
result = ctypes.CDLL(None).prctl(39, 0, 0, 0, 0) == 0  # PR_GET_NO_NEW_PRIVS`,
	},
	{
		wall: policy.WallCapabilities, masks: []policy.Wall{policy.WallSeccomp},
		script: `
import ctypes
result = ctypes.CDLL(None).sethostname(b"owned", 5) == 0`,
	},
	{
		wall: policy.WallUID, root: true, masks: []policy.Wall{policy.WallMount, policy.WallLandlock},
		script: `
try:
    result = open(context["private"]).read() == "secret"
except OSError:
    result = False`,
	},
	{
		// Without a user namespace there are no other namespaces either.
		wall: policy.WallUser, masks: []policy.Wall{policy.WallMount, policy.WallLandlock, policy.WallSeccomp},
		script: `
import os
result = os.readlink("/proc/self/ns/user") == context["ns"]["user"]`,
	},
	{
		wall: policy.WallMount, masks: []policy.Wall{policy.WallLandlock},
		script: `
try:
    result = open(context["public"]).read() == "public"
except OSError:
    result = False`,
	},
	{
		wall: policy.WallPID, masks: []policy.Wall{policy.WallLandlock, policy.WallSeccomp},
		script: `
import os
try:
    os.kill(context["pid"], 0)
    result = True
except PermissionError:
    result = True  # it is seen, and that is enough
except ProcessLookupError:
    result = False`,
	},
	{
		wall: policy.WallNet, masks: []policy.Wall{policy.WallLandlock, policy.WallSeccomp},
		script: `
import socket
try:
    socket.create_connection(("127.0.0.1", context["port"]), 5).close()
    result = True
except OSError:
    result = False`,
	},
	{
		wall: policy.WallIPC, masks: []policy.Wall{policy.WallSeccomp},
		script: `
import ctypes
result = ctypes.CDLL(None).shmget(context["shm"], 0, 0) >= 0`,
	},
	{
		wall: policy.WallUTS,
		script: `
import os
result = os.uname().nodename == context["host"]`,
	},
	{
		wall: policy.WallCgroupNS, masks: []policy.Wall{policy.WallMount, policy.WallLandlock},
		script: `
import os
result = os.readlink("/proc/self/ns/cgroup") == context["ns"]["cgroup"]`,
	},
	{
		wall: policy.WallLandlock, masks: []policy.Wall{policy.WallMount},
		script: `
try:
    result = open(context["public"]).read() == "public"
except OSError:
    result = False`,
	},
	{
		wall: policy.WallSeccomp,
		script: `
import os
try:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    result = True
except PermissionError:
    result = False`,
	},
	{
		wall: policy.WallRlimit,
		script: `
files = []
try:
    for _ in range(200):
        files.append(open("/dev/null"))
except OSError:
    pass
result = len(files) == 200`,
	},
	{
		// Shared memory is not the data of a process: only the cgroup counts it.
		wall: policy.WallCgroup, masks: []policy.Wall{policy.WallRlimit}, limits: policy.Limits{Memory: 32 * policy.MiB},
		script: `
import mmap
m = mmap.mmap(-1, 96 << 20)
for i in range(0, len(m), 4096):
    m[i] = 1
result = True`,
		held: func(r run.Result) bool { return r.Outcome == run.OutOfMemory },
	},
	{
		wall: policy.WallEnvironment,
		script: `
import os
result = "CORDON_TEST_CANARY" in os.environ`,
	},
}

func TestEveryWallHasATest(t *testing.T) {
	for _, w := range policy.Walls() {
		if !slices.ContainsFunc(wallTests, func(test wallTest) bool { return test.wall == w }) {
			t.Errorf("no test takes away %s", w)
		}
	}
}

func TestEachWallMatters(t *testing.T) {
	hosttest.NotUnderRace(t, "it tests walls, which the detector does not see")
	t.Setenv("CORDON_TEST_CANARY", "secret")
	canaries := plant(t)
	for _, test := range wallTests {
		t.Run(string(test.wall), func(t *testing.T) {
			if test.root && os.Geteuid() != 0 {
				t.Skip("only root has an id that must be given up")
			}
			with := open(t, Options{Policy: systemPython, Idle: 1, Without: test.masks})
			requireHost(t, with, test.wall)
			held := func(without []policy.Wall) bool {
				b := with
				if without != nil {
					b = open(t, Options{Policy: systemPython, Idle: 1, Without: without})
				}
				job := jobOf(b, test.script, canaries)
				job.Limits = test.limits.Or(job.Limits)
				r := runJob(t, b, job)
				if test.held != nil {
					return test.held(r)
				}
				switch string(r.Value) {
				case "true":
					return false
				case "false":
					return true
				}
				t.Fatalf("the attempt is broken: %s %s\n%s", r.Outcome, r.Error, r.Stderr)
				return false
			}
			if !held(nil) {
				t.Errorf("the wall does not hold")
			}
			if held(append(slices.Clone(test.masks), test.wall)) {
				t.Errorf("the act fails without the wall too: this test shows nothing")
			}
		})
	}
}

// plant creates what a guest must not reach.
func plant(t *testing.T) map[string]any {
	t.Helper()
	dir := t.TempDir()
	for p := dir; len(p) > len(os.TempDir()); p = filepath.Dir(p) {
		if err := os.Chmod(p, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })

	key := 0x0c0d0000 + os.Getpid()%0xffff
	id, err := unix.SysvShmGet(key, 4096, unix.IPC_CREAT|0o666)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := unix.SysvShmCtl(id, unix.IPC_RMID, nil); err != nil {
			t.Error(err)
		}
	})
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	namespaces := map[string]any{}
	for _, ns := range []string{"user", "cgroup"} {
		if namespaces[ns], err = os.Readlink("/proc/self/ns/" + ns); err != nil {
			t.Fatal(err)
		}
	}
	return map[string]any{
		"public": write("public", "public", 0o644), "private": write("private", "secret", 0o600),
		"pid": os.Getpid(), "port": listener.Addr().(*net.TCPAddr).Port, "shm": key, "host": host, "ns": namespaces,
	}
}

// The kernel's own view of a worker: each namespace by its link.
func TestKernelShowsWallsOfWorkers(t *testing.T) {
	b := open(t, Options{Idle: 1})
	requireHost(t, b, policy.WallUser)
	s, err := b.Open(t.Context(), jobOf(b, "pass", nil))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	pid := strconv.Itoa(s.(*sandbox).member.PID)
	for _, ns := range []string{"user", "mnt", "pid", "net", "ipc", "uts", "cgroup"} {
		ours, err := os.Readlink("/proc/self/ns/" + ns)
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := os.Readlink("/proc/" + pid + "/ns/" + ns)
		if err != nil {
			t.Fatal(err)
		}
		if ours == theirs {
			t.Errorf("the worker shares our %s namespace", ns)
		}
	}
	status, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"CapBnd:\t0000000000000000", "CapEff:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2"} {
		if !slices.Contains(lines(status), want) {
			t.Errorf("/proc/PID/status lacks %q", want)
		}
	}
	if os.Geteuid() == 0 && !slices.Contains(lines(status), fmt.Sprintf("Groups:\t%s", " ")) {
		t.Errorf("supplementary groups are left: %v", slices.DeleteFunc(lines(status), func(l string) bool { return len(l) < 6 || l[:6] != "Groups" }))
	}
}
