//go:build amd64 || arm64

package seccomp_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	gseccomp "gvisor.dev/gvisor/pkg/seccomp"

	"github.com/cordon-sandbox/cordon/internal/seccomp"
	"github.com/cordon-sandbox/cordon/internal/seccomp/compile"
)

// A filter cannot be removed, so these tests run in a child: the test binary, executed
// again with one of these roles and a profile as its first arguments.
const (
	childAttempts = "seccomp-child-attempts"
	childX32      = "seccomp-child-x32"
	childWatched  = "seccomp-child-watched"
	childInstalls = "seccomp-child-installs"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 2 {
		profile := seccomp.Profile(os.Args[2])
		switch os.Args[1] {
		case childAttempts:
			runBehindFilter(profile, func() { attemptAll(profile) })
		case childX32:
			runBehindFilter(profile, func() { unix.RawSyscall(0x40000000|unix.SYS_GETPID, 0, 0, 0) })
		case childWatched:
			runWatched(profile, os.Args[3:])
		case childInstalls:
			installManyTimes(profile, seccomp.Mode(os.Args[3]))
		}
	}
	os.Exit(m.Run())
}

// child returns a command that runs the test binary in a role.
func child(ctx context.Context, role string, profile seccomp.Profile, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, "/proc/self/exe", append([]string{role, string(profile)}, args...)...)
}

// must exits a child that fails.
func must(err error, doing string) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", doing, err)
		os.Exit(3)
	}
}

// runBehindFilter installs the Errno program on all threads, calls act, and exits.
func runBehindFilter(profile seccomp.Profile, act func()) {
	prog, err := seccomp.Program(profile, seccomp.Errno)
	must(err, "finding the program")
	insns, err := compile.Decode(prog)
	must(err, "decoding the program")
	must(gseccomp.SetFilter(insns), "installing the filter")
	act()
	os.Exit(0)
}

// runWatched runs a program behind the Notify filter. Only this thread and its children
// have the filter; other threads answer the notifications. It writes each denial as a
// line to descriptor 3, and exits with the program's code.
func runWatched(profile seccomp.Profile, argv []string) {
	runtime.LockOSThread()
	prog, err := seccomp.Program(profile, seccomp.Notify)
	must(err, "finding the program")
	denials := os.NewFile(3, "denials")
	unix.CloseOnExec(3)
	listener, err := installHere(prog, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER)
	must(err, "installing the filter")
	unix.CloseOnExec(listener)
	go refuseAll(listener, func(op, detail string) { fmt.Fprintf(denials, "%s(%s)\n", op, detail) })

	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var exit *exec.ExitError
	if err := cmd.Run(); errors.As(err, &exit) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	} else {
		must(err, "running the program")
	}
	os.Exit(0)
}

// installManyTimes prints the durations of single installations in nanoseconds. Each is
// on a new thread, which ends with its filter.
func installManyTimes(profile seccomp.Profile, mode seccomp.Mode) {
	prog, err := seccomp.Program(profile, mode)
	must(err, "finding the program")
	var flags uintptr
	if mode == seccomp.Notify {
		flags = unix.SECCOMP_FILTER_FLAG_NEW_LISTENER
	}
	for range 300 {
		took := make(chan time.Duration)
		go func() {
			runtime.LockOSThread() // never unlocked: the thread ends here
			begin := time.Now()
			listener, err := installHere(prog, flags)
			end := time.Since(begin)
			must(err, "installing the filter")
			if mode == seccomp.Notify {
				must(unix.Close(listener), "closing the listener")
			}
			took <- end
		}()
		fmt.Println((<-took).Nanoseconds())
	}
	os.Exit(0)
}
