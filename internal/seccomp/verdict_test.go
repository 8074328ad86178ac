//go:build linux && (amd64 || arm64)

package seccomp_test

import (
	"slices"
	"testing"

	"golang.org/x/sys/unix"
	"gvisor.dev/gvisor/pkg/abi/linux"
	"pgregory.net/rapid"

	"github.com/cordon-sandbox/cordon/internal/seccomp"
)

const (
	threadGlibc = unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SYSVSEM | unix.CLONE_SIGHAND |
		unix.CLONE_THREAD | unix.CLONE_SETTLS | unix.CLONE_PARENT_SETTID | unix.CLONE_CHILD_CLEARTID
	threadMusl  = threadGlibc | unix.CLONE_DETACHED
	threadPlain = unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_THREAD
	high        = 1 << 32  // a bit that the kernel ignores
	top         = 1 << 63  // the same, at the top
	pointer     = 0x7fff00 // an address in the guest
	minusOne    = ^uint64(0)
	minusOne32  = 0xffffffff
)

// verdict is a call with arguments and its expected action.
type verdict struct {
	call string
	args [6]uint64
	want seccomp.Action
}

func a(args ...uint64) (out [6]uint64) { copy(out[:], args); return out }

// check runs the programs of a profile on every architecture that has the call.
func check(t *testing.T, profile seccomp.Profile, tests []verdict) {
	t.Helper()
	all := machines(t, profile)
	for _, test := range tests {
		ran := false
		for _, m := range all {
			nr, ok := seccomp.NumberOn(m.arch, test.call)
			if !ok {
				continue
			}
			ran = true
			if got, want := m.ask(t, uint32(nr), m.audit, test.args), m.want(test.want); got != want {
				t.Errorf("%s: %s%#x: %v, want %v", m, test.call, test.args, got, want)
			}
		}
		if !ran {
			t.Errorf("%s: no architecture has it", test.call)
		}
	}
}

// The values come from x/sys/unix, not from the package.
func TestScriptVerdicts(t *testing.T) {
	check(t, seccomp.Script, []verdict{
		{"read", a(0, pointer, 10), seccomp.Allow},
		{"openat", a(minusOne, pointer, 0, 0), seccomp.Allow},
		{"open", a(pointer, 0), seccomp.Allow},
		{"mmap", a(0, 4096, unix.PROT_READ|unix.PROT_EXEC, unix.MAP_PRIVATE, 3), seccomp.Allow},
		{"mprotect", a(pointer, 4096, unix.PROT_READ|unix.PROT_EXEC), seccomp.Allow},
		{"exit_group", a(0), seccomp.Allow},
		{"rt_sigreturn", a(), seccomp.Allow},

		{"clone", a(threadGlibc, pointer), seccomp.Thread},
		{"clone", a(threadMusl, pointer), seccomp.Thread},
		{"clone", a(threadPlain, pointer), seccomp.Thread},
		{"clone", a(threadPlain | unix.CLONE_CHILD_SETTID), seccomp.Thread},
		{"clone", a(threadGlibc | high), seccomp.Deny},
		{"clone", a(threadGlibc | top), seccomp.Deny},
		{"clone", a(threadGlibc | unix.CLONE_NEWUSER), seccomp.Deny},
		{"clone", a(threadGlibc | unix.CLONE_NEWNS), seccomp.Deny},
		{"clone", a(threadGlibc | unix.CLONE_NEWPID), seccomp.Deny},
		{"clone", a(threadGlibc | unix.CLONE_NEWNET), seccomp.Deny},
		{"clone", a(threadGlibc | unix.CLONE_PTRACE), seccomp.Deny},
		{"clone", a(threadGlibc | unix.CLONE_PARENT), seccomp.Deny},
		{"clone", a(threadGlibc | unix.CLONE_PIDFD), seccomp.Deny},
		{"clone", a(threadGlibc | unix.CLONE_VFORK), seccomp.Deny},
		{"clone", a(threadGlibc | unix.CLONE_IO), seccomp.Deny},
		{"clone", a(threadGlibc | uint64(unix.SIGCHLD)), seccomp.Deny},
		{"clone", a(threadGlibc &^ unix.CLONE_THREAD), seccomp.Deny},
		{"clone", a(threadGlibc &^ unix.CLONE_VM), seccomp.Deny},
		{"clone", a(threadGlibc &^ unix.CLONE_FILES), seccomp.Deny},
		{"clone", a(uint64(unix.SIGCHLD)), seccomp.Deny},
		{"clone", a(unix.CLONE_VM | unix.CLONE_VFORK | uint64(unix.SIGCHLD)), seccomp.Deny},
		{"clone", a(unix.CLONE_NEWUSER | 1<<36), seccomp.Deny},
		{"clone", a(), seccomp.Deny},
		{"clone3", a(pointer, 88), seccomp.NoSys},
		{"fork", a(), seccomp.Deny},
		{"vfork", a(), seccomp.Deny},
		{"execve", a(pointer, pointer, pointer), seccomp.Deny},

		{"socket", a(unix.AF_INET, unix.SOCK_STREAM), seccomp.Deny},
		{"socket", a(unix.AF_INET|high, unix.SOCK_STREAM), seccomp.Deny},
		{"socket", a(unix.AF_UNIX, unix.SOCK_STREAM), seccomp.Deny},
		{"socket", a(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC), seccomp.Deny},
		{"socket", a(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK), seccomp.NoSys}, // nscd
		{"socket", a(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK), seccomp.Deny},
		{"mbind", a(pointer, 1<<20, 1), seccomp.NoSys},
		{"socketpair", a(unix.AF_UNIX, unix.SOCK_STREAM, 0, pointer), seccomp.Allow},
		{"socketpair", a(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0, pointer), seccomp.Allow},
		{"socketpair", a(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0, pointer), seccomp.Allow},
		{"socketpair", a(unix.AF_UNIX|high, unix.SOCK_STREAM, 0, pointer), seccomp.Deny},
		{"socketpair", a(unix.AF_UNIX, unix.SOCK_STREAM|high, 0, pointer), seccomp.Deny},
		{"socketpair", a(unix.AF_UNIX, unix.SOCK_RAW, 0, pointer), seccomp.Deny},
		{"socketpair", a(unix.AF_UNIX, unix.SOCK_STREAM, 1, pointer), seccomp.Deny},
		{"socketpair", a(unix.AF_TIPC, unix.SOCK_STREAM, 0, pointer), seccomp.Deny},
		{"socketpair", a(unix.AF_INET, unix.SOCK_STREAM, 0, pointer), seccomp.Deny},
		{"sendto", a(3, pointer, 1, 0, 0, 0), seccomp.Allow},
		{"sendto", a(3, pointer, 1, 0, pointer, 16), seccomp.Deny},
		{"sendto", a(3, pointer, 1, 0, high, 16), seccomp.Deny},
		{"recvfrom", a(3, pointer, 1, 0, 0, 0), seccomp.Allow},
		{"recvfrom", a(3, pointer, 1, 0, high, 0), seccomp.Deny},
		{"sendmsg", a(seccomp.ControlFD, pointer), seccomp.Allow},
		{"sendmsg", a(seccomp.ControlFD|high, pointer), seccomp.Deny},
		{"sendmsg", a(3, pointer), seccomp.Deny},
		{"recvmsg", a(seccomp.ControlFD, pointer), seccomp.Allow},
		{"recvmsg", a(0, pointer), seccomp.Deny},
		{"getsockopt", a(3, unix.SOL_SOCKET, unix.SO_TYPE), seccomp.Allow},
		{"getsockopt", a(3, unix.SOL_SOCKET, unix.SO_PEERPIDFD), seccomp.Deny},
		{"getsockopt", a(3, unix.SOL_IP, unix.SO_TYPE), seccomp.Deny},
		{"getsockopt", a(3, unix.SOL_SOCKET|high, unix.SO_TYPE), seccomp.Deny},
		{"setsockopt", a(3, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER), seccomp.Deny},

		{"fcntl", a(3, unix.F_DUPFD), seccomp.Allow},
		{"fcntl", a(3, unix.F_SETFL, unix.O_NONBLOCK), seccomp.Allow},
		{"fcntl", a(3, unix.F_SETLKW, pointer), seccomp.Allow},
		{"fcntl", a(3, unix.F_OFD_SETLK, pointer), seccomp.Allow},
		{"fcntl", a(3, unix.F_DUPFD_CLOEXEC), seccomp.Allow},
		{"fcntl", a(3, unix.F_GET_SEALS), seccomp.Allow},
		{"fcntl", a(3, unix.F_GETFD|high), seccomp.Deny},
		{"fcntl", a(3, unix.F_SETOWN, 1), seccomp.Deny},
		{"fcntl", a(3, unix.F_SETOWN|high, 1), seccomp.Deny},
		{"fcntl", a(3, unix.F_SETOWN_EX, pointer), seccomp.Deny},
		{"fcntl", a(3, unix.F_SETSIG, 9), seccomp.Deny},
		{"fcntl", a(3, unix.F_SETPIPE_SZ, 1<<20), seccomp.Deny},
		{"fcntl", a(3, unix.F_NOTIFY, 1), seccomp.Deny},
		{"fcntl", a(3, unix.F_SETLEASE, 1), seccomp.Deny},
		{"fcntl", a(3, unix.F_ADD_SEALS, 1), seccomp.Deny},
		{"fcntl", a(3, minusOne), seccomp.Deny},

		{"ioctl", a(1, unix.TCGETS, pointer), seccomp.Allow},
		{"ioctl", a(1, unix.TCGETS2, pointer), seccomp.Allow},
		{"ioctl", a(1, unix.TIOCGWINSZ, pointer), seccomp.Allow},
		{"ioctl", a(1, 0x541b, pointer), seccomp.Allow}, // FIONREAD
		{"ioctl", a(1, 0x5421, pointer), seccomp.Allow}, // FIONBIO
		{"ioctl", a(1, 0x5451), seccomp.Allow},          // FIOCLEX
		{"ioctl", a(1, 0x5450), seccomp.Allow},          // FIONCLEX
		{"ioctl", a(1, unix.FICLONE, 3), seccomp.Allow},
		{"ioctl", a(1, unix.TCGETS|high, pointer), seccomp.Deny},
		{"ioctl", a(0, unix.TIOCSTI, pointer), seccomp.Deny},
		{"ioctl", a(0, unix.TIOCSTI|high, pointer), seccomp.Deny},
		{"ioctl", a(0, unix.TIOCLINUX, pointer), seccomp.Deny},
		{"ioctl", a(0, unix.TIOCSCTTY, 1), seccomp.Deny},
		{"ioctl", a(0, unix.TCSETS, pointer), seccomp.Deny},

		{"kill", a(1, 9), seccomp.Allow},
		{"kill", a(0, 15), seccomp.Allow},
		{"kill", a(minusOne, 9), seccomp.Deny},
		{"kill", a(minusOne32, 9), seccomp.Deny},
		{"kill", a(minusOne-99, 9), seccomp.Deny},
		{"kill", a(1|high, 9), seccomp.Deny},
		{"tgkill", a(1, 1, 10), seccomp.Allow},
		{"rt_sigqueueinfo", a(1, 10, pointer), seccomp.Deny},

		{"prctl", a(unix.PR_SET_NAME, pointer), seccomp.Allow},
		{"prctl", a(unix.PR_GET_SECCOMP), seccomp.Allow},
		{"prctl", a(unix.PR_SET_VMA, 0, pointer), seccomp.Allow},
		{"prctl", a(unix.PR_SET_PDEATHSIG, 9), seccomp.Allow},
		{"prctl", a(unix.PR_SET_PDEATHSIG, 9|high), seccomp.Deny},
		{"prctl", a(unix.PR_SET_PDEATHSIG, 15), seccomp.Deny},
		{"prctl", a(unix.PR_SET_PDEATHSIG, 0), seccomp.Deny},
		{"prctl", a(unix.PR_SET_PDEATHSIG|high, 9), seccomp.Deny},
		{"prctl", a(unix.PR_SET_NO_NEW_PRIVS, 1), seccomp.Allow},
		{"prctl", a(unix.PR_SET_NAME|high, pointer), seccomp.Deny},
		{"prctl", a(unix.PR_SET_DUMPABLE, 1), seccomp.Deny},
		{"prctl", a(unix.PR_SET_SECCOMP, 2, pointer), seccomp.Deny},
		{"prctl", a(unix.PR_SET_SECUREBITS, 0), seccomp.Deny},
		{"prctl", a(unix.PR_SET_CHILD_SUBREAPER, 1), seccomp.Deny},
		{"prctl", a(unix.PR_SET_MM, 1), seccomp.Deny},
		{"prctl", a(unix.PR_SET_PTRACER, minusOne), seccomp.Deny},
		{"arch_prctl", a(0x1002, pointer), seccomp.Allow}, // ARCH_SET_FS
		{"arch_prctl", a(0x1001, pointer), seccomp.Deny},  // ARCH_SET_GS
		{"arch_prctl", a(0x1012, 0), seccomp.Deny},        // ARCH_SET_CPUID

		{"setns", a(seccomp.MountNSFD, unix.CLONE_NEWNS), seccomp.Allow},
		{"setns", a(seccomp.PIDNSFD, unix.CLONE_NEWPID), seccomp.Allow},
		{"setns", a(seccomp.PIDNSFD, unix.CLONE_NEWNS), seccomp.Deny},
		{"setns", a(seccomp.MountNSFD, 0), seccomp.Deny},
		{"setns", a(3, unix.CLONE_NEWNS), seccomp.Deny},
		{"setns", a(high|seccomp.MountNSFD, unix.CLONE_NEWNS), seccomp.Deny},
		{"setns", a(seccomp.MountNSFD, high|unix.CLONE_NEWNS), seccomp.Deny},
		{"prlimit64", a(0, unix.RLIMIT_AS, 0, pointer), seccomp.Allow},
		{"prlimit64", a(0, unix.RLIMIT_NOFILE, pointer, 0), seccomp.Allow},
		{"prlimit64", a(1, unix.RLIMIT_AS, 0, pointer), seccomp.Deny},
		{"prlimit64", a(high, unix.RLIMIT_AS, 0, pointer), seccomp.Deny},
		{"setrlimit", a(unix.RLIMIT_AS, pointer), seccomp.Deny},

		{"openat2", a(minusOne, pointer, pointer, 24), seccomp.NoSys},
		{"mseal", a(pointer, 4096), seccomp.NoSys},
		{"fchmodat2", a(minusOne, pointer, 0o600, 0x100), seccomp.Allow},
		{"memfd_create", a(pointer, 1), seccomp.Deny},
		{"personality", a(minusOne32), seccomp.Deny},
		{"landlock_restrict_self", a(3, 0), seccomp.Allow},
		{"capset", a(pointer, pointer), seccomp.Allow},
	})
}

// scriptNever is maintained by hand and not changed by -update, so that removing a line
// is a deliberate decision.
var scriptNever = []string{
	"socket", "connect", "bind", "listen", "accept", "accept4", "sendmmsg", "recvmmsg", "setsockopt",
	"fork", "vfork", "execve", "execveat", "ptrace", "process_vm_readv", "process_vm_writev",
	"process_madvise", "process_mrelease", "kcmp", "pidfd_open", "pidfd_getfd", "pidfd_send_signal",
	"io_uring_setup", "io_uring_enter", "io_uring_register", "io_setup", "io_submit",
	"bpf", "userfaultfd", "perf_event_open", "keyctl", "add_key", "request_key", "seccomp",
	"unshare", "mount", "umount2", "pivot_root", "chroot", "fsopen", "fsconfig", "fsmount",
	"fspick", "move_mount", "open_tree", "open_tree_attr", "mount_setattr", "statmount", "listmount",
	"setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid", "setgroups", "setfsuid", "setfsgid",
	"memfd_create", "memfd_secret", "shmget", "shmat", "shmctl", "semget", "semop", "msgget", "msgsnd", "mq_open",
	"name_to_handle_at", "open_by_handle_at", "mknod", "mknodat", "fanotify_init", "inotify_init1",
	"quotactl", "swapon", "swapoff", "reboot", "kexec_load", "kexec_file_load", "init_module",
	"finit_module", "delete_module", "clock_settime", "settimeofday", "adjtimex", "clock_adjtime",
	"acct", "vhangup", "modify_ldt", "iopl", "ioperm", "lookup_dcookie", "syslog", "sethostname",
	"setrlimit", "sched_setscheduler", "sched_setattr", "sched_setaffinity", "setpriority", "ioprio_set",
	"set_mempolicy", "migrate_pages", "move_pages", "personality",
	"setxattr", "lsetxattr", "fsetxattr", "setxattrat", "removexattr",
	"rt_sigqueueinfo", "rt_tgsigqueueinfo", "splice", "tee", "vmsplice", "timer_create",
	"chown", "fchown", "fchownat", "lchown", "sync", "syncfs", "mlock", "mlockall",
}

// sharedNever are the calls that reach the host without a namespace, and unscopedNever those
// that reach its processes.
var (
	sharedNever = []string{
		"memfd_create", "shmget", "shmat", "semget", "msgget", "mq_open", "bind", "listen", "connect", "inotify_add_watch",
		"chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat", "utime", "utimes", "futimesat", "utimensat",
	}
	unscopedNever = []string{
		"kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_open", "pidfd_send_signal", "setsid", "setpgid",
	}
)

// gvisorNeeds are the calls with which runsc builds its own sandbox.
var gvisorNeeds = []string{"mount", "umount2", "pivot_root", "chroot", "ptrace", "seccomp"}

func without(all, some []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(call string) bool { return slices.Contains(some, call) })
}

// isTCP reports whether these are arguments of socket for TCP.
func isTCP(args [6]uint64) bool {
	family, kind, protocol := args[0], args[1]&^(unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK), args[2]
	return (family == unix.AF_INET || family == unix.AF_INET6) && kind == unix.SOCK_STREAM && (protocol == 0 || protocol == unix.IPPROTO_TCP)
}

func TestNeverAllowed(t *testing.T) {
	never := map[seccomp.Profile][]string{
		seccomp.Script: scriptNever, seccomp.Command: commandNever, seccomp.Watched: append(commandNever, "memfd_create"),
		seccomp.Shared: slices.Concat(commandNever, sharedNever), seccomp.Unscoped: slices.Concat(commandNever, sharedNever, unscopedNever),
		seccomp.GVisor: without(commandNever, gvisorNeeds), seccomp.Networked: without(scriptNever, []string{"connect", "setsockopt"}),
	}
	inEachProfile(t, func(t *testing.T, profile seccomp.Profile) {
		all := machines(t, profile)
		rapid.Check(t, func(rt *rapid.T) {
			args := drawArgs(rt)
			for _, call := range never[profile] {
				if profile == seccomp.Networked && call == "socket" && isTCP(args) {
					continue // its connections
				}
				for _, m := range all {
					nr, ok := seccomp.NumberOn(m.arch, call)
					if !ok {
						continue
					}
					if got := m.ask(t, uint32(nr), m.audit, args); got != m.want(seccomp.Deny) && got != m.want(seccomp.NoSys) {
						rt.Fatalf("%s: %s%#x: %v", m, call, args, got)
					}
				}
			}
		})
	})
}

// Any call through another ABI kills the process: there, the same numbers mean other
// calls.
func TestForeignABIsAreKilled(t *testing.T) { inEachProfile(t, foreignABIsAreKilled) }

func foreignABIsAreKilled(t *testing.T, profile seccomp.Profile) {
	const x32 = 0x40000000
	foreign := map[string]uint32{
		"i386": 0x40000003, "arm": 0x40000028, "none": 0, "riscv64": 0xc00000f3,
		"amd64": linux.AUDIT_ARCH_X86_64, "arm64": linux.AUDIT_ARCH_AARCH64,
	}
	for _, m := range machines(t, profile) {
		for nr := uint32(0); nr <= 600; nr++ {
			for name, audit := range foreign {
				if name == m.arch {
					continue
				}
				if got := m.ask(t, nr, audit, [6]uint64{}); got != killed {
					t.Fatalf("%s: number %d of %s: %v", m, nr, name, got)
				}
			}
			got := m.ask(t, nr|x32, m.audit, [6]uint64{})
			if m.arch == "amd64" && got != killed {
				t.Fatalf("%s: x32 number %d: %v, want killed", m, nr, got)
			}
			if m.arch == "arm64" && got != m.want(seccomp.Deny) {
				t.Fatalf("%s: number %#x: %v, want denied", m, nr|x32, got)
			}
		}
	}
}
