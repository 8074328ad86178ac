package jail

import (
	"bytes"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/hostpath"
	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
)

// gvisorSandbox builds a sandbox on gVisor that waits for a command.
func gvisorSandbox(t *testing.T, without ...policy.Wall) *sandbox {
	t.Helper()
	program, err := hostpath.ProgramAt(hosttest.NeedsExtra(t, hosttest.Runsc))
	if err != nil {
		t.Fatal(err)
	}
	b, err := New(Options{Runsc: &program, OneShot: true, Without: without})
	if err != nil {
		t.Fatal(err)
	}
	p, err := b.open(recipe{limits: b.options.Policy.Limits}, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.tearDown()
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// The kernel's own view of gVisor's processes: our walls stand around all of them, and its own
// filters around the two that the guest can reach.
func TestGVisorFromOutside(t *testing.T) {
	p := gvisorSandbox(t)
	filters := map[string]int64{"cordon-init": 1, "runsc": 1, "runsc-gofer": 2, "runsc-sandbox": 2}
	seen := map[string]bool{}
	p.processes().each(func(proc int, pid string) {
		status := readAt(proc, pid+"/status")
		name, _, _ := bytes.Cut(readAt(proc, pid+"/cmdline"), []byte{0})
		want, named := filters[string(name)]
		if !named {
			want = 2 // the guest's code runs in processes of the sentry
		}
		seen[string(name)] = true
		if got := numberIn(status, "Seccomp_filters:"); got < want || string(field(status, "Seccomp:")) != "2" {
			t.Errorf("%q has %d filters, want at least %d", name, got, want)
		}
		if string(field(status, "NoNewPrivs:")) != "1" || string(field(status, "Uid:")) == "0" {
			t.Errorf("%q: no_new_privs %s, uid %s", name, field(status, "NoNewPrivs:"), field(status, "Uid:"))
		}
		for _, namespace := range []string{"user", "mnt", "pid", "net", "ipc", "uts"} {
			ours, err := os.Readlink("/proc/self/ns/" + namespace)
			if err != nil {
				t.Fatal(err)
			}
			theirs := make([]byte, len(ours)+1)
			if n, err := unix.Readlinkat(proc, pid+"/ns/"+namespace, theirs); err != nil || string(theirs[:n]) == ours {
				t.Errorf("%q: the %s namespace is %s, %v; ours is %s", name, namespace, theirs, err, ours)
			}
		}
	})
	for name := range filters {
		if !seen[name] {
			t.Errorf("there is no process %q: %v", name, seen)
		}
	}
}

// Without our filter, the test above would fail.
func TestGVisorWithoutFilter(t *testing.T) {
	p := gvisorSandbox(t, policy.WallSeccomp)
	if status := readAt(p.processes().proc, "1/status"); string(field(status, "Seccomp:")) != "0" {
		t.Errorf("the init has a filter: %s", status)
	}
}

// The memory of a guest that waits is counted, though little of it is mapped.
func TestGVisorMemory(t *testing.T) {
	p := gvisorSandbox(t)
	if p.memory < 0 || p.base <= 0 || p.base > int64(gvisorMemory) {
		t.Fatalf("memory file %d, %d bytes before the command", p.memory, p.base)
	}
	const size = 64 << 20
	command := []string{"/usr/bin/python3", "-I", "-S", "-c", "import time; b = bytearray(64 << 20)\nfor i in range(0, len(b), 4096): b[i] = 1\nprint('filled', flush=True); time.sleep(60)"}
	if err := p.commands().Execute(command[0], command, nil); err != nil {
		t.Fatal(err)
	}
	if line, err := readLine(p.streams.stdout); err != nil || line != "filled\n" {
		t.Fatalf("%q, %v", line, err)
	}
	if used := p.gvisorMemory() - p.base; used < size || used > 2*size {
		t.Errorf("%d bytes are counted for %d", used, size)
	}
}

func readLine(f *os.File) (string, error) {
	var line []byte
	for buffer := make([]byte, 1); ; {
		if _, err := f.Read(buffer); err != nil {
			return string(line), err
		}
		if line = append(line, buffer[0]); buffer[0] == '\n' {
			return string(line), nil
		}
	}
}
