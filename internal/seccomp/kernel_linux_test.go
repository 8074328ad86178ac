//go:build amd64 || arm64

package seccomp_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
	gseccomp "gvisor.dev/gvisor/pkg/seccomp"

	"github.com/cordon-sandbox/cordon/internal/seccomp"
	"github.com/cordon-sandbox/cordon/internal/seccomp/compile"
)

// A filter cannot be taken off again, so each of these runs in a child: the test
// binary, executed again with one of these words as its only argument.
const (
	childAttempts = "seccomp-child-attempts"
	childX32      = "seccomp-child-x32"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 2 {
		switch os.Args[1] {
		case childAttempts:
			walled(attemptAll)
		case childX32:
			walled(func() { unix.RawSyscall(0x40000000|unix.SYS_GETPID, 0, 0, 0) })
		}
	}
	os.Exit(m.Run())
}

// walled installs the Errno program on all threads, acts, and exits.
func walled(act func()) {
	prog, err := seccomp.Program(seccomp.Errno)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	insns, err := compile.Decode(prog)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	if err := gseccomp.SetFilter(insns); err != nil {
		fmt.Fprintln(os.Stderr, "installing the filter:", err)
		os.Exit(3)
	}
	act()
	os.Exit(0)
}

// attempts are made for real. Pointers are null and descriptors bad: what the
// filter lets through answers EFAULT or EBADF, which tells it from EPERM.
var attempts = []struct {
	name string
	nr   uintptr
	args [3]uintptr
	want syscall.Errno
}{
	{"getpid", unix.SYS_GETPID, [3]uintptr{}, 0},
	{"openat", unix.SYS_OPENAT, [3]uintptr{}, unix.EFAULT},
	{"read", unix.SYS_READ, [3]uintptr{1000}, unix.EBADF},
	{"ioctl TCGETS", unix.SYS_IOCTL, [3]uintptr{1000, unix.TCGETS}, unix.EBADF},
	{"fcntl F_GETFD", unix.SYS_FCNTL, [3]uintptr{1000, unix.F_GETFD}, unix.EBADF},
	{"socketpair unix", unix.SYS_SOCKETPAIR, [3]uintptr{unix.AF_UNIX, unix.SOCK_STREAM}, unix.EFAULT},
	{"sendmsg control", unix.SYS_SENDMSG, [3]uintptr{seccomp.ControlFD}, unix.EBADF},
	{"prlimit64 read", unix.SYS_PRLIMIT64, [3]uintptr{0, unix.RLIMIT_AS, 0}, 0},
	{"socket inet", unix.SYS_SOCKET, [3]uintptr{unix.AF_INET, unix.SOCK_STREAM}, unix.EPERM},
	{"socket inet, high bit", unix.SYS_SOCKET, [3]uintptr{unix.AF_INET | 1<<32, unix.SOCK_STREAM}, unix.EPERM},
	{"socket unix", unix.SYS_SOCKET, [3]uintptr{unix.AF_UNIX, unix.SOCK_STREAM}, unix.EPERM},
	{"socketpair, high bit", unix.SYS_SOCKETPAIR, [3]uintptr{unix.AF_UNIX | 1<<32, unix.SOCK_STREAM}, unix.EPERM},
	{"sendmsg", unix.SYS_SENDMSG, [3]uintptr{1000}, unix.EPERM},
	{"ioctl TIOCSTI", unix.SYS_IOCTL, [3]uintptr{1000, unix.TIOCSTI}, unix.EPERM},
	{"ioctl TIOCSTI, high bit", unix.SYS_IOCTL, [3]uintptr{1000, unix.TIOCSTI | 1<<32}, unix.EPERM},
	{"fcntl F_SETOWN", unix.SYS_FCNTL, [3]uintptr{1000, unix.F_SETOWN}, unix.EPERM},
	{"clone, a process", unix.SYS_CLONE, [3]uintptr{uintptr(unix.SIGCHLD)}, unix.EPERM},
	{"clone, namespaces", unix.SYS_CLONE, [3]uintptr{unix.CLONE_NEWUSER | 1<<36}, unix.EPERM},
	{"clone3", unix.SYS_CLONE3, [3]uintptr{}, unix.ENOSYS},
	{"execve", unix.SYS_EXECVE, [3]uintptr{}, unix.EPERM},
	{"ptrace", unix.SYS_PTRACE, [3]uintptr{unix.PTRACE_TRACEME}, unix.EPERM},
	{"unshare", unix.SYS_UNSHARE, [3]uintptr{unix.CLONE_NEWUSER}, unix.EPERM},
	{"memfd_create", unix.SYS_MEMFD_CREATE, [3]uintptr{}, unix.EPERM},
	{"io_uring_setup", unix.SYS_IO_URING_SETUP, [3]uintptr{1}, unix.EPERM},
	{"bpf", unix.SYS_BPF, [3]uintptr{}, unix.EPERM},
	{"seccomp", unix.SYS_SECCOMP, [3]uintptr{}, unix.EPERM},
	{"kill everybody", unix.SYS_KILL, [3]uintptr{^uintptr(0), 0}, unix.EPERM},
	{"prlimit64 of another", unix.SYS_PRLIMIT64, [3]uintptr{1, unix.RLIMIT_AS, 0}, unix.EPERM},
	{"a call of the future", 599, [3]uintptr{}, unix.EPERM},
}

func attemptAll() {
	for _, a := range attempts {
		_, _, errno := unix.RawSyscall6(a.nr, a.args[0], a.args[1], a.args[2], 0, 0, 0)
		fmt.Printf("%s: %d\n", a.name, errno)
	}
	// Each goroutine holds a thread, so the runtime must clone.
	var running, all sync.WaitGroup
	for range 8 {
		running.Add(1)
		all.Go(func() {
			runtime.LockOSThread()
			running.Done()
			running.Wait()
		})
	}
	all.Wait()
	fmt.Println("threads: 0")
}

func TestKernelEnforces(t *testing.T) {
	var out, complaints bytes.Buffer
	cmd := exec.CommandContext(t.Context(), os.Args[0], childAttempts)
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s%s", err, out.String(), complaints.String())
	}
	got := make(map[string]string)
	for lines := bufio.NewScanner(&out); lines.Scan(); {
		name, errno, _ := strings.Cut(lines.Text(), ": ")
		got[name] = errno
	}
	for _, a := range attempts {
		if want := fmt.Sprint(int(a.want)); got[a.name] != want {
			t.Errorf("%s: errno %q, want %s (%v)", a.name, got[a.name], want, a.want)
		}
	}
	if got["threads"] != "0" {
		t.Error("threads did not start")
	}
}

func TestKernelKillsX32(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		return // no other architecture has this ABI
	}
	err := exec.CommandContext(t.Context(), os.Args[0], childX32).Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		t.Fatalf("the child ended with %v, want killed", err)
	}
	if status := exit.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != syscall.SIGSYS {
		t.Errorf("the child ended with %v, want SIGSYS", err)
	}
}

// Over-blocking is a failure too: CPython does its ordinary work behind the
// program, and what it may not do fails in Python's own words.
func TestCPythonWorks(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Fatalf("this package exists for CPython, so its tests need one: %v", err)
	}
	for _, mode := range modes {
		t.Run(string(mode), func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), python, "-I", "testdata/probe.py",
				fmt.Sprintf("program/%s-%s.bin", runtime.GOARCH, mode), fmt.Sprint(unix.SYS_SECCOMP), string(mode))
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "TMPDIR=" + t.TempDir()}
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
