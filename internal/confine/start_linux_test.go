package confine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
)

// With this in its environment, the test binary is the program.
const programVariable = "CORDON_JAIL_TEST_PROGRAM"

func TestMain(m *testing.M) {
	switch os.Getenv(programVariable) {
	case "":
		os.Exit(m.Run())
	case "answer":
		word := make([]byte, 100)
		n, err := unix.Read(ControlFD, word)
		answer(string(word[:max(0, n)]), err, os.Args[1:], len(os.Environ()))
	case "descriptors":
		var open []int
		for fd := range 3000 {
			if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
				open = append(open, fd)
			}
		}
		answer(open)
	}
}

func answer(words ...any) {
	if _, err := unix.Write(ControlFD, fmt.Append(nil, words...)); err != nil {
		os.Exit(1) // the test gets no message and fails
	}
}

// bare is a program without walls: these tests are about how it is started.
func bare(argv ...string) Spec {
	return Spec{Plan: Plan{Environment: true}, Argv: argv}
}

func ownProgram(t *testing.T, what string, args ...string) Spec {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	spec := bare(append([]string{self}, args...)...)
	spec.Env = []string{programVariable + "=" + what}
	return spec
}

// readControl waits for a message on the control socket of a process and returns it.
func readControl(t *testing.T, p *Process) []byte {
	t.Helper()
	buffer := make([]byte, 4096)
	n, err := unix.Read(p.Control, buffer)
	if err != nil {
		t.Fatal(err)
	}
	return buffer[:n]
}

// startProcess starts a process that is killed when the test ends.
func startProcess(t *testing.T, spec Spec) *Process {
	t.Helper()
	p, err := Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Kill()
		p.Wait()
		unix.Close(p.Control)
	})
	return p
}

func TestStartExecutes(t *testing.T) {
	spec := ownProgram(t, "answer", "x y", "")
	spec.Messages = func() ([][]byte, error) { return [][]byte{[]byte("hello")}, nil }
	if got := string(readControl(t, startProcess(t, spec))); got != "hello<nil> [x y ] 1" {
		t.Errorf("%q", got)
	}
}

// A program whose messages cannot be made is not executed, and its child is gone.
func TestStartWithoutMessages(t *testing.T) {
	spec, broken := ownProgram(t, "answer"), errors.New("no messages")
	spec.Messages = func() ([][]byte, error) { return nil, broken }
	if _, err := Start(t.Context(), spec); !errors.Is(err, broken) {
		t.Errorf("%v, want %v", err, broken)
	}
	if left := hosttest.Children(t); len(left) > 0 {
		t.Errorf("there are processes: %v", left)
	}
}

// The program has the control socket, the standard streams, and no other descriptor that
// the host left open, whatever its number.
func TestStartInheritsNothing(t *testing.T) {
	for _, at := range []int{50, ControlFD, MountNSFD, PIDNSFD, 2000} {
		fd, err := unix.FcntlInt(0, unix.F_DUPFD, at) // without FD_CLOEXEC
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(fd)
	}
	got := string(readControl(t, startProcess(t, ownProgram(t, "descriptors"))))
	if want := "[0 1 2 1020]"; got != want {
		t.Errorf("descriptors %s, want %s", got, want)
	}
}

func TestStartNamesFailedStep(t *testing.T) {
	p := startProcess(t, bare("/no/such/program"))
	failure, ok := p.Failure(readControl(t, p))
	want := &SetupError{Step: "execute /no/such/program", Cause: "ENOENT (no such file or directory)", Errno: unix.ENOENT}
	if !ok || !reflect.DeepEqual(failure, want) {
		t.Errorf("%v, want %v", failure, want)
	}
	for _, message := range []string{"", "F", "Z", "F\x00\xff\xff\x01\x00"} {
		if failure, ok := p.Failure([]byte(message)); ok {
			t.Errorf("%q is read as %v", message, failure)
		}
	}
}

// startProgram starts a child with a program of its own, and returns our end of its control
// socket, whose closing ends the program.
func startProgram(t *testing.T, namespaces uintptr, build func(control, parting int) *program) (*Process, int) {
	t.Helper()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	process, err := cloneAndWatch(namespaces, func(parting int) *program { return build(pair[1], parting) }, func() {})
	unix.Close(pair[1])
	if err != nil {
		t.Fatal(err)
	}
	return process, pair[0]
}

// await adds a call that waits for a message.
func (p *program) await() {
	p.call(unix.SYS_RECVFROM, p.control, keep(p, new(byte)), 1).positive = true
}

// A Runner that dies during a start leaves no child behind, even if several were
// starting: each of them inherits the sockets of the others.
func TestChildrenEndWithRunner(t *testing.T) {
	var ours []int
	var children []*Process
	null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(null)
	for range 3 {
		p, control := startProgram(t, 0, func(control, parting int) *program {
			return compile(bare("/bin/true"), belongings{null: null, control: control, parting: parting})
		})
		ours, children = append(ours, control), append(children, p)
	}
	for _, fd := range ours {
		unix.Close(fd) // as the kernel does
	}
	for _, p := range children {
		if status, _ := p.Wait(); status.ExitStatus() != 1 {
			t.Errorf("status %v: it went on", status)
		}
	}
}

// A later fork, or a later execution, finds no child that could still write to files that
// were open during the fork, however late that child ran.
func TestForkWaitsUntilChildClosedDescriptors(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "program"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	process, control := startProgram(t, 0, func(control, parting int) *program {
		p := newProgram(control)
		p.step("late", false)
		p.call(unix.SYS_NANOSLEEP, keep(p, &unix.Timespec{Nsec: 100_000_000}), 0)
		p.closeAllBut(3, control, parting)
		p.part(parting)
		p.await()
		return p
	})
	defer process.Wait()
	defer unix.Close(control)
	open, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", process.Pid))
	if err != nil || len(open) == 0 {
		t.Fatalf("%q, %v", open, err)
	}
	for _, fd := range open {
		if to, err := os.Readlink(fd); err != nil || to == file.Name() {
			t.Errorf("the child has %s (%s, %v)", fd, to, err)
		}
	}

	syscall.ForkLock.Lock() // as during a fork
	executed := make(chan error)
	go func() { executed <- (&Init{Control: -1}).Execute("/bin/true", nil, nil) }()
	select {
	case <-executed:
		t.Error("a command is executed while a fork is under way")
		syscall.ForkLock.Unlock()
	case <-time.After(100 * time.Millisecond):
		syscall.ForkLock.Unlock()
		<-executed
	}
}

// A host may have closed its standard streams, or have a thousand descriptors open.
func TestDescriptorsMoveApart(t *testing.T) {
	stdin, err := unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		t.Fatal(err)
	}
	var low descriptorSet
	if moved, err := low.add(0, nil); err != nil || moved < 3 {
		t.Errorf("0 becomes %d, %v", moved, err)
	}
	low.close()
	if err := unix.Dup3(stdin, 0, 0); err != nil {
		t.Fatal(err)
	}
	unix.Close(stdin)
	for _, at := range []int{ControlFD, MountNSFD, PIDNSFD} {
		fd, err := unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, at)
		if err != nil {
			t.Fatal(err)
		}
		var set descriptorSet
		moved, err := set.add(fd, nil)
		if err != nil || moved >= ControlFD && moved <= PIDNSFD {
			t.Errorf("%d becomes %d, %v", fd, moved, err)
		}
		set.close()
		for _, fd := range []int{fd, moved} {
			if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != unix.EBADF {
				t.Errorf("%d stays open: %v", fd, err)
			}
		}
	}
}

// A child that ends before it has read its messages, which are more than fit into the socket, keeps
// nobody waiting.
func TestStartDoesNotWaitForADeadChild(t *testing.T) {
	spec := bare("/bin/true")
	spec.Messages = func() ([][]byte, error) { return slices.Repeat([][]byte{make([]byte, 100_000)}, 20), nil }
	ended := make(chan error, 1)
	go func() {
		p, err := Start(t.Context(), spec)
		if err == nil {
			p.Kill()
			p.Wait()
			unix.Close(p.Control)
		}
		ended <- err
	}()
	select {
	case err := <-ended:
		if !errors.Is(err, unix.EPIPE) && !errors.Is(err, unix.ECONNRESET) {
			t.Errorf("%v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it waits")
	}
}

// A child that does not read its messages is ended with the context.
func TestStartEndsWithItsContext(t *testing.T) {
	spec := bare("/bin/sleep", "60")
	spec.Messages = func() ([][]byte, error) { return slices.Repeat([][]byte{make([]byte, 100_000)}, 20), nil }
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	if _, err := Start(ctx, spec); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it waited %v for the program", took)
	}
	if left := hosttest.Children(t); len(left) > 0 {
		t.Errorf("there are processes: %v", left)
	}
}
