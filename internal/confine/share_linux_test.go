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

// startNobody starts a child that becomes another user and waits. The child ends when the
// returned function is called.
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
	p := newProgram(pair[1])
	p.step("become nobody", false)
	p.closeAllBut(3, pair[1], parting.child())
	p.switchUser(Plan{SwitchID: true, UID: nobody, GID: nobody, DropGroups: true})
	p.part(parting.child())
	p.call(unix.SYS_RECVFROM, uintptr(pair[1]), keep(p, new(byte)), 1).positive = true
	process, err := cloneAndWatch(0, p, parting)
	unix.Close(pair[1])
	if err != nil {
		t.Fatal(err)
	}
	end := sync.OnceFunc(func() {
		unix.Close(pair[0])
		process.Wait()
	})
	t.Cleanup(end)
	return process, end
}

const nobody = 65534

// While a child has another user and our memory, that user cannot reach the memory through
// the child, and we are dumpable again only after the last such child.
func TestSharedMemoryIsHidden(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root's children have another user")
	}
	if !sharesMemory() {
		t.Skip("one CPU: children have a copy")
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
		for _, file := range []string{"environ", "mem", "maps"} {
			read := exec.Command("head", "-c", "1", fmt.Sprintf("/proc/%d/%s", p.Pid, file))
			read.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
			if out, err := read.CombinedOutput(); err == nil || !bytes.Contains(out, []byte("Permission denied")) {
				t.Errorf("another process of that user reads %s: %q, %v", file, out, err)
			}
		}
	}
	endFirst()
	if got := dumpable(); got != 0 {
		t.Errorf("we are dumpable (%d) while a child has our memory", got)
	}
	endSecond()
	if got := dumpable(); got != before {
		t.Errorf("dumpable is %d after the last child, and was %d", got, before)
	}
}

// A child that has to be dumpable has a copy of our memory.
func TestDumpableChildHasCopy(t *testing.T) {
	p := newProgram(0)
	p.step("own user namespace", true)
	if p.enterOwnUserNamespace(Plan{first: &ids{}}); p.shared {
		t.Error("it shares our memory")
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
