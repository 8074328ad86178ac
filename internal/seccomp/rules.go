package seccomp

// The groups that every profile has, each for the same reason: what a program
// needs to live with its own descriptors, files, memory, threads and time. What
// differs is in rules_script.go and in the rules_command files. A name that one
// architecture lacks is simply absent there.
//
// They are functions, so that nobody who holds one list can change another's.

// useDescriptors is work on descriptors that exist. Whatever a guest holds, it
// may use.
func useDescriptors() Group {
	return Group{"data", Allow, calls(
		"read", "write", "readv", "writev", "pread64", "pwrite64",
		"preadv", "pwritev", "preadv2", "pwritev2", "lseek",
		"close", "close_range", "dup", "dup2", "dup3", "pipe", "pipe2",
		"sendfile", "copy_file_range", // shutil, pathlib, cp
		"fsync", "fdatasync", "fadvise64",
	)}
}

// usePaths is work on files by name; to open them is each profile's own matter. The
// filter cannot read names; Landlock and the mounts decide which files exist and
// which can be written, and the private /tmp is sized. Nowhere here: chroot,
// mounts, handles (open_by_handle_at walks past mounts).
func usePaths() Group {
	return Group{"files", Allow, calls(
		"stat", "lstat", "fstat", "newfstatat", "statx", "statfs", "fstatfs",
		"access", "faccessat", "faccessat2", "readlink", "readlinkat",
		"getdents", "getdents64", "getcwd", "chdir", "fchdir", "umask",
		"mkdir", "mkdirat", "rmdir", "unlink", "unlinkat",
		"rename", "renameat", "renameat2",
		"link", "linkat", "symlink", "symlinkat",
		"utime", "utimes", "futimesat", "utimensat",
		"truncate", "ftruncate",
		"getxattr", "lgetxattr", "fgetxattr",
		"listxattr", "llistxattr", "flistxattr", // shutil.copystat, cp -a
	)}
}

// controlDescriptors is only those fcntl commands that act on the descriptor
// itself.
func controlDescriptors() Group {
	return Group{"fcntl", Allow, []Rule{{"fcntl", Where{is(1,
		fDupFD, fGetFD, fSetFD, fGetFL, fSetFL,
		fGetLk, fSetLk, fSetLkW, fOFDGetLk, fOFDSetLk, fOFDSetLkW,
		fDupFDCloexec, fGetPipeSize, fGetSeals)}}}}
}

// askDescriptors is what anybody may ask of a descriptor. ioctl is a thousand
// interfaces in one call, so it is always a list of requests. TIOCSTI (typing
// into the caller's terminal) is why. TCGETS2 is what isatty asks since glibc
// 2.42. FICLONE is what pathlib.Path.copy (3.14) and cp try first, EPERM would
// end it, and it does no more than copy_file_range.
func askDescriptors() Group {
	return Group{"ioctl", Allow, []Rule{{"ioctl", Where{is(1,
		tcGets, tcGets2, tiocGWinSz, fioNRead, fioNBIO, fioNClex, fioClex, fiClone)}}}}
}

// useMemory is memory of one's own. PROT_EXEC stays: dlopen maps .so files with
// it, a filter cannot tell a file of the host's from another, and code that a
// guest brings runs behind the same filter. madvise is free: numpy and new glibc
// use advice beyond the classical, and what touches others needs a capability.
// How much memory is the limits' business.
func useMemory() Group {
	return Group{"memory", Allow, calls(
		"mmap", "munmap", "mremap", "mprotect", "brk",
		"madvise", "mincore", "msync", "membarrier",
	)}
}

// liveAsThreads is for threads that exist. set_robust_list and rseq are libc's.
func liveAsThreads() Group {
	return Group{"threads", Allow, calls(
		"futex", "futex_waitv", "rseq", "set_robust_list", "set_tid_address",
		"sched_yield", "sched_getaffinity", "sched_getparam", "sched_getscheduler",
		"sched_get_priority_max", "sched_get_priority_min", "getcpu",
		"exit", "exit_group",
	)}
}

// tellTime reads clocks and sleeps. Nowhere here: whatever sets a clock.
func tellTime() Group {
	return Group{"time", Allow, calls(
		"clock_gettime", "clock_getres", "clock_nanosleep", "nanosleep",
		"gettimeofday", "time", "times",
		"alarm", "getitimer", "setitimer", // signal.alarm, signal.setitimer
	)}
}

// waitForEvents is select, asyncio, and the end of children.
func waitForEvents() Group {
	return Group{"waiting", Allow, calls(
		"poll", "ppoll", "select", "pselect6",
		"epoll_create", "epoll_create1", "epoll_ctl",
		"epoll_wait", "epoll_pwait", "epoll_pwait2",
		"eventfd", "eventfd2", "timerfd_create", "timerfd_settime", "timerfd_gettime",
		"wait4", "waitid", "pause", "restart_syscall",
	)}
}

// takeSignals is for signals that arrive, and for those that a thread sends to
// one other thread by its number: who is in reach is decided by the pid
// namespace and Landlock's scope.
func takeSignals() Group {
	return Group{"signals", Allow, calls(
		"rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "rt_sigpending",
		"rt_sigsuspend", "rt_sigtimedwait", "sigaltstack", "tgkill", "tkill",
	)}
}

// knowOneself is what a process may know about itself and its machine,
// read-only, and randomness. setsid only leaves a group.
func knowOneself() Group {
	return Group{"self", Allow, calls(
		"getpid", "getppid", "gettid", "getpgrp", "getpgid", "getsid", "setsid",
		"getuid", "geteuid", "getgid", "getegid", "getresuid", "getresgid", "getgroups",
		"getrandom", "uname", "sysinfo", "getrusage", "getrlimit", "getpriority", "capget",
	)}
}

// limitOneself reads and sets one's own limits: a worker lowers its own after it
// has inherited the filter, and shells have ulimit. This is safe only because a
// limit is set with its hard value and the capabilities are gone before a guest
// runs: then the kernel lets nobody raise it. The filter does not see which it
// is, since the new value is in memory. Another process's limits: denied, since
// the kernel asks no more than the same user, and the guest's supervisor has it.
func limitOneself() Group {
	return Group{"limits", Allow, []Rule{{"prlimit64", Where{is(0, 0)}}}}
}

// setOwnOptions is options of the thread itself, and questions.
func setOwnOptions() Group {
	return Group{"prctl", Allow, []Rule{
		{"prctl", Where{is(0,
			prGetDumpable, prSetName, prGetName, prGetSeccomp,
			prGetNoNewPrivs, prSetVMA)}},
		{"arch_prctl", Where{is(0, archSetFS, archGetFS, archCETStatus, archShstkStatus)}},
	}}
}

// giveUpRights is calls that only ever take rights away. A worker inherits the
// filter and then drops capabilities and adds Landlock; a guest may do as much.
func giveUpRights() Group {
	return Group{"less rights", Allow, append(calls(
		"capset", "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self",
	), Rule{"prctl", Where{is(0, prSetNoNewPrivs), is(1, 1)}})}
}

// useSockets is for sockets that exist, without a word about addresses.
func useSockets() Group {
	return Group{"sockets", Allow, calls("shutdown", "getsockname", "getpeername")}
}

// olderCall is newer calls that have an older form. What they ask is in
// memory, where a filter cannot see it (clone3, openat2, the *xattrat calls), or
// they are young code that a caller can do without. ENOSYS says "this kernel is
// older", and every caller has an answer to that; EPERM would be taken for the
// final word. Probing is no violation, so it is not reported.
func olderCall() Group {
	return Group{"older call", NoSys, calls(
		"clone3", "openat2", "getxattrat", "listxattrat",
		"futex_wait", "futex_wake", "futex_requeue",
		"map_shadow_stack", "mseal",
		// Where memory lies on a machine of many nodes. OpenBLAS (numpy) asks
		// for it on its own and does without, so it is no violation.
		"get_mempolicy", "mbind",
	)}
}
