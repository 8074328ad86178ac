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

	"github.com/cordon-sandbox/cordon/internal/seccomp"
)

// attempts are real system calls. Pointers are null and descriptors invalid, so that an
// allowed call fails with EFAULT or EBADF and a denied one with EPERM.
type attempt struct {
	name string
	nr   uintptr
	args [3]uintptr
	want syscall.Errno
}

var attempts = map[seccomp.Profile][]attempt{
	seccomp.Script: scriptAttempts, seccomp.Command: commandAttempts, seccomp.Watched: watchedAttempts, seccomp.Shared: sharedAttempts, seccomp.Unscoped: unscopedAttempts,
	seccomp.GVisor: gvisorAttempts, seccomp.Networked: networkedAttempts,
}

var networkedAttempts = []attempt{
	{"socket inet, other protocol", unix.SYS_SOCKET, [3]uintptr{unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_SCTP}, unix.EPERM},
	{"socket inet, datagrams", unix.SYS_SOCKET, [3]uintptr{unix.AF_INET, unix.SOCK_DGRAM}, unix.EPERM},
	{"socket inet, raw", unix.SYS_SOCKET, [3]uintptr{unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_TCP}, unix.EPERM},
	{"socket inet, high bit", unix.SYS_SOCKET, [3]uintptr{unix.AF_INET | 1<<32, unix.SOCK_STREAM}, unix.EPERM},
	{"socket unix", unix.SYS_SOCKET, [3]uintptr{unix.AF_UNIX, unix.SOCK_STREAM}, unix.EPERM},
	{"socket netlink", unix.SYS_SOCKET, [3]uintptr{unix.AF_NETLINK, unix.SOCK_RAW}, unix.EPERM},
	{"connect", unix.SYS_CONNECT, [3]uintptr{1000}, unix.EBADF},
	{"setsockopt keepalive", unix.SYS_SETSOCKOPT, [3]uintptr{1000, unix.SOL_SOCKET, unix.SO_KEEPALIVE}, unix.EBADF},
	{"setsockopt filter", unix.SYS_SETSOCKOPT, [3]uintptr{1000, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER}, unix.EPERM},
	{"setsockopt ULP", unix.SYS_SETSOCKOPT, [3]uintptr{1000, unix.IPPROTO_TCP, unix.TCP_ULP}, unix.EPERM},
	{"bind", unix.SYS_BIND, [3]uintptr{1000}, unix.EPERM},
	{"listen", unix.SYS_LISTEN, [3]uintptr{1000}, unix.EPERM},
	{"accept4", unix.SYS_ACCEPT4, [3]uintptr{1000}, unix.EPERM},
	{"sendmsg", unix.SYS_SENDMSG, [3]uintptr{1000}, unix.EPERM},
	{"execve", unix.SYS_EXECVE, [3]uintptr{}, unix.EPERM},
	{"clone, a process", unix.SYS_CLONE, [3]uintptr{uintptr(unix.SIGCHLD)}, unix.EPERM},
}

var scriptAttempts = []attempt{
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

var commandAttempts = []attempt{
	{"getpid", unix.SYS_GETPID, [3]uintptr{}, 0},
	{"openat", unix.SYS_OPENAT, [3]uintptr{}, unix.EFAULT},
	{"openat, new file", unix.SYS_OPENAT, [3]uintptr{0, 0, unix.O_CREAT}, unix.EFAULT},
	{"openat2", unix.SYS_OPENAT2, [3]uintptr{}, unix.ENOSYS},
	{"execve", unix.SYS_EXECVE, [3]uintptr{}, unix.EFAULT},
	{"execveat", unix.SYS_EXECVEAT, [3]uintptr{1000}, unix.EFAULT},
	{"clone, new user namespace", unix.SYS_CLONE, [3]uintptr{unix.CLONE_NEWUSER | uintptr(unix.SIGCHLD)}, unix.EPERM},
	{"clone, high bit", unix.SYS_CLONE, [3]uintptr{unix.CLONE_NEWUSER | 1<<36}, unix.EPERM},
	{"clone, a sibling", unix.SYS_CLONE, [3]uintptr{unix.CLONE_PARENT | uintptr(unix.SIGCHLD)}, unix.EPERM},
	{"clone3", unix.SYS_CLONE3, [3]uintptr{}, unix.ENOSYS},
	{"kill everybody", unix.SYS_KILL, [3]uintptr{^uintptr(0), 0}, 0},
	{"unshare", unix.SYS_UNSHARE, [3]uintptr{unix.CLONE_NEWUSER}, unix.EPERM},
	{"setns", unix.SYS_SETNS, [3]uintptr{1000}, unix.EPERM},
	{"mount", unix.SYS_MOUNT, [3]uintptr{}, unix.EPERM},
	{"chroot", unix.SYS_CHROOT, [3]uintptr{}, unix.EPERM},
	{"ptrace", unix.SYS_PTRACE, [3]uintptr{unix.PTRACE_TRACEME}, unix.EPERM},
	{"process_vm_readv", unix.SYS_PROCESS_VM_READV, [3]uintptr{1}, unix.EPERM},
	{"pidfd_getfd", unix.SYS_PIDFD_GETFD, [3]uintptr{1000}, unix.EPERM},
	{"keyctl", unix.SYS_KEYCTL, [3]uintptr{}, unix.EPERM},
	{"bpf", unix.SYS_BPF, [3]uintptr{}, unix.EPERM},
	{"userfaultfd", unix.SYS_USERFAULTFD, [3]uintptr{1 << 20}, unix.EPERM},
	{"io_uring_setup", unix.SYS_IO_URING_SETUP, [3]uintptr{1}, unix.ENOSYS},
	{"sync", unix.SYS_SYNC, [3]uintptr{}, unix.ENOSYS},
	{"open_by_handle_at", unix.SYS_OPEN_BY_HANDLE_AT, [3]uintptr{1000}, unix.EPERM},
	{"memfd_create", unix.SYS_MEMFD_CREATE, [3]uintptr{}, unix.EFAULT},
	{"fallocate", unix.SYS_FALLOCATE, [3]uintptr{1000, 0, 0}, unix.EOPNOTSUPP},
	{"fallocate, punch hole", unix.SYS_FALLOCATE, [3]uintptr{1000, unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_KEEP_SIZE, 0}, unix.EBADF},
	{"memfd_create, huge", unix.SYS_MEMFD_CREATE, [3]uintptr{0, unix.MFD_HUGETLB}, unix.EPERM},
	{"mknodat, FIFO", unix.SYS_MKNODAT, [3]uintptr{0, 0, unix.S_IFIFO}, unix.EFAULT},
	{"mknodat, device", unix.SYS_MKNODAT, [3]uintptr{0, 0, unix.S_IFCHR}, unix.EPERM},
	{"mknodat, set-user-id", unix.SYS_MKNODAT, [3]uintptr{0, 0, unix.S_IFREG | 0o4755}, unix.EPERM},
	{"personality, query", unix.SYS_PERSONALITY, [3]uintptr{0xffffffff}, 0},
	{"personality, other", unix.SYS_PERSONALITY, [3]uintptr{8}, unix.EPERM},
	{"prlimit64 read", unix.SYS_PRLIMIT64, [3]uintptr{0, unix.RLIMIT_AS, 0}, 0},
	{"prlimit64 of another", unix.SYS_PRLIMIT64, [3]uintptr{1, unix.RLIMIT_AS, 0}, unix.EPERM},
	{"sched_setscheduler, real time", unix.SYS_SCHED_SETSCHEDULER, [3]uintptr{0, unix.SCHED_FIFO}, unix.EPERM},
	{"sched_setscheduler, batch", unix.SYS_SCHED_SETSCHEDULER, [3]uintptr{0, unix.SCHED_BATCH}, unix.EINVAL},
	{"seccomp", unix.SYS_SECCOMP, [3]uintptr{unix.SECCOMP_SET_MODE_FILTER}, unix.EFAULT},
	{"seccomp, own listener", unix.SYS_SECCOMP, [3]uintptr{unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER}, unix.ENOSYS},
	{"socket inet", unix.SYS_SOCKET, [3]uintptr{unix.AF_INET, unix.SOCK_STREAM}, 0},
	{"socket inet, high bit", unix.SYS_SOCKET, [3]uintptr{unix.AF_INET | 1<<32, unix.SOCK_STREAM}, unix.EPERM},
	{"socket unix", unix.SYS_SOCKET, [3]uintptr{unix.AF_UNIX, unix.SOCK_DGRAM}, 0},
	{"socket routes", unix.SYS_SOCKET, [3]uintptr{unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE}, 0},
	{"socket netfilter", unix.SYS_SOCKET, [3]uintptr{unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_NETFILTER}, unix.EPERM},
	{"socket mptcp", unix.SYS_SOCKET, [3]uintptr{unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP}, unix.ENOSYS},
	{"socket ping", unix.SYS_SOCKET, [3]uintptr{unix.AF_INET, unix.SOCK_DGRAM, unix.IPPROTO_ICMP}, unix.EPERM},
	{"socket raw", unix.SYS_SOCKET, [3]uintptr{unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_RAW}, unix.EPERM},
	{"socket packet", unix.SYS_SOCKET, [3]uintptr{unix.AF_PACKET, unix.SOCK_RAW}, unix.EPERM},
	{"socket vsock", unix.SYS_SOCKET, [3]uintptr{unix.AF_VSOCK, unix.SOCK_STREAM}, unix.EPERM},
	{"setsockopt", unix.SYS_SETSOCKOPT, [3]uintptr{1000, unix.SOL_SOCKET, unix.SO_REUSEADDR}, unix.EBADF},
	{"setsockopt, a program", unix.SYS_SETSOCKOPT, [3]uintptr{1000, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER}, unix.EPERM},
	{"setsockopt, netfilter", unix.SYS_SETSOCKOPT, [3]uintptr{1000, unix.IPPROTO_IP, 64}, unix.EPERM},
	{"setsockopt, kernel TLS", unix.SYS_SETSOCKOPT, [3]uintptr{1000, unix.IPPROTO_TCP, unix.TCP_ULP}, unix.EPERM},
	{"ioctl TIOCSCTTY", unix.SYS_IOCTL, [3]uintptr{1000, unix.TIOCSCTTY}, unix.EBADF},
	{"ioctl TIOCSTI", unix.SYS_IOCTL, [3]uintptr{1000, unix.TIOCSTI}, unix.EPERM},
	{"ioctl TIOCSTI, high bit", unix.SYS_IOCTL, [3]uintptr{1000, unix.TIOCSTI | 1<<32}, unix.EPERM},
	{"ioctl TIOCLINUX", unix.SYS_IOCTL, [3]uintptr{1000, unix.TIOCLINUX}, unix.EPERM},
	{"fcntl F_SETOWN", unix.SYS_FCNTL, [3]uintptr{1000, unix.F_SETOWN}, unix.EBADF},
	{"fcntl F_SETLEASE", unix.SYS_FCNTL, [3]uintptr{1000, unix.F_SETLEASE}, unix.EPERM},
	{"prctl dumpable", unix.SYS_PRCTL, [3]uintptr{unix.PR_SET_DUMPABLE, 1}, 0},
	{"prctl speculation", unix.SYS_PRCTL, [3]uintptr{unix.PR_SET_SPECULATION_CTRL}, unix.EPERM},
	{"a call of the future", 599, [3]uintptr{}, unix.EPERM},
}

var watchedAttempts = []attempt{
	{"memfd_create", unix.SYS_MEMFD_CREATE, [3]uintptr{}, unix.ENOSYS},
	{"memfd_create, huge", unix.SYS_MEMFD_CREATE, [3]uintptr{0, unix.MFD_HUGETLB}, unix.ENOSYS},
	{"shmget, large", unix.SYS_SHMGET, [3]uintptr{0, 4096, 0o1600}, unix.EPERM},
	{"shmget, small, without permission to make it", unix.SYS_SHMGET, [3]uintptr{1 << 30, 56, 0}, unix.ENOENT},
	{"fallocate", unix.SYS_FALLOCATE, [3]uintptr{1000, 0, 0}, unix.EOPNOTSUPP},
}

// sharedAttempts are made without a host that answers.
var sharedAttempts = []attempt{
	{"clone, a process", unix.SYS_CLONE, [3]uintptr{uintptr(unix.SIGCHLD)}, 0},
	{"clone, namespaces", unix.SYS_CLONE, [3]uintptr{unix.CLONE_NEWUSER}, unix.EPERM},
	{"kill", unix.SYS_KILL, [3]uintptr{0, 0}, 0},
	{"fchmod", unix.SYS_FCHMOD, [3]uintptr{1000, 0o600}, unix.EPERM},
	{"fchown", unix.SYS_FCHOWN, [3]uintptr{1000}, unix.EPERM},
	{"utimensat", unix.SYS_UTIMENSAT, [3]uintptr{1000}, unix.EPERM},
	{"fsetxattr", unix.SYS_FSETXATTR, [3]uintptr{1000}, unix.EOPNOTSUPP},
	{"inotify_add_watch", unix.SYS_INOTIFY_ADD_WATCH, [3]uintptr{1000}, unix.EPERM},
	{"shmget", unix.SYS_SHMGET, [3]uintptr{1 << 30, 56, 0}, unix.EPERM},
	{"mq_open", unix.SYS_MQ_OPEN, [3]uintptr{}, unix.EPERM},
	{"setpriority", unix.SYS_SETPRIORITY, [3]uintptr{0, 0, 0}, 0},
	{"setpriority of another process", unix.SYS_SETPRIORITY, [3]uintptr{0, 1, 0}, unix.EPERM},
	{"setpriority of a user", unix.SYS_SETPRIORITY, [3]uintptr{2, 0, 0}, unix.EPERM},
	{"sched_setaffinity of another process", unix.SYS_SCHED_SETAFFINITY, [3]uintptr{1}, unix.EPERM},
	{"socketpair", unix.SYS_SOCKETPAIR, [3]uintptr{unix.AF_UNIX, unix.SOCK_STREAM}, unix.EFAULT},
	{"socketpair of datagrams", unix.SYS_SOCKETPAIR, [3]uintptr{unix.AF_UNIX, unix.SOCK_DGRAM}, unix.EPERM},
	{"socket of datagrams", unix.SYS_SOCKET, [3]uintptr{unix.AF_UNIX, unix.SOCK_DGRAM}, unix.ENOSYS},
	{"socket inet", unix.SYS_SOCKET, [3]uintptr{unix.AF_INET, unix.SOCK_STREAM}, unix.EPERM},
	{"socket UDP", unix.SYS_SOCKET, [3]uintptr{unix.AF_INET, unix.SOCK_DGRAM}, unix.EPERM},
	{"socket netlink", unix.SYS_SOCKET, [3]uintptr{unix.AF_NETLINK, unix.SOCK_RAW}, unix.ENOSYS},
	{"connect", unix.SYS_CONNECT, [3]uintptr{1000}, unix.EPERM},
	{"bind", unix.SYS_BIND, [3]uintptr{1000}, unix.EPERM},
	{"listen", unix.SYS_LISTEN, [3]uintptr{1000}, unix.EPERM},
	{"sendto", unix.SYS_SENDTO, [3]uintptr{1000}, unix.EBADF},
	{"fcntl F_SETOWN", unix.SYS_FCNTL, [3]uintptr{1000, unix.F_SETOWN}, unix.EPERM},
	{"prctl not dumpable", unix.SYS_PRCTL, [3]uintptr{unix.PR_SET_DUMPABLE, 0}, unix.EPERM},
	{"prctl dumpable", unix.SYS_PRCTL, [3]uintptr{unix.PR_SET_DUMPABLE, 1}, 0},
	{"memfd_create", unix.SYS_MEMFD_CREATE, [3]uintptr{}, unix.ENOSYS},
}

var unscopedAttempts = []attempt{
	{"kill", unix.SYS_KILL, [3]uintptr{0, 0}, unix.EPERM},
	{"tgkill", unix.SYS_TGKILL, [3]uintptr{1, 1, 0}, unix.EPERM},
	{"pidfd_open", unix.SYS_PIDFD_OPEN, [3]uintptr{1}, unix.EPERM},
	{"setsid", unix.SYS_SETSID, [3]uintptr{}, unix.EPERM},
	{"setpgid", unix.SYS_SETPGID, [3]uintptr{}, unix.EPERM},
}

var gvisorAttempts = []attempt{
	{"clone, namespaces, high bit", unix.SYS_CLONE, [3]uintptr{unix.CLONE_NEWUSER | 1<<36}, unix.EPERM},
	{"clone, a cgroup namespace", unix.SYS_CLONE, [3]uintptr{unix.CLONE_NEWCGROUP}, unix.EPERM},
	{"clone3", unix.SYS_CLONE3, [3]uintptr{}, unix.ENOSYS},
	{"mount", unix.SYS_MOUNT, [3]uintptr{0, 0}, unix.EFAULT},
	{"umount2", unix.SYS_UMOUNT2, [3]uintptr{0}, unix.EFAULT},
	{"chroot", unix.SYS_CHROOT, [3]uintptr{0}, unix.EFAULT},
	{"ptrace attach", unix.SYS_PTRACE, [3]uintptr{unix.PTRACE_ATTACH, 1 << 30}, unix.ESRCH},
	{"ptrace peek", unix.SYS_PTRACE, [3]uintptr{unix.PTRACE_PEEKTEXT, 1 << 30}, unix.EPERM},
	{"ptrace poke", unix.SYS_PTRACE, [3]uintptr{unix.PTRACE_POKEDATA, 1 << 30}, unix.EPERM},
	{"process_vm_readv", unix.SYS_PROCESS_VM_READV, [3]uintptr{1 << 30}, unix.EPERM},
	{"unshare", unix.SYS_UNSHARE, [3]uintptr{unix.CLONE_NEWUSER}, unix.EPERM},
	{"setns", unix.SYS_SETNS, [3]uintptr{1000}, unix.EPERM},
	{"open_tree", unix.SYS_OPEN_TREE, [3]uintptr{0}, unix.EPERM},
	{"move_mount", unix.SYS_MOVE_MOUNT, [3]uintptr{0}, unix.EPERM},
	{"bpf", unix.SYS_BPF, [3]uintptr{}, unix.EPERM},
	{"io_uring_setup", unix.SYS_IO_URING_SETUP, [3]uintptr{1}, unix.ENOSYS},
	{"ioctl NOTIF_ADDFD", unix.SYS_IOCTL, [3]uintptr{1000, 0x40182103}, unix.EPERM},
	{"memfd_create", unix.SYS_MEMFD_CREATE, [3]uintptr{}, unix.EFAULT},
}

func attemptAll(profile seccomp.Profile) {
	for _, a := range attempts[profile] {
		pid, _, errno := unix.RawSyscall6(a.nr, a.args[0], a.args[1], a.args[2], 0, 0, 0)
		if a.nr == unix.SYS_CLONE && errno == 0 && pid == 0 {
			// The filter allowed a new process: this is the child, which must exit.
			unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
		}
		fmt.Printf("%s: %d\n", a.name, errno)
	}
	if profile == seccomp.Unscoped {
		fmt.Println("threads: 0") // the runtime signals threads, and there is no host that allows it
		return
	}
	// Each goroutine locks a thread, so the runtime must call clone.
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

func TestKernelEnforces(t *testing.T) { inEachProfile(t, kernelEnforces) }

func kernelEnforces(t *testing.T, profile seccomp.Profile) {
	var out, complaints bytes.Buffer
	cmd := child(t.Context(), childAttempts, profile)
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s%s", err, out.String(), complaints.String())
	}
	got := make(map[string]string)
	for lines := bufio.NewScanner(&out); lines.Scan(); {
		name, errno, _ := strings.Cut(lines.Text(), ": ")
		got[name] = errno
	}
	for _, a := range attempts[profile] {
		if want := fmt.Sprint(int(a.want)); got[a.name] != want {
			t.Errorf("%s: errno %q, want %s (%v)", a.name, got[a.name], want, a.want)
		}
	}
	if got["threads"] != "0" {
		t.Error("threads did not start")
	}
}

func TestKernelKillsX32(t *testing.T) { inEachProfile(t, kernelKillsX32) }

func kernelKillsX32(t *testing.T, profile seccomp.Profile) {
	if runtime.GOARCH != "amd64" {
		return // no other architecture has this ABI
	}
	err := child(t.Context(), childX32, profile).Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		t.Fatalf("the child ended with %v, want killed", err)
	}
	if status := exit.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != syscall.SIGSYS {
		t.Errorf("the child ended with %v, want SIGSYS", err)
	}
}

// The filter must not block too much: CPython works behind it, and denied operations
// raise Python's usual exceptions.
func TestCPythonWorks(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Fatalf("this package exists for CPython, so its tests need one: %v", err)
	}
	for _, mode := range modes {
		t.Run(string(mode), func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), python, "-I", "testdata/probe.py",
				programFile(seccomp.Script, runtime.GOARCH, mode), fmt.Sprint(unix.SYS_SECCOMP), string(mode))
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "TMPDIR=" + t.TempDir()}
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
