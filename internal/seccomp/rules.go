package seccomp

// The groups that every profile has: calls that a program needs for its own
// descriptors, files, memory, threads and time. The other groups are in
// rules_script.go and in the rules_command files. On an architecture without a call,
// its rule is ignored.
//
// They are functions, so that changing one list does not change another.

// useDescriptors: reading and writing open descriptors. A guest may use every
// descriptor that it has.
func useDescriptors() Group {
	return Group{"data", Allow, calls(
		"read", "write", "readv", "writev", "pread64", "pwrite64",
		"preadv", "pwritev", "preadv2", "pwritev2", "lseek",
		"close", "close_range", "dup", "dup2", "dup3", "pipe", "pipe2",
		"sendfile", "copy_file_range", // shutil, pathlib, cp
		"fsync", "fdatasync", "fadvise64",
	)}
}

// usePaths: operations on files by name, except opening them, which differs by profile.
// The filter cannot read names; Landlock and the mounts decide which files exist and
// which can be written, and the private /tmp has a size limit. Not in any profile:
// chroot, mounts, file handles (open_by_handle_at bypasses mounts).
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

// controlDescriptors: only the fcntl commands that affect the descriptor itself.
func controlDescriptors() Group {
	return Group{"fcntl", Allow, []Rule{{"fcntl", Where{is(1,
		fDupFD, fGetFD, fSetFD, fGetFL, fSetFL,
		fGetLk, fSetLk, fSetLkW, fOFDGetLk, fOFDSetLk, fOFDSetLkW,
		fDupFDCloexec, fGetPipeSize, fGetSeals)}}}}
}

// queryDescriptors: harmless ioctl requests. ioctl is a thousand interfaces in one
// call, so it is always limited to a list of requests; TIOCSTI, which types into the
// caller's terminal, shows why. isatty uses TCGETS2 since glibc 2.42.
// pathlib.Path.copy (3.14) and cp try FICLONE first and give up at EPERM; it does no
// more than copy_file_range.
func queryDescriptors() Group {
	return Group{"ioctl", Allow, []Rule{{"ioctl", Where{is(1,
		tcGets, tcGets2, tiocGWinSz, fioNRead, fioNBIO, fioNClex, fioClex, fiClone)}}}}
}

// useMemory: the guest's own memory. PROT_EXEC is allowed: dlopen maps .so files with
// it, a filter cannot distinguish files of the host from others, and a guest's own
// machine code runs behind the same filter. madvise is allowed with any advice: numpy
// and recent glibc use new kinds, and those that affect other processes need a
// capability. Limits bound the amount of memory.
func useMemory() Group {
	return Group{"memory", Allow, calls(
		"mmap", "munmap", "mremap", "mprotect", "brk",
		"madvise", "mincore", "msync", "membarrier",
	)}
}

// manageThreads: calls of existing threads. libc uses set_robust_list and rseq.
func manageThreads() Group {
	return Group{"threads", Allow, calls(
		"futex", "futex_waitv", "rseq", "set_robust_list", "set_tid_address",
		"sched_yield", "sched_getaffinity", "sched_getparam", "sched_getscheduler",
		"sched_get_priority_max", "sched_get_priority_min", "getcpu",
		"exit", "exit_group",
	)}
}

// readClocks: reading clocks and sleeping. Not in any profile: setting a clock.
func readClocks() Group {
	return Group{"time", Allow, calls(
		"clock_gettime", "clock_getres", "clock_nanosleep", "nanosleep",
		"gettimeofday", "time", "times",
		"alarm", "getitimer", "setitimer", // signal.alarm, signal.setitimer
	)}
}

// waitForEvents: select, asyncio, and waiting for children.
func waitForEvents() Group {
	return Group{"waiting", Allow, calls(
		"poll", "ppoll", "select", "pselect6",
		"epoll_create", "epoll_create1", "epoll_ctl",
		"epoll_wait", "epoll_pwait", "epoll_pwait2",
		"eventfd", "eventfd2", "timerfd_create", "timerfd_settime", "timerfd_gettime",
		"wait4", "waitid", "pause", "restart_syscall",
	)}
}

// receiveSignals: handling signals, and sending one to a thread by its number. The pid
// namespace and Landlock's scope decide which threads are reachable.
func receiveSignals() Group {
	return Group{"signals", Allow, calls(
		"rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "rt_sigpending",
		"rt_sigsuspend", "rt_sigtimedwait", "sigaltstack", "tgkill", "tkill",
	)}
}

// inspectSelf: reading information about the process and the machine, and randomness.
// setsid only leaves a process group.
func inspectSelf() Group {
	return Group{"self", Allow, calls(
		"getpid", "getppid", "gettid", "getpgrp", "getpgid", "getsid", "setsid",
		"getuid", "geteuid", "getgid", "getegid", "getresuid", "getresgid", "getgroups",
		"getrandom", "uname", "sysinfo", "getrusage", "getrlimit", "getpriority", "capget",
	)}
}

// limitSelf: reading and setting the process's own limits. A worker lowers its limits
// after it has inherited the filter, and shells have ulimit. This is safe only because
// hard limits are set and capabilities dropped before a guest runs, so that the kernel
// refuses to raise them. The filter cannot check the new value, which is in memory.
// Limits of other processes are denied, because the kernel requires only the same user,
// which the guest's supervisor has too.
func limitSelf() Group {
	return Group{"limits", Allow, []Rule{{"prlimit64", Where{is(0, 0)}}}}
}

// setOwnOptions: prctl options that read state or affect only the thread itself.
func setOwnOptions() Group {
	return Group{"prctl", Allow, []Rule{
		{"prctl", Where{is(0,
			prGetDumpable, prSetName, prGetName, prGetSeccomp,
			prGetNoNewPrivs, prSetVMA)}},
		{"arch_prctl", Where{is(0, archSetFS, archGetFS, archCETStatus, archShstkStatus)}},
	}}
}

// dropRights: calls that can only remove rights. A worker inherits the filter and then
// drops capabilities and adds Landlock; a guest may do the same.
func dropRights() Group {
	return Group{"less rights", Allow, append(calls(
		"capset", "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self",
	), Rule{"prctl", Where{is(0, prSetNoNewPrivs), is(1, 1)}})}
}

// useSockets: using existing sockets, without addresses.
func useSockets() Group {
	return Group{"sockets", Allow, calls("shutdown", "getsockname", "getpeername")}
}

// refuseNewerCalls: newer calls for which an older call exists. Their arguments are in
// memory, where a filter cannot see them (clone3, openat2, the *xattrat calls), or they
// are new kernel code that callers can do without. ENOSYS means "this kernel is older",
// and every caller then uses the older call; after EPERM it would give up. Probing is
// no violation, so it is not reported.
func refuseNewerCalls() Group {
	return Group{"older call", NoSys, calls(
		"clone3", "openat2", "getxattrat", "listxattrat",
		"futex_wait", "futex_wake", "futex_requeue",
		"map_shadow_stack", "mseal",
		// NUMA placement of memory. OpenBLAS (numpy) asks for it and can do
		// without, so it is no violation.
		"get_mempolicy", "mbind",
	)}
}
