package confine

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
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
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	parting, err := newParting()
	if err != nil {
		t.Fatal(err)
	}
	plan := Plan{SwitchID: true, UID: nobody, GID: nobody, Namespaces: CloneNewUser}
	p := newProgram(pair[1])
	if p.shared = plan.sharesMemory(); !p.shared {
		t.Skip("one CPU: children have a copy")
	}
	wait := func() { p.call(unix.SYS_RECVFROM, uintptr(pair[1]), keep(p, new(byte)), 1).positive = true }
	p.step("become nobody", false)
	p.closeAllBut(3, pair[1], parting.child())
	p.part(parting.child())
	wait()
	p.switchUser(plan)
	p.call(unix.SYS_PRCTL, unix.PR_SET_DUMPABLE, 1)
	p.call(unix.SYS_SENDTO, uintptr(pair[1]), keep(p, new(byte)), 1, 0, 0, 0)
	wait()
	process, err := cloneAndWatch(plan.Namespaces, p, parting)
	unix.Close(pair[1])
	if err != nil {
		t.Fatal(err)
	}
	end := sync.OnceFunc(func() {
		unix.Close(pair[0])
		process.Wait()
	})
	t.Cleanup(end)
	if err := process.mapIDs(plan); err != nil {
		t.Fatal(err)
	}
	if _, err := unix.Write(pair[0], []byte{0}); err != nil {
		t.Fatal(err)
	}
	if n, err := unix.Read(pair[0], make([]byte, 1)); n != 1 {
		t.Fatalf("the child does not become another user: %v", err)
	}
	return process, end
}

const nobody = 65534

// While a child has another user and our memory, that user cannot reach the memory through
// the child, not even if it is dumpable. What the children change about that is undone
// after the last of them.
func TestSharedMemoryIsOutOfReach(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root's children have another user")
	}
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
		for _, file := range []string{"environ", "mem", "maps", "stack"} {
			read := exec.Command("head", "-c", "1", fmt.Sprintf("/proc/%d/%s", p.Pid, file))
			read.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
			if out, err := read.CombinedOutput(); err == nil || !bytes.Contains(out, []byte("ermi")) {
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

// A child that becomes another user in our own user namespace has a copy of our memory.
func TestPlansThatShareMemory(t *testing.T) {
	several := runtime.GOMAXPROCS(0) > 1
	for _, test := range []struct {
		plan Plan
		want bool
	}{
		{Plan{}, several},
		{Plan{Namespaces: CloneNewUser}, several},
		{Plan{Namespaces: CloneNewUser, SwitchID: true}, several},
		{Plan{SwitchID: true}, false},
	} {
		if got := test.plan.sharesMemory(); got != test.want {
			t.Errorf("%+v: %v", test.plan, got)
		}
	}
}

// Starts neither wait for the garbage collector nor keep it waiting: the child waits for
// a goroutine, and that goroutine may wait for the collector.
func TestStartsDuringCollections(t *testing.T) {
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
				p, err := Start(bare("/bin/true"))
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
