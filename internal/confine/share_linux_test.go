package confine

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// startNobody starts a child that uses our memory, enters its own user namespace, becomes
// another user, makes the memory dumpable, and waits. It ends when the returned function is
// called.
func startNobody(t *testing.T) (*Process, func()) {
	t.Helper()
	plan := Plan{SwitchID: true, UID: Nobody, GID: Nobody, Namespaces: CloneNewUser}
	process, control := startProgram(t, plan.Namespaces, func(control, parting int) *program {
		p := newProgram(control)
		p.step("become nobody", false)
		p.closeAllBut(3, control, parting)
		p.part(parting)
		p.await()
		p.switchUser(plan)
		p.call(unix.SYS_PRCTL, unix.PR_SET_DUMPABLE, 1)
		p.call(unix.SYS_SENDTO, p.control, keep(p, new(byte)), 1, 0, 0, 0)
		p.await()
		if !p.shared {
			t.Fatal("the child has a copy of our memory")
		}
		return p
	})
	end := sync.OnceFunc(func() {
		unix.Close(control)
		process.Wait()
	})
	t.Cleanup(end)
	if err := process.mapIDs(plan); err != nil {
		t.Fatal(err)
	}
	if _, err := unix.Write(control, []byte{0}); err != nil {
		t.Fatal(err)
	}
	if n, err := unix.Read(control, make([]byte, 1)); n != 1 {
		t.Fatalf("the child does not become another user: %v", err)
	}
	return process, end
}

// readAsNobody reads the first byte of a file of /proc in another process, while we are
// dumpable: that process makes us undumpable when it starts, as every child does that
// changes its user.
func readAsNobody(t *testing.T, file string) (string, error) {
	t.Helper()
	read := exec.Command("sh", "-c", `read go && head -c 1 "$0"`, file)
	read.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: Nobody, Gid: Nobody}}
	var out bytes.Buffer
	read.Stdout, read.Stderr = &out, &out
	stdin, err := read.StdinPipe()
	if err == nil {
		err = read.Start()
	}
	if err == nil {
		err = unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0)
	}
	if err == nil {
		_, err = io.WriteString(stdin, "go\n")
	}
	if err != nil {
		t.Fatal(err)
	}
	err = read.Wait()
	return out.String(), err
}

// withCPUs gives Go at least two CPUs for a test, whatever the host has.
func withCPUs(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(max(before, 2))
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
}

// While a child has another user and our memory, that user cannot reach the memory through
// the child, not even if it is dumpable. What the children change about that is undone
// after the last of them.
func TestSharedMemoryIsOutOfReach(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root's children have another user")
	}
	withCPUs(t)
	dumpable := func() int {
		value, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	before := dumpable()
	first, endFirst := startNobody(t)
	second, endSecond := startNobody(t)
	for _, p := range []*Process{first, second} {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Pid))
		if err != nil || !bytes.Contains(status, []byte("Uid:\t65534\t65534\t65534\t65534\n")) {
			t.Fatalf("the child has another user than expected: %s, %v", status, err)
		}
		for _, file := range []string{"environ", "maps", "mem"} {
			if out, err := readAsNobody(t, fmt.Sprintf("/proc/%d/%s", p.Pid, file)); err == nil || !strings.Contains(out, "ermi") {
				t.Errorf("another process of that user reads %s: %q, %v", file, out, err)
			}
		}
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil { // as the kernel does when a child changes its user
		t.Fatal(err)
	}
	endFirst()
	if got := dumpable(); got != 0 {
		t.Errorf("dumpable is %d while a child has our memory", got)
	}
	endSecond()
	if got := dumpable(); got != before {
		t.Errorf("dumpable is %d after the last child, and was %d", got, before)
	}
}

// A child that becomes another user in our own user namespace has a copy of our memory, and
// so has every child if Go has one CPU.
func TestWhichChildrenShareMemory(t *testing.T) {
	withCPUs(t)
	shares := func(plan Plan) bool {
		return compile(Spec{Plan: plan, Argv: []string{"/bin/true"}}, belongings{}).shared
	}
	for _, test := range []struct {
		plan Plan
		want bool
	}{
		{Plan{}, true},
		{Plan{Namespaces: CloneNewUser}, true},
		{Plan{Namespaces: CloneNewUser, SwitchID: true}, true},
		{Plan{SwitchID: true}, false},
	} {
		if got := shares(test.plan); got != test.want {
			t.Errorf("%+v: %v", test.plan, got)
		}
	}
	runtime.GOMAXPROCS(1)
	if shares(Plan{}) {
		t.Error("a child shares our memory with one CPU")
	}
}

// Starts neither wait for the garbage collector nor keep it waiting: the child waits for
// a goroutine, and that goroutine may wait for the collector.
func TestStartsDuringCollections(t *testing.T) {
	withCPUs(t)
	stop := make(chan struct{})
	var collector, starters sync.WaitGroup
	collector.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
			}
		}
	})
	for range 4 {
		starters.Go(func() {
			for range 25 {
				p, err := Start(t.Context(), bare("/bin/true"))
				if err != nil {
					t.Error(err)
					return
				}
				if status, _ := p.Wait(); status.ExitStatus() != 0 {
					t.Errorf("status %v", status)
				}
				unix.Close(p.Control)
			}
		})
	}
	starters.Wait()
	close(stop)
	collector.Wait()
}
