package seccomp

// Rules is the allowlist for untrusted CPython 3.9 to 3.14, its standard library
// and numpy, on glibc and musl. A name that one architecture lacks is simply
// absent there. Whatever is not here is denied; hints.go says to a guest why.
//
// The measure of each group: does CPython need it, and does another wall decide
// about what the filter cannot see?
func Rules() []Group {
	return []Group{
		// Descriptors that exist. Whatever a guest holds, it may use.
		// Not here: splice, tee, vmsplice (page-cache bugs such as Dirty Pipe;
		// nothing in the standard library calls them on its own), nor flock: an
		// exclusive lock needs no right to write, so that a guest could hold one
		// on a file that it shares with other runs. fcntl's locks need the right.
		{"data", Allow, calls(
			"read", "write", "readv", "writev", "pread64", "pwrite64",
			"preadv", "pwritev", "preadv2", "pwritev2", "lseek",
			"close", "close_range", "dup", "dup2", "dup3", "pipe", "pipe2",
			"sendfile", "copy_file_range", // shutil, pathlib
			"fsync", "fdatasync", "fadvise64",
		)},

		// Paths. The filter cannot read them; Landlock and the mounts decide
		// which files exist and which can be written, and the private /tmp is
		// sized. Not here: mknod (devices), chown (an unprivileged uid gets EPERM
		// anyway), chroot, mounts, handles (open_by_handle_at walks past mounts),
		// sync and syncfs (they stall the whole host), changing extended
		// attributes (Landlock does not control that).
		{"files", Allow, calls(
			"open", "openat", "creat",
			"stat", "lstat", "fstat", "newfstatat", "statx", "statfs", "fstatfs",
			"access", "faccessat", "faccessat2", "readlink", "readlinkat",
			"getdents", "getdents64", "getcwd", "chdir", "fchdir", "umask",
			"mkdir", "mkdirat", "rmdir", "unlink", "unlinkat",
			"rename", "renameat", "renameat2",
			"link", "linkat", "symlink", "symlinkat",
			// fchmodat2 has all its arguments in registers and the power of
			// fchmodat. glibc takes EPERM from it for the final answer.
			"chmod", "fchmod", "fchmodat", "fchmodat2",
			"utime", "utimes", "futimesat", "utimensat",
			"truncate", "ftruncate", "fallocate",
			"getxattr", "lgetxattr", "fgetxattr",
			"listxattr", "llistxattr", "flistxattr", // shutil.copystat
		)},

		// Only commands that act on the descriptor itself. F_SETOWN and F_SETSIG
		// would make the kernel send signals on the guest's behalf, F_SETPIPE_SZ
		// is memory that no limit counts, F_NOTIFY and F_SETLEASE watch others.
		{"fcntl", Allow, []Rule{{"fcntl", Where{is(1,
			fDupFD, fGetFD, fSetFD, fGetFL, fSetFL,
			fGetLk, fSetLk, fSetLkW, fOFDGetLk, fOFDSetLk, fOFDSetLkW,
			fDupFDCloexec, fGetPipeSize, fGetSeals)}}}},

		// ioctl is a thousand interfaces in one call: only asking what kind of
		// descriptor this is. TIOCSTI (typing into the caller's terminal) is why.
		// TCGETS2 is what isatty asks since glibc 2.42. FICLONE is what
		// pathlib.Path.copy tries first since 3.14 (EPERM would end it) and does
		// no more than copy_file_range.
		{"ioctl", Allow, []Rule{{"ioctl", Where{is(1,
			tcGets, tcGets2, tiocGWinSz, fioNRead, fioNBIO, fioNClex, fioClex, fiClone)}}}},

		// Memory. PROT_EXEC stays: dlopen maps .so files with it, a filter cannot
		// tell a file of the interpreter's from another, and code that a guest
		// brings runs behind the same filter as Python does. madvise is free:
		// numpy and new glibc use advice beyond the classical, and what touches
		// others needs a capability. How much memory is the limits' business.
		// Not here: mlock (pins pages of the host), memfd_create (memory outside
		// limits, and files to execute), pkey_*, remap_file_pages.
		{"memory", Allow, calls(
			"mmap", "munmap", "mremap", "mprotect", "brk",
			"madvise", "mincore", "msync", "membarrier",
		)},

		// Threads of this process. set_robust_list and rseq are libc's.
		{"threads", Allow, calls(
			"futex", "futex_waitv", "rseq", "set_robust_list", "set_tid_address",
			"sched_yield", "sched_getaffinity", "sched_getparam", "sched_getscheduler",
			"sched_get_priority_max", "sched_get_priority_min", "getcpu",
			"exit", "exit_group",
		)},

		// A thread, and nothing that shares less than a thread does; see
		// threadClone. All other clones, fork and vfork are processes: denied.
		{"new thread", Thread, []Rule{{"clone", threadClone}}},

		// Time. Not here: timer_create (no caller in the standard library, and a
		// history of races), and everything that sets a clock.
		{"time", Allow, calls(
			"clock_gettime", "clock_getres", "clock_nanosleep", "nanosleep",
			"gettimeofday", "time", "times",
			"alarm", "getitimer", "setitimer", // signal.alarm, signal.setitimer
		)},

		// Waiting: select, asyncio. Not here: inotify, fanotify, signalfd, aio.
		{"waiting", Allow, calls(
			"poll", "ppoll", "select", "pselect6",
			"epoll_create", "epoll_create1", "epoll_ctl",
			"epoll_wait", "epoll_pwait", "epoll_pwait2",
			"eventfd", "eventfd2", "timerfd_create", "timerfd_settime", "timerfd_gettime",
			"wait4", "waitid", "pause", "restart_syscall",
		)},

		// Signals. A guest may signal itself; who else is in reach is decided by
		// the pid namespace and Landlock's scope. tgkill and tkill name one
		// thread. kill with a negative pid, one message to everybody (-1) or to a
		// process group, has no use for a guest without children, so it is not
		// left to those walls alone. Not here: rt_sigqueueinfo and its sibling
		// (they forge siginfo).
		{"signals", Allow, append(calls(
			"rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "rt_sigpending",
			"rt_sigsuspend", "rt_sigtimedwait", "sigaltstack", "tgkill", "tkill",
		), Rule{"kill", Where{ignoring(0, maxPID, 0)}})},

		// What a process may know about itself and its machine, read-only, and
		// randomness. setsid only leaves a group.
		{"self", Allow, calls(
			"getpid", "getppid", "gettid", "getpgrp", "getpgid", "getsid", "setsid",
			"getuid", "geteuid", "getgid", "getegid", "getresuid", "getresgid", "getgroups",
			"getrandom", "uname", "sysinfo", "getrusage", "getrlimit", "getpriority", "capget",
		)},

		// Limits of oneself, read and set: a worker lowers its own after it has
		// inherited the filter. This is safe only because a limit is set with its
		// hard value and the capabilities are gone before a guest runs: then the
		// kernel lets nobody raise it. The filter does not see which it is, since
		// the new value is in memory. Another process's limits: denied.
		{"limits", Allow, []Rule{{"prlimit64", Where{is(0, 0)}}}},

		// Options of the thread itself, and questions. The parent-death signal
		// may only be SIGKILL: then it can end the guest and nothing else.
		{"prctl", Allow, []Rule{
			{"prctl", Where{is(0,
				prGetDumpable, prSetName, prGetName, prGetSeccomp,
				prGetNoNewPrivs, prSetVMA)}},
			{"prctl", Where{is(0, prSetPDeathSig), is(1, sigKill)}},
			{"arch_prctl", Where{is(0, archSetFS, archGetFS, archCETStatus, archShstkStatus)}},
		}},

		// Calls that only ever take rights away. A worker inherits the filter
		// and then drops capabilities and adds Landlock; a guest may do as much.
		{"less rights", Allow, append(calls(
			"capset", "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self",
		), Rule{"prctl", Where{is(0, prSetNoNewPrivs), is(1, 1)}})},

		// A pair of connected sockets inside the process: asyncio's way to wake
		// itself. There is no socket(), so nothing here leads out. No address can
		// be given, and descriptors cannot be passed except by the fork server.
		// getsockopt: what socket.socket(fileno=…) asks. setsockopt is not here:
		// SO_ATTACH_FILTER hands the kernel a program, and a pair needs no option.
		{"socket pairs", Allow, append(calls("shutdown", "getsockname", "getpeername"),
			Rule{"socketpair", Where{
				is(0, afUnix),
				ignoring(1, sockNonblock|sockCloexec, sockStream, sockDgram, sockSeqpacket),
				is(2, 0),
			}},
			Rule{"sendto", Where{is(4, 0)}},
			Rule{"recvfrom", Where{is(4, 0)}},
			Rule{"sendmsg", Where{is(0, ControlFD)}},
			Rule{"recvmsg", Where{is(0, ControlFD)}},
			Rule{"getsockopt", Where{
				is(1, solSocket),
				is(2, soType, soError, soSndBuf, soRcvBuf, soAcceptConn, soProtocol, soDomain),
			}},
		)},

		// The fork server's way back to its own namespaces after each fork. Like
		// ControlFD, a guest cannot have these descriptors, and without
		// capabilities the kernel would refuse it anyway.
		{"own namespaces", Allow, []Rule{
			{"setns", Where{is(0, MountNSFD), is(1, cloneNewNS)}},
			{"setns", Where{is(0, PIDNSFD), is(1, cloneNewPID)}},
		}},

		// Newer doors to rooms that have an older one. What they ask is in memory,
		// where a filter cannot see it (clone3, openat2, the *xattrat calls), or
		// they are young code that a caller can do without. ENOSYS says "this
		// kernel is older", and every caller has an answer to that; EPERM would be
		// taken for the final word. Probing is no violation, so it is not reported.
		{"older road", NoSys, calls(
			"clone3", "openat2", "getxattrat", "listxattrat",
			"futex_wait", "futex_wake", "futex_requeue",
			"map_shadow_stack", "mseal",
			// Where memory lies on a machine of many nodes. OpenBLAS (numpy) asks
			// for it on its own and does without, so it is no violation.
			"get_mempolicy", "mbind",
			// asyncio tries it out on 3.12 and 3.13 before it uses threads instead.
			"pidfd_open",
		)},

		// The one socket that nobody asked for: glibc looks for its name service
		// daemon whenever a user is looked up (os.path.expanduser, tarfile), with
		// exactly these arguments, and reads /etc/passwd when there is none. It
		// gets no socket either, but is not reported as an attempt at the network.
		{"name service", NoSys, []Rule{{"socket", Where{
			is(0, afUnix), is(1, sockStream|sockCloexec|sockNonblock), is(2, 0)}}}},
	}
}

// threadClone is what pthread_create asks for: the six that make a thread, any
// of libc's conveniences, and no other bit. That excludes namespaces, an exit
// signal, CLONE_PARENT, CLONE_PIDFD, CLONE_PTRACE and all of the upper half.
// clone takes its flags in a register, so between the check and the kernel's use
// (also when the host lets the call continue) nobody can change them.
var threadClone = Where{ignoring(0,
	cloneSysVSem|cloneSetTLS|cloneParentSetTID|cloneChildClearTID|cloneDetached|cloneChildSetTID,
	cloneVM|cloneFS|cloneFiles|cloneSighand|cloneThread)}

// IsThread says whether a notified call creates a thread, by the rule itself.
// The host may let exactly those continue; all else that it is asked is denied.
func IsThread(nr int, args [6]uint64) bool {
	return Name(nr) == "clone" && threadClone.Holds(args)
}

// Hot are the calls with conditions that running Python makes most, hottest
// first; the compiler tests for them before it searches. Calls without
// conditions need no help: since 5.11 the kernel remembers that a number is
// always allowed and does not run the program.
func Hot() []string { return []string{"ioctl", "fcntl", "kill"} }
