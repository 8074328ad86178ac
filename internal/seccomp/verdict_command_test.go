//go:build linux && (amd64 || arm64)

package seccomp_test

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/seccomp"
)

const (
	sigchld      = uint64(unix.SIGCHLD)
	forkGlibc    = unix.CLONE_CHILD_CLEARTID | unix.CLONE_CHILD_SETTID | sigchld
	spawnGo      = unix.CLONE_VFORK | unix.CLONE_VM | unix.CLONE_PIDFD | sigchld
	allNewSpaces = unix.CLONE_NEWNS | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
		unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP
	stream = unix.SOCK_STREAM
	dgram  = unix.SOCK_DGRAM
	both   = unix.SOCK_CLOEXEC | unix.SOCK_NONBLOCK
)

func TestCommandModeVerdicts(t *testing.T) {
	var table []verdict
	for mode, want := range map[uint64]seccomp.Action{
		0o644: seccomp.Allow, 0o1777: seccomp.Allow, 0o100755: seccomp.Allow, 0o4755: seccomp.Deny, 0o2755: seccomp.Deny, 0o6000: seccomp.Deny,
	} {
		table = append(table,
			verdict{"chmod", a(pointer, mode), want}, verdict{"fchmod", a(3, mode), want},
			verdict{"fchmodat", a(3, pointer, mode), want}, verdict{"fchmodat2", a(3, pointer, mode, 0), want},
			verdict{"creat", a(pointer, mode), want}, verdict{"creat", a(pointer, mode|high), want})
		for _, flags := range []uint64{
			unix.O_CREAT, unix.O_CREAT | unix.O_EXCL | unix.O_WRONLY, unix.O_CREAT | unix.O_PATH,
			unix.O_TMPFILE | unix.O_RDWR, unix.O_TMPFILE &^ unix.O_DIRECTORY, unix.O_CREAT | high,
		} {
			table = append(table,
				verdict{"open", a(pointer, flags, mode), want}, verdict{"open", a(pointer, flags, mode|high), want},
				verdict{"openat", a(3, pointer, flags, mode), want}, verdict{"openat", a(3, pointer, flags, mode|1<<16), want})
		}
		// No file is created, so the mode is ignored.
		for _, flags := range []uint64{0, unix.O_RDWR | unix.O_TRUNC, unix.O_DIRECTORY, unix.O_PATH | high} {
			table = append(table,
				verdict{"open", a(pointer, flags, mode), seccomp.Allow}, verdict{"openat", a(3, pointer, flags, mode), seccomp.Allow})
		}
	}
	check(t, seccomp.Command, table)
}

func TestCommandProcessVerdicts(t *testing.T) {
	check(t, seccomp.Command, []verdict{
		{"clone", a(sigchld), seccomp.Allow},
		{"clone", a(forkGlibc), seccomp.Allow},
		{"clone", a(spawnGo), seccomp.Allow},
		{"clone", a(threadGlibc, pointer), seccomp.Allow},
		{"clone", a(threadMusl, pointer), seccomp.Allow},
		{"clone", a(unix.CLONE_VM | unix.CLONE_VFORK | sigchld), seccomp.Allow},
		{"clone", a(unix.CLONE_IO | sigchld), seccomp.Allow},
		{"clone", a(0), seccomp.Allow},
		{"clone", a(unix.CLONE_NEWNS | sigchld), seccomp.Deny},
		{"clone", a(unix.CLONE_NEWUSER | sigchld), seccomp.Deny},
		{"clone", a(unix.CLONE_NEWPID | sigchld), seccomp.Deny},
		{"clone", a(unix.CLONE_NEWNET | sigchld), seccomp.Deny},
		{"clone", a(unix.CLONE_NEWIPC | sigchld), seccomp.Deny},
		{"clone", a(unix.CLONE_NEWUTS | sigchld), seccomp.Deny},
		{"clone", a(unix.CLONE_NEWCGROUP | sigchld), seccomp.Deny},
		{"clone", a(allNewSpaces), seccomp.Deny},
		{"clone", a(threadGlibc | unix.CLONE_NEWUSER), seccomp.Deny},
		{"clone", a(sigchld | unix.CLONE_PTRACE), seccomp.Deny},
		{"clone", a(sigchld | unix.CLONE_UNTRACED), seccomp.Deny},
		{"clone", a(sigchld | unix.CLONE_PARENT), seccomp.Deny},
		{"clone", a(sigchld | high), seccomp.Deny},
		{"clone", a(sigchld | top), seccomp.Deny},
		{"clone", a(minusOne), seccomp.Deny},
		{"clone3", a(pointer, 88), seccomp.NoSys},
		{"fork", a(), seccomp.Allow},
		{"vfork", a(), seccomp.Allow},
		{"execve", a(pointer, pointer, pointer), seccomp.Allow},
		{"execveat", a(3, pointer, pointer, pointer, unix.AT_EMPTY_PATH), seccomp.Allow},
		{"wait4", a(minusOne, pointer), seccomp.Allow},
		{"waitid", a(unix.P_PIDFD, 3, pointer, unix.WEXITED), seccomp.Allow},
		{"setpgid", a(0, 0), seccomp.Allow},
		{"setsid", a(), seccomp.Allow},
		{"kill", a(minusOne, 9), seccomp.Allow},
		{"kill", a(minusOne32-99, 15), seccomp.Allow},
		{"kill", a(1, 0), seccomp.Allow},
		{"pidfd_open", a(7, 0), seccomp.Allow},
		{"pidfd_send_signal", a(3, 15), seccomp.Allow},
		{"pidfd_getfd", a(3, 0), seccomp.Deny},
		{"rt_sigqueueinfo", a(7, 10, pointer), seccomp.Allow},
		{"signalfd4", a(minusOne, pointer, 8), seccomp.Allow},
		{"timer_create", a(1, pointer, pointer), seccomp.Allow},
		{"unshare", a(unix.CLONE_NEWUSER), seccomp.Deny},
		{"unshare", a(0), seccomp.Deny},
		{"setns", a(3, unix.CLONE_NEWNS), seccomp.Deny},
		{"setns", a(seccomp.MountNSFD, unix.CLONE_NEWNS), seccomp.Deny},
		{"setns", a(seccomp.PIDNSFD, unix.CLONE_NEWPID), seccomp.Deny},
		{"ptrace", a(unix.PTRACE_TRACEME), seccomp.Deny},

		{"prlimit64", a(0, unix.RLIMIT_NOFILE, pointer, 0), seccomp.Allow},
		{"prlimit64", a(1, unix.RLIMIT_NOFILE, pointer, 0), seccomp.Deny},
		{"setrlimit", a(unix.RLIMIT_CORE, pointer), seccomp.Allow},
		{"setpriority", a(0, 0, 10), seccomp.Allow},
		{"sched_setaffinity", a(0, 8, pointer), seccomp.Allow},
		{"sched_setscheduler", a(0, unix.SCHED_NORMAL, pointer), seccomp.Allow},
		{"sched_setscheduler", a(0, unix.SCHED_BATCH, pointer), seccomp.Allow},
		{"sched_setscheduler", a(0, unix.SCHED_IDLE|unix.SCHED_RESET_ON_FORK, pointer), seccomp.Allow},
		{"sched_setscheduler", a(0, unix.SCHED_FIFO, pointer), seccomp.Deny},
		{"sched_setscheduler", a(0, unix.SCHED_RR, pointer), seccomp.Deny},
		{"sched_setscheduler", a(0, unix.SCHED_DEADLINE, pointer), seccomp.Deny},
		{"sched_setscheduler", a(0, unix.SCHED_FIFO|unix.SCHED_RESET_ON_FORK, pointer), seccomp.Deny},
		{"sched_setscheduler", a(0, unix.SCHED_BATCH|high, pointer), seccomp.Deny},
		{"sched_setattr", a(0, pointer), seccomp.NoSys},
		{"ioprio_set", a(1, 0, 3<<13), seccomp.Allow},
		{"setuid", a(1000), seccomp.Allow},
		{"setgroups", a(0, 0), seccomp.Allow},
		{"capset", a(pointer, pointer), seccomp.Allow},

		{"seccomp", a(unix.SECCOMP_SET_MODE_STRICT, 0, 0), seccomp.Allow},
		{"seccomp", a(unix.SECCOMP_SET_MODE_FILTER, 0, pointer), seccomp.Allow},
		{"seccomp", a(unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC|unix.SECCOMP_FILTER_FLAG_LOG|
			unix.SECCOMP_FILTER_FLAG_SPEC_ALLOW|unix.SECCOMP_FILTER_FLAG_TSYNC_ESRCH, pointer), seccomp.Allow},
		{"seccomp", a(unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, pointer), seccomp.NoSys},
		{"seccomp", a(unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER|unix.SECCOMP_FILTER_FLAG_TSYNC, pointer), seccomp.NoSys},
		{"seccomp", a(unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER|high, pointer), seccomp.NoSys},
		{"seccomp", a(unix.SECCOMP_SET_MODE_FILTER, 64, pointer), seccomp.Deny},
		{"seccomp", a(unix.SECCOMP_SET_MODE_FILTER, high, pointer), seccomp.Deny},
		{"seccomp", a(unix.SECCOMP_SET_MODE_FILTER|high, 0, pointer), seccomp.Deny},
		{"seccomp", a(unix.SECCOMP_SET_MODE_FILTER|high, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, pointer), seccomp.Deny},
		{"seccomp", a(unix.SECCOMP_GET_ACTION_AVAIL, 0, pointer), seccomp.Allow},
		{"seccomp", a(99), seccomp.Deny},
		{"prctl", a(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, pointer), seccomp.Allow},
		{"prctl", a(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_STRICT), seccomp.Allow},
		{"prctl", a(unix.PR_SET_SECCOMP, 3), seccomp.Deny},

		{"prctl", a(unix.PR_SET_PDEATHSIG, 9), seccomp.Allow},
		{"prctl", a(unix.PR_SET_PDEATHSIG, 15), seccomp.Allow},
		{"prctl", a(unix.PR_SET_PDEATHSIG|high, 15), seccomp.Deny},
		{"prctl", a(unix.PR_SET_DUMPABLE, 0), seccomp.Allow},
		{"prctl", a(unix.PR_SET_DUMPABLE, 1), seccomp.Allow},
		{"prctl", a(unix.PR_SET_DUMPABLE, 2), seccomp.Deny},
		{"prctl", a(unix.PR_SET_DUMPABLE, 1|high), seccomp.Deny},
		{"prctl", a(unix.PR_SET_NAME, pointer), seccomp.Allow},
		{"prctl", a(unix.PR_SET_CHILD_SUBREAPER, 1), seccomp.Allow},
		{"prctl", a(unix.PR_CAPBSET_READ, 40), seccomp.Allow},
		{"prctl", a(unix.PR_SET_NO_NEW_PRIVS, 1), seccomp.Allow},
		{"prctl", a(unix.PR_SET_VMA, 0, pointer), seccomp.Allow},
		{"prctl", a(unix.PR_SET_TIMERSLACK, 1), seccomp.Allow},
		{"prctl", a(unix.PR_SET_PTRACER, minusOne), seccomp.Allow},
		{"prctl", a(unix.PR_SET_MM, 1), seccomp.Deny},
		{"prctl", a(unix.PR_SET_SECUREBITS, 0), seccomp.Deny},
		{"prctl", a(unix.PR_SET_SPECULATION_CTRL, 0, 2), seccomp.Deny},
		{"prctl", a(unix.PR_SCHED_CORE, 1), seccomp.Deny},
		{"prctl", a(unix.PR_SET_TSC, 2), seccomp.Deny},
		{"prctl", a(unix.PR_SET_IO_FLUSHER, 1), seccomp.Deny},
		{"arch_prctl", a(0x1001, pointer), seccomp.Allow}, // ARCH_SET_GS
		{"arch_prctl", a(0x1023, 18), seccomp.Allow},      // ARCH_REQ_XCOMP_PERM
		{"arch_prctl", a(0x1012, 0), seccomp.Deny},        // ARCH_SET_CPUID
		{"arch_prctl", a(0x2003, pointer), seccomp.Deny},  // ARCH_MAP_VDSO_64

		{"personality", a(minusOne32), seccomp.Allow},
		{"personality", a(minusOne), seccomp.Allow},
		{"personality", a(0), seccomp.Allow},
		{"personality", a(0x40000), seccomp.Allow},                // ADDR_NO_RANDOMIZE
		{"personality", a(0x400000), seccomp.Deny},                // READ_IMPLIES_EXEC
		{"personality", a(0x40000 | 0x400000), seccomp.Deny},      // both flags
		{"personality", a(8), seccomp.Deny},                       // PER_LINUX32
		{"personality", a(0x20000), seccomp.Deny},                 // UNAME26
		{"personality", a(0x40000 | high), seccomp.Deny},          // other upper bits
		{"personality", a(0xfffffffe00000000 | 8), seccomp.Deny},  // other upper bits
		{"personality", a(minusOne &^ 0xffffffff), seccomp.Deny},  // zero with upper bits
		{"personality", a(0xffffffff | 1<<32), seccomp.Deny},      // query with upper bits
		{"personality", a(0x7fffffff00000000), seccomp.Deny},      // zero with upper bits
		{"personality", a(0xffffffff00000000 | 68), seccomp.Deny}, // neither
	})
}

func TestCommandFileVerdicts(t *testing.T) {
	check(t, seccomp.Command, []verdict{
		{"openat2", a(minusOne, pointer, pointer, 24), seccomp.NoSys},
		{"flock", a(3, unix.LOCK_EX), seccomp.Allow},
		{"fchown", a(3, 0, 0), seccomp.Allow},
		{"fsetxattr", a(3, pointer, pointer, 1), seccomp.Allow},
		{"splice", a(3, 0, 4, 0, 100), seccomp.Allow},
		{"vmsplice", a(3, pointer, 1), seccomp.NoSys},
		{"inotify_init1", a(0), seccomp.Allow},
		{"inotify_add_watch", a(3, pointer, 1), seccomp.Allow},
		{"fanotify_init", a(0), seccomp.Deny},
		{"sync", a(), seccomp.NoSys},
		{"syncfs", a(3), seccomp.NoSys},
		{"fsync", a(3), seccomp.Allow},
		{"name_to_handle_at", a(3), seccomp.NoSys},
		{"open_by_handle_at", a(3), seccomp.Deny},
		{"io_uring_setup", a(8, pointer), seccomp.NoSys},
		{"io_setup", a(8, pointer), seccomp.NoSys},
		{"mount", a(pointer, pointer, pointer, unix.MS_BIND), seccomp.Deny},
		{"chroot", a(pointer), seccomp.Deny},

		{"mknodat", a(minusOne, pointer, unix.S_IFIFO|0o644, 0), seccomp.Allow},
		{"mknodat", a(minusOne, pointer, unix.S_IFREG|0o600, 0), seccomp.Allow},
		{"mknodat", a(minusOne, pointer, unix.S_IFSOCK|0o1777, 0), seccomp.Allow},
		{"mknodat", a(minusOne, pointer, unix.S_IFREG|0o4755, 0), seccomp.Deny},
		{"mknodat", a(minusOne, pointer, unix.S_IFREG|0o2755, 0), seccomp.Deny},
		{"mknodat", a(minusOne, pointer, 0o6000, 0), seccomp.Deny},
		{"mknodat", a(minusOne, pointer, 0o600, 0), seccomp.Allow},
		{"mknodat", a(minusOne, pointer, unix.S_IFCHR|0o666, 0), seccomp.Deny},
		{"mknodat", a(minusOne, pointer, unix.S_IFCHR, 0), seccomp.Deny},
		{"mknodat", a(minusOne, pointer, unix.S_IFBLK|0o666, 0x801), seccomp.Deny},
		{"mknodat", a(minusOne, pointer, unix.S_IFDIR, 0), seccomp.Deny},
		{"mknodat", a(minusOne, pointer, unix.S_IFIFO|high, 0), seccomp.Deny},
		{"mknodat", a(minusOne, pointer, unix.S_IFIFO|1<<16, 0), seccomp.Deny},
		{"mknod", a(pointer, unix.S_IFIFO|0o644, 0), seccomp.Allow},
		{"mknod", a(pointer, unix.S_IFREG|0o4755, 0), seccomp.Deny},
		{"mknod", a(pointer, unix.S_IFREG|0o2755, 0), seccomp.Deny},
		{"mknod", a(pointer, unix.S_IFCHR|0o644, 0x103), seccomp.Deny},
		{"mknod", a(pointer, unix.S_IFBLK|0o644, 0), seccomp.Deny},

		{"fcntl", a(3, unix.F_SETOWN, 7), seccomp.Allow},
		{"fcntl", a(3, unix.F_SETOWN_EX, pointer), seccomp.Allow},
		{"fcntl", a(3, unix.F_SETSIG, 10), seccomp.Allow},
		{"fcntl", a(3, unix.F_SETPIPE_SZ, 1<<20), seccomp.Allow},
		{"fcntl", a(3, unix.F_ADD_SEALS, 1), seccomp.Allow},
		{"fcntl", a(3, unix.F_SETLK, pointer), seccomp.Allow},
		{"fcntl", a(3, unix.F_DUPFD_CLOEXEC), seccomp.Allow},
		{"fcntl", a(3, unix.F_SETLEASE, 1), seccomp.Deny},
		{"fcntl", a(3, unix.F_NOTIFY, 1), seccomp.Deny},
		{"fcntl", a(3, unix.F_SETOWN|high, 1), seccomp.Deny},

		{"ioctl", a(0, unix.TCGETS, pointer), seccomp.Allow},
		{"ioctl", a(0, unix.TCSETS, pointer), seccomp.Allow},
		{"ioctl", a(0, unix.TCSETSW, pointer), seccomp.Allow},
		{"ioctl", a(0, unix.TCSETSF, pointer), seccomp.Allow},
		{"ioctl", a(0, unix.TCSETS2, pointer), seccomp.Allow},
		{"ioctl", a(0, unix.TIOCSCTTY, 0), seccomp.Allow},
		{"ioctl", a(0, unix.TIOCNOTTY), seccomp.Allow},
		{"ioctl", a(0, unix.TIOCGPGRP, pointer), seccomp.Allow},
		{"ioctl", a(0, unix.TIOCSPGRP, pointer), seccomp.Allow},
		{"ioctl", a(0, unix.TIOCSWINSZ, pointer), seccomp.Allow},
		{"ioctl", a(3, unix.TIOCGPTN, pointer), seccomp.Allow},
		{"ioctl", a(3, unix.TIOCSPTLCK, pointer), seccomp.Allow},
		{"ioctl", a(3, unix.TIOCGPTPEER, 2), seccomp.Allow},
		{"ioctl", a(3, 0x541b, pointer), seccomp.Allow}, // FIONREAD
		{"ioctl", a(3, 0x5452, pointer), seccomp.Allow}, // FIOASYNC
		{"ioctl", a(3, unix.FICLONE, 4), seccomp.Allow},
		{"ioctl", a(3, unix.FICLONERANGE, pointer), seccomp.Allow},
		{"ioctl", a(3, unix.FS_IOC_GETFLAGS, pointer), seccomp.Allow},
		{"ioctl", a(3, 0xc020660b, pointer), seccomp.Allow}, // FS_IOC_FIEMAP
		{"ioctl", a(3, unix.SIOCGIFCONF, pointer), seccomp.Allow},
		{"ioctl", a(3, unix.SIOCGIFHWADDR, pointer), seccomp.Allow},
		{"ioctl", a(0, unix.TIOCSTI, pointer), seccomp.Deny},
		{"ioctl", a(0, unix.TIOCSTI|high, pointer), seccomp.Deny},
		{"ioctl", a(0, unix.TIOCLINUX, pointer), seccomp.Deny},
		{"ioctl", a(0, unix.TIOCLINUX|top, pointer), seccomp.Deny},
		{"ioctl", a(0, unix.TIOCSETD, pointer), seccomp.Deny},
		{"ioctl", a(0, unix.TIOCCONS), seccomp.Deny},
		{"ioctl", a(0, unix.TCGETS|high, pointer), seccomp.Deny},
		{"ioctl", a(3, unix.FS_IOC_SETFLAGS, pointer), seccomp.Deny},
		{"ioctl", a(3, unix.SIOCSIFADDR, pointer), seccomp.Deny},
		{"ioctl", a(3, unix.SIOCSIFFLAGS, pointer), seccomp.Deny},
		{"ioctl", a(3, unix.SIOCETHTOOL, pointer), seccomp.Deny},
		{"ioctl", a(3, unix.BLKGETSIZE64, pointer), seccomp.Deny},
		{"ioctl", a(3, unix.TUNSETIFF, pointer), seccomp.Deny},
		{"ioctl", a(3, unix.NS_GET_USERNS), seccomp.Deny},
		{"ioctl", a(3, unix.PERF_EVENT_IOC_SET_BPF), seccomp.Deny},

		{"mlock", a(pointer, 4096), seccomp.Allow},
		{"memfd_create", a(pointer, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING), seccomp.Allow},
		{"memfd_create", a(pointer, unix.MFD_EXEC), seccomp.Allow},
		{"memfd_create", a(pointer, unix.MFD_HUGETLB), seccomp.Deny},
		{"memfd_create", a(pointer, unix.MFD_HUGETLB|unix.MFD_HUGE_2MB), seccomp.Deny},
		{"memfd_create", a(pointer, unix.MFD_CLOEXEC|high), seccomp.Deny},
		{"memfd_secret", a(0), seccomp.Deny},
		{"fallocate", a(3, 0, 0, 1<<30), seccomp.NotSupported},
		{"fallocate", a(3, unix.FALLOC_FL_KEEP_SIZE, 0, 1<<30), seccomp.NotSupported},
		{"fallocate", a(3, unix.FALLOC_FL_ZERO_RANGE, 0, 1<<30), seccomp.NotSupported},
		{"fallocate", a(3, unix.FALLOC_FL_ZERO_RANGE|unix.FALLOC_FL_KEEP_SIZE, 0, 1<<30), seccomp.NotSupported},
		{"fallocate", a(3, unix.FALLOC_FL_UNSHARE_RANGE, 0, 1<<30), seccomp.NotSupported},
		{"fallocate", a(3, unix.FALLOC_FL_INSERT_RANGE, 0, 1<<30), seccomp.NotSupported},
		{"fallocate", a(3, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 0, 1<<30), seccomp.Allow},
		{"fallocate", a(3, unix.FALLOC_FL_COLLAPSE_RANGE, 0, 1<<30), seccomp.Allow},
		{"fallocate", a(3, 0x80, 0, 1<<30), seccomp.Deny},
		{"fallocate", a(3, high, 0, 1<<30), seccomp.Deny},
		{"shmget", a(0, 4096, 0o1600), seccomp.Allow},
		{"mq_open", a(pointer, 0, 0, 0), seccomp.Allow},
		{"pkey_alloc", a(0, 0), seccomp.NoSys},
		{"set_mempolicy", a(0), seccomp.NoSys},
		{"mbind", a(pointer, 1<<20, 1), seccomp.NoSys},
	})
}

func TestCommandSocketVerdicts(t *testing.T) {
	check(t, seccomp.Command, []verdict{
		{"socket", a(unix.AF_UNIX, stream, 0), seccomp.Allow},
		{"socket", a(unix.AF_UNIX, stream|both, 0), seccomp.Allow},
		{"socket", a(unix.AF_UNIX, unix.SOCK_SEQPACKET, unix.AF_UNIX), seccomp.Allow},
		{"socket", a(unix.AF_INET, stream|both, 0), seccomp.Allow},
		{"socket", a(unix.AF_INET, stream, unix.IPPROTO_TCP), seccomp.Allow},
		{"socket", a(unix.AF_INET, dgram, unix.IPPROTO_UDP), seccomp.Allow},
		{"socket", a(unix.AF_INET6, stream, 0), seccomp.Allow},
		{"socket", a(unix.AF_INET6, dgram|both, unix.IPPROTO_UDP), seccomp.Allow},
		{"socket", a(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE), seccomp.Allow},
		{"socket", a(unix.AF_NETLINK, dgram, unix.NETLINK_ROUTE), seccomp.Allow},
		{"socket", a(unix.AF_INET, stream, unix.IPPROTO_MPTCP), seccomp.NoSys},
		{"socket", a(unix.AF_INET6, stream|both, unix.IPPROTO_MPTCP), seccomp.NoSys},
		{"socket", a(unix.AF_INET, dgram, unix.IPPROTO_MPTCP), seccomp.Deny},
		{"socket", a(unix.AF_INET|high, stream, unix.IPPROTO_MPTCP), seccomp.Deny},
		{"socket", a(unix.AF_UNIX, unix.SOCK_RAW, 0), seccomp.Deny},
		{"socket", a(unix.AF_UNIX, stream, 6), seccomp.Deny},
		{"socket", a(unix.AF_INET|high, stream, 0), seccomp.Deny},
		{"socket", a(unix.AF_INET, stream|high, 0), seccomp.Deny},
		{"socket", a(unix.AF_INET, stream, high), seccomp.Deny},
		{"socket", a(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_RAW), seccomp.Deny},
		{"socket", a(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_TCP), seccomp.Deny},
		{"socket", a(unix.AF_INET, unix.SOCK_PACKET, 3), seccomp.Deny},
		{"socket", a(unix.AF_INET, unix.SOCK_SEQPACKET, 0), seccomp.Deny},
		{"socket", a(unix.AF_INET, unix.SOCK_DCCP, unix.IPPROTO_DCCP), seccomp.Deny},
		{"socket", a(unix.AF_INET, dgram, unix.IPPROTO_ICMP), seccomp.Deny},
		{"socket", a(unix.AF_INET6, dgram, unix.IPPROTO_ICMPV6), seccomp.Deny},
		{"socket", a(unix.AF_INET, dgram, unix.IPPROTO_UDPLITE), seccomp.Deny},
		{"socket", a(unix.AF_INET, dgram, unix.IPPROTO_L2TP), seccomp.Deny},
		{"socket", a(unix.AF_INET, stream, unix.IPPROTO_SCTP), seccomp.Deny},
		{"socket", a(unix.AF_INET, stream, 256), seccomp.Deny}, // IPPROTO_SMC
		{"socket", a(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_NETFILTER), seccomp.Deny},
		{"socket", a(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_GENERIC), seccomp.Deny},
		{"socket", a(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_XFRM), seccomp.Deny},
		{"socket", a(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_SOCK_DIAG), seccomp.Deny},
		{"socket", a(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_AUDIT), seccomp.Deny},
		{"socket", a(unix.AF_NETLINK, stream, 0), seccomp.Deny},
		{"socket", a(unix.AF_PACKET, unix.SOCK_RAW, 0), seccomp.Deny},
		{"socket", a(unix.AF_PACKET, dgram, 0), seccomp.Deny},
		{"socket", a(unix.AF_VSOCK, stream, 0), seccomp.Deny},
		{"socket", a(unix.AF_ALG, unix.SOCK_SEQPACKET, 0), seccomp.Deny},
		{"socket", a(unix.AF_RDS, unix.SOCK_SEQPACKET, 0), seccomp.Deny},
		{"socket", a(unix.AF_TIPC, stream, 0), seccomp.Deny},
		{"socket", a(unix.AF_CAN, unix.SOCK_RAW, 1), seccomp.Deny},
		{"socket", a(unix.AF_XDP, unix.SOCK_RAW, 0), seccomp.Deny},
		{"socket", a(unix.AF_KEY, unix.SOCK_RAW, 2), seccomp.Deny},
		{"socket", a(unix.AF_SMC, stream, 0), seccomp.Deny},
		{"socket", a(unix.AF_UNSPEC, stream, 0), seccomp.Deny},
		{"socketpair", a(unix.AF_UNIX, stream|both, 0, pointer), seccomp.Allow},
		{"socketpair", a(unix.AF_UNIX, stream, unix.AF_UNIX, pointer), seccomp.Allow},
		{"socketpair", a(unix.AF_TIPC, stream, 0, pointer), seccomp.Deny},
		{"socketpair", a(unix.AF_UNIX|high, stream, 0, pointer), seccomp.Deny},

		{"connect", a(3, pointer, 16), seccomp.Allow},
		{"bind", a(3, pointer, 16), seccomp.Allow},
		{"listen", a(3, 128), seccomp.Allow},
		{"accept4", a(3, 0, 0, unix.SOCK_CLOEXEC), seccomp.Allow},
		{"sendto", a(3, pointer, 1, 0, pointer, 16), seccomp.Allow},
		{"recvfrom", a(3, pointer, 1, 0, pointer, pointer), seccomp.Allow},
		{"sendmsg", a(3, pointer), seccomp.Allow},
		{"recvmsg", a(3, pointer), seccomp.Allow},
		{"sendmmsg", a(3, pointer, 2), seccomp.Allow},

		{"setsockopt", a(3, unix.SOL_SOCKET, unix.SO_REUSEADDR, pointer, 4), seccomp.Allow},
		{"setsockopt", a(3, unix.SOL_SOCKET, unix.SO_KEEPALIVE), seccomp.Allow},
		{"setsockopt", a(3, unix.SOL_SOCKET, unix.SO_RCVTIMEO), seccomp.Allow},
		{"setsockopt", a(3, unix.SOL_SOCKET, unix.SO_PASSCRED), seccomp.Allow},
		{"setsockopt", a(3, unix.SOL_SOCKET, unix.SO_BINDTODEVICE), seccomp.Allow},
		{"setsockopt", a(3, unix.IPPROTO_TCP, unix.TCP_NODELAY), seccomp.Allow},
		{"setsockopt", a(3, unix.IPPROTO_TCP, unix.TCP_KEEPINTVL), seccomp.Allow},
		{"setsockopt", a(3, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT), seccomp.Allow},
		{"setsockopt", a(3, unix.IPPROTO_IP, unix.IP_TOS), seccomp.Allow},
		{"setsockopt", a(3, unix.IPPROTO_IP, unix.IP_ADD_MEMBERSHIP), seccomp.Allow},
		{"setsockopt", a(3, unix.IPPROTO_IP, unix.IP_RECVERR), seccomp.Allow},
		{"setsockopt", a(3, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY), seccomp.Allow},
		{"setsockopt", a(3, unix.IPPROTO_IPV6, unix.IPV6_TCLASS), seccomp.Allow},
		{"setsockopt", a(3, unix.IPPROTO_UDP, unix.UDP_SEGMENT), seccomp.Allow},
		{"setsockopt", a(3, unix.SOL_NETLINK, unix.NETLINK_EXT_ACK), seccomp.Allow},
		{"setsockopt", a(3, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER), seccomp.Deny},
		{"setsockopt", a(3, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER|high), seccomp.Deny},
		{"setsockopt", a(3, unix.SOL_SOCKET|high, unix.SO_REUSEADDR), seccomp.Deny},
		{"setsockopt", a(3, unix.SOL_SOCKET, unix.SO_REUSEADDR|high), seccomp.Deny},
		{"setsockopt", a(3, unix.SOL_SOCKET, unix.SO_ATTACH_BPF), seccomp.Deny},
		{"setsockopt", a(3, unix.SOL_SOCKET, unix.SO_ATTACH_REUSEPORT_CBPF), seccomp.Deny},
		{"setsockopt", a(3, unix.SOL_SOCKET, unix.SO_ATTACH_REUSEPORT_EBPF), seccomp.Deny},
		{"setsockopt", a(3, unix.SOL_SOCKET, unix.SO_ZEROCOPY), seccomp.Deny},
		{"setsockopt", a(3, unix.SOL_SOCKET, unix.SO_TXTIME), seccomp.Deny},
		{"setsockopt", a(3, unix.SOL_SOCKET, unix.SO_MARK), seccomp.Deny},
		{"setsockopt", a(3, unix.IPPROTO_TCP, unix.TCP_ULP), seccomp.Deny},
		{"setsockopt", a(3, unix.IPPROTO_TCP, unix.TCP_REPAIR), seccomp.Deny},
		{"setsockopt", a(3, unix.IPPROTO_TCP, unix.TCP_MD5SIG), seccomp.Deny},
		{"setsockopt", a(3, unix.IPPROTO_TCP, unix.TCP_REPAIR_QUEUE), seccomp.Deny},
		{"setsockopt", a(3, unix.IPPROTO_IP, 64), seccomp.Deny}, // IPT_SO_SET_REPLACE
		{"setsockopt", a(3, unix.IPPROTO_IP, 65), seccomp.Deny}, // IPT_SO_SET_ADD_COUNTERS
		{"setsockopt", a(3, unix.IPPROTO_IP, unix.IP_OPTIONS), seccomp.Deny},
		{"setsockopt", a(3, unix.IPPROTO_IP, unix.IP_TRANSPARENT), seccomp.Deny},
		{"setsockopt", a(3, unix.IPPROTO_IP, unix.IP_FREEBIND), seccomp.Deny},
		{"setsockopt", a(3, unix.IPPROTO_IP, unix.IP_XFRM_POLICY), seccomp.Deny},
		{"setsockopt", a(3, unix.IPPROTO_IP, unix.IP_MSFILTER), seccomp.Deny},
		{"setsockopt", a(3, unix.IPPROTO_IPV6, unix.IPV6_ADDRFORM), seccomp.Deny},
		{"setsockopt", a(3, unix.IPPROTO_IPV6, unix.IPV6_RTHDR), seccomp.Deny},
		{"setsockopt", a(3, unix.IPPROTO_IPV6, 64), seccomp.Deny}, // IP6T_SO_SET_REPLACE
		{"setsockopt", a(3, unix.IPPROTO_UDP, unix.UDP_ENCAP), seccomp.Deny},
		{"setsockopt", a(3, unix.SOL_PACKET, unix.PACKET_RX_RING), seccomp.Deny},
		{"setsockopt", a(3, unix.SOL_ALG, 1), seccomp.Deny},
		{"setsockopt", a(3, 282, 1), seccomp.Deny}, // SOL_TLS
		{"setsockopt", a(3, unix.SOL_NETLINK, unix.NETLINK_RX_RING), seccomp.Deny},
		{"setsockopt", a(3, unix.IPPROTO_RAW, 1), seccomp.Deny},

		{"getsockopt", a(3, unix.SOL_SOCKET, unix.SO_ERROR), seccomp.Allow},
		{"getsockopt", a(3, unix.SOL_SOCKET, unix.SO_PEERCRED), seccomp.Allow},
		{"getsockopt", a(3, unix.SOL_SOCKET, unix.SO_PEERGROUPS), seccomp.Allow},
		{"getsockopt", a(3, unix.IPPROTO_TCP, unix.TCP_INFO), seccomp.Allow},
		{"getsockopt", a(3, unix.IPPROTO_IP, unix.IP_MTU), seccomp.Allow},
		{"getsockopt", a(3, unix.IPPROTO_IPV6, unix.IPV6_TCLASS), seccomp.Allow},
		{"getsockopt", a(3, unix.IPPROTO_UDP, unix.UDP_SEGMENT), seccomp.Allow},
		{"getsockopt", a(3, unix.SOL_NETLINK, unix.NETLINK_LIST_MEMBERSHIPS), seccomp.Allow},
		{"getsockopt", a(3, unix.IPPROTO_TCP, unix.TCP_ZEROCOPY_RECEIVE), seccomp.Deny},
		{"getsockopt", a(3, unix.IPPROTO_IP, 64), seccomp.Deny},
		{"getsockopt", a(3, unix.IPPROTO_IPV6, 64), seccomp.Deny},
		{"getsockopt", a(3, unix.IPPROTO_IPV6, 68), seccomp.Deny},
		{"getsockopt", a(3, unix.SOL_SOCKET|high, unix.SO_ERROR), seccomp.Deny},
		{"getsockopt", a(3, unix.SOL_SOCKET, unix.SO_ERROR|high), seccomp.Deny},
		{"getsockopt", a(3, unix.SOL_SOCKET, minusOne), seccomp.Deny},
		{"getsockopt", a(3, unix.SOL_PACKET, 6), seccomp.Deny},
	})
}

// These are the calls of a jail's child between its filter and the command's execve. If
// one were denied, no command would start.
func TestCommandProfileAllowsStartOfCommand(t *testing.T) {
	check(t, seccomp.Command, []verdict{
		{"sendmsg", a(5, pointer, unix.MSG_NOSIGNAL), seccomp.Allow}, // sends the listener
		{"sendto", a(5, pointer, 4, unix.MSG_NOSIGNAL, 0, 0), seccomp.Allow},
		{"recvmsg", a(5, pointer), seccomp.Allow},
		{"dup3", a(5, 0, 0), seccomp.Allow},
		{"close", a(5), seccomp.Allow},
		{"close_range", a(3, minusOne32, 0), seccomp.Allow},
		{"close_range", a(3, minusOne32, unix.CLOSE_RANGE_CLOEXEC), seccomp.Allow},
		{"clone", a(sigchld), seccomp.Allow},
		{"fork", a(), seccomp.Allow},
		{"prctl", a(unix.PR_SET_PDEATHSIG, uint64(unix.SIGKILL)), seccomp.Allow},
		{"prctl", a(unix.PR_SET_DUMPABLE, 0), seccomp.Allow},
		{"execveat", a(5, pointer, pointer, pointer, unix.AT_EMPTY_PATH), seccomp.Allow},
		{"execve", a(pointer, pointer, pointer), seccomp.Allow},
		{"ioctl", a(0, unix.TIOCSCTTY, 0), seccomp.Allow},
		{"setsid", a(), seccomp.Allow},
		{"chdir", a(pointer), seccomp.Allow},
		{"rt_sigprocmask", a(2, pointer, 0, 8), seccomp.Allow},
		{"landlock_restrict_self", a(5, 0), seccomp.Allow},
		{"capset", a(pointer, pointer), seccomp.Allow},
		{"prlimit64", a(0, unix.RLIMIT_NPROC, pointer, 0), seccomp.Allow},
		{"wait4", a(minusOne, pointer, 0, 0), seccomp.Allow},
		{"write", a(1, pointer, 1), seccomp.Allow},
		{"exit_group", a(127), seccomp.Allow},
	})
}

// commandNever is maintained by hand, like scriptNever.
var commandNever = []string{
	"ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease",
	"kcmp", "pidfd_getfd", "perf_event_open", "clone3",
	"io_uring_setup", "io_uring_enter", "io_uring_register", "io_setup", "io_submit",
	"bpf", "userfaultfd", "keyctl", "add_key", "request_key",
	"unshare", "setns", "mount", "umount2", "pivot_root", "chroot", "fsopen", "fsconfig", "fsmount",
	"fspick", "move_mount", "open_tree", "open_tree_attr", "mount_setattr", "statmount", "listmount", "listns",
	"memfd_secret", "name_to_handle_at", "open_by_handle_at", "fanotify_init", "fanotify_mark",
	"quotactl", "quotactl_fd", "swapon", "swapoff", "reboot", "kexec_load", "kexec_file_load",
	"init_module", "finit_module", "delete_module", "clock_settime", "settimeofday", "adjtimex",
	"clock_adjtime", "acct", "vhangup", "modify_ldt", "iopl", "ioperm", "lookup_dcookie", "syslog",
	"sethostname", "setdomainname", "nfsservctl", "uselib", "remap_file_pages",
	"sched_setattr", "set_mempolicy", "mbind", "migrate_pages", "move_pages",
	"pkey_alloc", "pkey_mprotect", "vmsplice", "sync", "syncfs",
	"setxattrat", "removexattrat", "file_setattr", "lsm_set_self_attr", "openat2",
}

// Without a memory cgroup, memory that need not be mapped is refused.
func TestWatchedVerdicts(t *testing.T) {
	check(t, seccomp.Watched, []verdict{
		{"memfd_create", a(pointer, unix.MFD_CLOEXEC), seccomp.NoSys},
		{"memfd_create", a(pointer, unix.MFD_HUGETLB), seccomp.NoSys},
		{"shmget", a(0, 56, 0o1600), seccomp.Allow}, // PostgreSQL
		{"shmget", a(0, 4096, 0o1600), seccomp.Deny},
		{"shmget", a(0, 1<<40, 0o1600), seccomp.Deny},
		{"shmget", a(0, high|56, 0o1600), seccomp.Deny},
		{"shmat", a(1, 0, 0), seccomp.Allow},
		{"fallocate", a(3, 0, 0, 1<<30), seccomp.NotSupported},
	})
}
