package process

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/confine"
	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// useGrants reads what was granted and then attacks the mount points and their neighbors.
// Its result is what it read and what it could do.
const useGrants = `
import ctypes, os
top, granted, data, single = context["top"], context["granted"], context["data"], context["single"]
read = [open(granted + "/file").read(), open(data).read(), open(single).read()]
done = []

def attempt(name, act):
    try:
        act()
        done.append(name)
    except OSError:
        pass

def write(path):
    with open(path, "w") as f:
        f.write("owned")

libc = ctypes.CDLL(None, use_errno=True)

def unmount(path):
    if libc.umount2(path.encode(), 2):
        raise OSError(ctypes.get_errno(), path)

for path in (top, granted, data, single):
    attempt("rename " + path, lambda: os.rename(path, "/tmp/moved"))
    attempt("replace " + path, lambda: (write("/tmp/other"), os.replace("/tmp/other", path)))
    attempt("remove " + path, lambda: (os.rmdir if os.path.isdir(path) else os.unlink)(path))
    attempt("unmount " + path, lambda: unmount(path))
    attempt("change the mode of " + path, lambda: os.chmod(path, 0o777))
for path in (top + "/made", granted + "/made", granted + "/file", data, single):
    attempt("write " + path, lambda: write(path))
attempt("link into " + top, lambda: os.symlink("/etc", top + "/link"))
for path in (top + "/secret", granted + "/../secret", data + "/../secret", granted + "/../../" + os.path.basename(top) + "/secret", granted + "/out"):
    attempt("read " + path, lambda: open(path).read())
attempt("list more than was granted: %s" % os.listdir(top), lambda: os.stat(top + "/secret"))
write("/tmp/own")
result = {"read": read, "done": done, "top": sorted(os.listdir(top)), "own": open("/dev/shm/own").read()}
`

// A grant below a private directory of the guest is readable; nothing around it is
// visible, and nothing of it can be removed.
func TestGrantsBelowPrivateDirectories(t *testing.T) {
	for _, parent := range []string{confine.Scratch, confine.SharedMemory, "/var/tmp"} {
		for _, oneShot := range []bool{false, true} {
			t.Run(parent+map[bool]string{true: " one shot"}[oneShot], func(t *testing.T) { testGrantsBelow(t, parent, oneShot) })
		}
	}
}

func testGrantsBelow(t *testing.T, parent string, oneShot bool) {
	top, err := os.MkdirTemp(parent, "cordon-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(top) })
	single := top + "-single"
	t.Cleanup(func() { os.Remove(single) })
	granted, data := filepath.Join(top, "deep", "granted"), filepath.Join(top, "data.csv")
	if err := os.MkdirAll(granted, 0o777); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{granted + "/file": "a file", data: "data", single: "single", top + "/secret": "secret"} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(top+"/secret", granted+"/out"); err != nil {
		t.Fatal(err)
	}
	// The modes must not hide a missing wall.
	for _, path := range []string{top, filepath.Dir(granted), granted, granted + "/file", data, single, top + "/secret"} {
		if err := os.Chmod(path, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	p := systemPython
	p.Read = []string{granted, data, single}
	b := open(t, Options{Policy: p, OneShot: oneShot})
	requireHost(t, b, policy.WallMount)
	r := runJob(t, b, jobOf(b, useGrants, map[string]any{"top": top, "granted": granted, "data": data, "single": single}))
	var got struct {
		Read, Done, Top []string
		Own             string
	}
	if err := json.Unmarshal(r.Value, &got); err != nil {
		t.Fatalf("%s: %s\n%s", r.Outcome, r.Error, r.Stderr)
	}
	if want := []string{"a file", "data", "single"}; !slices.Equal(got.Read, want) {
		t.Errorf("the guest reads %q, want %q", got.Read, want)
	}
	if len(got.Done) > 0 {
		t.Errorf("the guest could %q", got.Done)
	}
	if want := []string{"data.csv", "deep"}; !slices.Equal(got.Top, want) {
		t.Errorf("the guest sees %q beside what was granted, want %q", got.Top, want)
	}
	if got.Own != "owned" {
		t.Errorf("its /dev/shm is not its /tmp: %q", got.Own)
	}
	if text, err := os.ReadFile(granted + "/file"); err != nil || string(text) != "a file" {
		t.Errorf("the granted file is %q, %v", text, err)
	}
}

// Every guest of a fork server gets new mounts.
func TestEachWorkerHasItsGrants(t *testing.T) {
	top, err := os.MkdirTemp(confine.Scratch, "cordon-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(top) })
	p := systemPython
	p.Read = []string{top}
	b := open(t, Options{Policy: p})
	for range 3 {
		r := runJob(t, b, jobOf(b, "import os\nbefore = os.listdir('/tmp')\nopen('/tmp/mine', 'w')\nresult = [os.path.isdir(context), len(before)]", top))
		if string(r.Value) != "[true,1]" {
			t.Errorf("%s %s", r.Value, r.Error)
		}
	}
}

// A virtual environment may be below /tmp.
func TestEnvironmentBelowTmp(t *testing.T) {
	clone, err := os.MkdirTemp(confine.Scratch, "cordon-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(clone) })
	if err := os.Chmod(clone, 0o755); err != nil {
		t.Fatal(err)
	}
	venv := filepath.Join(clone, ".venv")
	if out, err := exec.Command("/usr/bin/python3", "-m", "venv", "--without-pip", venv).CombinedOutput(); err != nil {
		hosttest.Lacks(t, "no virtual environment: %v: %s", err, out)
	}
	found, err := filepath.Glob(venv + "/lib/python3*/site-packages")
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	if err := os.WriteFile(found[0]+"/belowtmp.py", []byte("answer = 42"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, preload := range [][]string{nil, {"belowtmp"}} {
		b := open(t, Options{Policy: policy.Policy{Python: venv + "/bin/python3", Preload: preload}})
		r := runJob(t, b, jobOf(b, "import belowtmp\nresult = belowtmp.answer", nil))
		if r.Outcome != run.Succeeded || string(r.Value) != "42" {
			t.Errorf("preload %v: %s %s\n%s", preload, r.Value, r.Error, r.Stderr)
		}
	}
}

// Without mounts the guest sees the host's /tmp, and Landlock allows what is granted in
// it.
func TestGrantBelowTmpWithoutMounts(t *testing.T) {
	if hosttest.Degraded() {
		t.Skip("this is the outside")
	}
	uid := anyUser
	if os.Geteuid() != 0 {
		uid = os.Geteuid()
	}
	hosttest.RunDegraded(t, "TestInsideGrantBelowTmp", uid)
}

func TestInsideGrantBelowTmp(t *testing.T) {
	if !hosttest.Degraded() {
		t.Skip("run by TestGrantBelowTmpWithoutMounts")
	}
	top, err := os.MkdirTemp(confine.Scratch, "cordon-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(top) })
	granted := filepath.Join(top, "granted")
	for _, path := range []string{granted, top + "/secret"} {
		if err := os.WriteFile(path, []byte("text"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p := systemPython
	p.Read = []string{granted}
	b := open(t, Options{Policy: p})
	for script, want := range map[string]string{
		"result = open(context + '/granted').read()": `"text"`,
		act("open(context + '/secret').read()"):      `"PermissionError"`,
		act("open(context + '/granted', 'w')"):       `"PermissionError"`,
		act("open(context + '/made', 'w')"):          `"PermissionError"`,
	} {
		if r := runJob(t, b, jobOf(b, script, top)); string(r.Value) != want {
			t.Errorf("%s: %s %s, want %s", script, r.Value, r.Error, want)
		}
	}
}
