package seccomp

import "slices"

// commandRules returns the allowlist for any program: shells, compilers, make, git,
// node, databases, static Go binaries, glibc and musl. Commands run in namespaces, with
// a private root and without capabilities, so these rules are wider than a script's:
// they allow whatever the pid, net, ipc and mount namespaces already confine. They
// exclude calls that make or change namespaces, kernel objects that namespaces do not
// separate (keyrings, clocks, vsock, the log), calls that inspect other processes, and
// interfaces that ordinary programs do not need and that had kernel bugs.
//
// No rule has the action Thread. RLIMIT_NPROC and the pids cgroup bound threads and
// processes; counting each of them in the Runner would make builds slow.
//
// counted says that a memory cgroup counts the command's memory.
func commandRules(counted bool) []Group {
	memory := watchedMemory
	if counted {
		memory = countedMemory
	}
	return slices.Concat([]Group{
		useDescriptors(),
		usePaths(),
		openPlainFiles(),
		changePlainModes(),
		controlDescriptors(),
		queryDescriptors(),
		useMemory(),
		manageThreads(),
		readClocks(),
		waitForEvents(),
		receiveSignals(),
		inspectSelf(),
		limitSelf(),
		setOwnOptions(),
		dropRights(),
		useSockets(),
		refuseNewerCalls(),
	}, commandProcesses(), commandFiles(), commandMemory(), memory(), commandOptions(), commandSockets(), commandProbes())
}

// without requires that an argument has none of these bits. Other bits are free, also in
// the upper half: the kernel uses only the lower half of modes and of flags to open.
func without(arg int, bits uint64) Where { return Where{ignoring(arg, ^bits, 0)} }

// runAsOwner are the bits that make a file run as its owner. Files in a workspace belong
// to the caller, who may be root, and outside the sandbox the kernel honors these bits.
const runAsOwner = setUID | setGID

// openPlainFiles: opening files, but not creating one with these bits, which an empty
// file keeps when root copies a program into it. Without O_CREAT and O_TMPFILE the
// kernel ignores the mode, and the register may have any value. That case comes first,
// because most opened files exist.
func openPlainFiles() Group {
	return Group{"opening", Allow, []Rule{
		{"openat", without(2, oCreat|oTmpFile)}, {"openat", without(3, runAsOwner)},
		{"open", without(1, oCreat|oTmpFile)}, {"open", without(2, runAsOwner)},
		{"creat", without(1, runAsOwner)},
	}}
}

// changePlainModes: chmod without these bits. mkdir needs no rule, because the kernel
// removes them.
func changePlainModes() Group {
	return Group{"modes", Allow, []Rule{
		{"chmod", without(1, runAsOwner)}, {"fchmod", without(1, runAsOwner)},
		{"fchmodat", without(2, runAsOwner)}, {"fchmodat2", without(2, runAsOwner)},
	}}
}

// commandProcesses: child processes and communication with them.
func commandProcesses() []Group {
	return []Group{
		// The pid namespace bounds which processes a signal, a pidfd or a wait can
		// reach, and an executed program inherits this filter. Executing a memory file
		// (execveat) allows no more than executing a file in the workspace.
		{"processes", Allow, calls(
			"fork", "vfork", "execve", "execveat", "setpgid", "kill",
			"rt_sigqueueinfo", "rt_tgsigqueueinfo", "signalfd", "signalfd4",
			"pidfd_open", "pidfd_send_signal",
		)},

		{"new process", Allow, []Rule{{"clone", plainClone}}},

		// Timers that send signals (timeout, Go's profiler). RLIMIT_SIGPENDING
		// counts them.
		{"timers", Allow, calls(
			"timer_create", "timer_settime", "timer_gettime", "timer_getoverrun", "timer_delete",
		)},

		// nice, taskset, ionice, make -l. Without a capability they can only lower the
		// priority of a process in the pid namespace. The scheduling class is in a
		// register: the real-time classes are denied, although the kernel would
		// refuse them too.
		{"priorities", Allow, append(calls(
			"setpriority", "ioprio_get", "ioprio_set", "sched_setaffinity", "sched_setparam",
			"sched_getattr", "sched_rr_get_interval",
		), Rule{"sched_setscheduler", Where{
			ignoring(1, schedResetOnFork, schedOther, schedBatch, schedIdle)}})},

		// Setting the process's own limits with the older call.
		{"own limits", Allow, calls("setrlimit")},

		// Daemons and tar set the ids that they already have. Without capabilities
		// the kernel refuses all others with its ordinary EPERM, which programs
		// expect. It is not reported: su and sudo print their own message.
		{"ids", Allow, calls(
			"setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid",
			"setgroups", "setfsuid", "setfsgid",
		)},

		// Additional filters, which ssh, man, file and browsers install. They can only
		// remove rights: the strictest answer counts, and our filter cannot be removed.
		// A listener of the guest is excluded. The kernel refuses it while ours is open;
		// but after the death of the Runner, a guest could install a listener for the
		// calls that our filter passes to the Runner, and answer "continue". Its answer
		// is ENOSYS, because libseccomp probes every flag.
		{"own filters", Allow, []Rule{
			{"seccomp", Where{is(0, seccompSetStrict, seccompGetAction, seccompGetSizes)}},
			{"seccomp", Where{is(0, seccompSetFilter), ignoring(1,
				seccompTSync|seccompLog|seccompSpecAllow|seccompTSyncESRCH|seccompWaitKillable, 0)}},
			{"prctl", Where{is(0, prSetSeccomp), is(1, seccompModeStrict, seccompModeFilter)}},
		}},
		{"own listener", NoSys, []Rule{
			{"seccomp", Where{is(0, seccompSetFilter), Check{1, seccompNewListener, []uint64{seccompNewListener}}}},
		}},
	}
}

// plainClone allows threads and processes of every kind, but no namespaces and no flags
// for tracers (CLONE_PTRACE, CLONE_UNTRACED). CLONE_PARENT is excluded because it makes
// the child a child of the caller's parent: the supervisor would get children that it
// did not start. Bit 7 is free: for clone it is part of the exit signal, and
// CLONE_NEWTIME exists only in unshare and clone3.
var plainClone = Where{ignoring(0,
	cloneSignalMask|cloneVM|cloneFS|cloneFiles|cloneSighand|clonePIDFD|cloneVfork|
		cloneThread|cloneSysVSem|cloneSetTLS|cloneParentSetTID|cloneChildClearTID|
		cloneDetached|cloneChildSetTID|cloneIO, 0)}

// commandFiles: operations on files and descriptors that scripts do not have. The mounts
// decide which files: a private root and the workspace.
func commandFiles() []Group {
	return []Group{
		// chown and extended attributes work on the guest's own files. Other uses need
		// capabilities (trusted.*, security.*, another owner), and tar, cp -a and git
		// handle the kernel's EPERM. git, apt and cargo need flock; a lock ends with
		// its holder. Go's io.Copy uses splice without a fallback.
		{"more files", Allow, calls(
			"flock", "splice", "tee", "readahead", "sync_file_range",
			"chown", "fchown", "lchown", "fchownat",
			"setxattr", "lsetxattr", "fsetxattr",
			"removexattr", "lremovexattr", "fremovexattr",
		)},

		// Only the modes that release space. fallocate can reserve gigabytes in
		// microseconds, between two checks of a command's disk use, even without
		// growing the file (FALLOC_FL_KEEP_SIZE). If it is not supported, glibc's
		// posix_fallocate writes zeros, and other callers continue as on NFS.
		{"freeing space", Allow, []Rule{{"fallocate", Where{is(1, fallocPunchHole, fallocCollapse)}}}},
		{"reserving space", NotSupported, []Rule{{"fallocate", Where{is(1, fallocDefault, fallocKeepSize,
			fallocZeroRange, fallocZeroRange|fallocKeepSize, fallocInsert, fallocUnshare, fallocUnshare|fallocKeepSize)}}}},

		// Watching files (tail -f, dev servers). The kernel counts watches for the user
		// who runs cordon, so a running guest can use up that user's share. Refusing it
		// would break too many programs. fanotify is excluded: it is for
		// administrators.
		{"watching", Allow, calls(
			"inotify_init", "inotify_init1", "inotify_add_watch", "inotify_rm_watch",
		)},

		// FIFOs, plain files and sockets, but no devices: not even the character device
		// 0:0, which means "deleted" to overlayfs and which the kernel lets any user
		// create. No file that runs as its owner.
		{"nodes", Allow, []Rule{
			{"mknod", Where{ignoring(1, plainBits, 0, typeFIFO, typeRegular, typeSocket)}},
			{"mknodat", Where{ignoring(2, plainBits, 0, typeFIFO, typeRegular, typeSocket)}},
		}},

		// F_SETOWN and F_SETSIG make the kernel send signals (nginx, emacs), but only
		// to processes of the guest's pid namespace. Pipe buffers are charged to the
		// memory cgroup. Excluded: F_SETLEASE, which blocks processes of the host that
		// open the file, and F_NOTIFY, which inotify replaces.
		{"more fcntl", Allow, []Rule{{"fcntl", Where{is(1,
			fSetOwn, fGetOwn, fSetSig, fGetSig, fSetOwnEx, fGetOwnEx,
			fSetPipeSize, fAddSeals, fDupFDQuery, fCreatedQuery,
			fGetRWHint, fSetRWHint)}}}},

		// The kernel uses 32 bits of a request and a rule compares 64, so only an
		// allowlist is safe. Terminals: everything for job control and for creating a
		// pseudo terminal. Excluded: TIOCSTI and TIOCLINUX (they type into the caller's
		// terminal), TIOCSETD (it loads a driver that the guest chooses), TIOCCONS,
		// serial lines.
		{"terminals", Allow, []Rule{{"ioctl", Where{is(1,
			tcSets, tcSetsW, tcSetsF, tcSets2, tcSetsW2, tcSetsF2,
			tcSBrk, tcSBrkP, tcXOnC, tcFlush, tiocOutQ,
			tiocSCTTY, tiocNoTTY, tiocGPGrp, tiocSPGrp, tiocGSID, tiocSWinSz,
			tiocGPtN, tiocSPtLck, tiocGPtPeer, tiocPkt, tiocGDev, fioAsync)}}}},

		// Files: requests of cp, tar and filefrag, and the entropy count. Excluded:
		// FS_IOC_SETFLAGS and similar ones, whose flags stay on files of the host.
		{"file requests", Allow, []Rule{{"ioctl", Where{is(1,
			fiCloneRange, fiDedupeRange, fsGetFlags, fsFiemap, fiGetBlockSize, rndGetEntropy)}}}},
	}
}

// commandMemory: memory other than mmap, which is freed with the namespaces.
func commandMemory() []Group {
	return []Group{
		// RLIMIT_MEMLOCK bounds it (gpg, databases).
		{"locked memory", Allow, calls("mlock", "mlock2", "munlock", "mlockall", "munlockall")},

		// System V and POSIX message queues, semaphores and shared memory, in the
		// guest's ipc namespace (PostgreSQL, test suites). RLIMIT_MSGQUEUE bounds
		// POSIX queues.
		{"ipc", Allow, calls(
			"shmat", "shmdt", "shmctl",
			"semget", "semop", "semtimedop", "semctl",
			"msgget", "msgsnd", "msgrcv", "msgctl",
			"mq_open", "mq_unlink", "mq_timedsend", "mq_timedreceive", "mq_notify", "mq_getsetattr",
		)},
	}
}

// countedMemory: memory that can exist without being mapped. Only a memory cgroup counts
// it.
func countedMemory() []Group {
	return []Group{
		// No huge pages: the administrator has reserved them for other programs, and
		// the memory cgroup does not count them.
		{"memory files", Allow, []Rule{{"memfd_create", Where{ignoring(1,
			mfdCloexec|mfdAllowSealing|mfdNoExecSeal|mfdExec, 0)}}}},
		{"segments", Allow, calls("shmget")},
	}
}

// watchedMemory replaces countedMemory on hosts without a memory cgroup, where the Runner
// adds up the mapped memory of processes. A memory file can be filled without being
// mapped, and even without being open in any process, if it is in a message that was not
// received yet. The same holds for a segment, but the kernel allows at most 4096 of them,
// and PostgreSQL needs a small one to start. Without memory files, programs use /dev/shm,
// which has a size limit.
func watchedMemory() []Group {
	return []Group{
		{"no memory files", NoSys, calls("memfd_create")},
		{"small segments", Allow, []Rule{{"shmget", Where{ignoring(1, smallSegment-1, 0)}}}},
	}
}

// smallSegment is a page. Segments must be smaller.
const smallSegment = 4096

// commandOptions: prctl, arch_prctl and personality, for the process itself.
func commandOptions() []Group {
	return []Group{
		// Options that read state or affect only the caller and its children. Allowing
		// a tracer (PR_SET_PTRACER, crash handlers) has no effect, because ptrace is
		// denied, and neither have options about capabilities, which are dropped.
		// Excluded: PR_SET_MM, PR_SET_SECUREBITS, PR_SET_SPECULATION_CTRL (it could
		// turn a mitigation off), PR_SCHED_CORE, PR_SET_TSC.
		{"more prctl", Allow, []Rule{
			{"prctl", Where{is(0,
				prSetPDeathSig, prGetPDeathSig, prGetKeepCaps, prSetKeepCaps,
				prCapBSetRead, prCapBSetDrop, prCapAmbient, prGetSecureBits,
				prSetTimerSlack, prGetTimerSlack, prSetChildSubreaper, prGetChildSubreaper,
				prGetTIDAddress, prSetTHPDisable, prGetTHPDisable, prGetTSC,
				prGetSpeculation, prSetMDWE, prGetMDWE, prSetPtracer, prGetAuxv,
				prSVESetVL, prSVEGetVL, prSetTaggedAddr, prGetTaggedAddr)}},
			// The third value, "only root may read the dump", is reserved for the kernel.
			{"prctl", Where{is(0, prSetDumpable), is(1, 0, 1)}},
			// A second base register, and the AMX registers for numeric programs.
			{"arch_prctl", Where{is(0,
				archSetGS, archGetGS, archGetCPUID,
				archGetXCompSupp, archGetXCompPerm, archReqXCompPerm)}},
		}},

		// The query (all ones, in either width), the ordinary personality, and the same
		// without random addresses, which ThreadSanitizer, SBCL and setarch -R use and
		// which weakens only the caller. Other personalities are for programs of other
		// systems and had many bugs.
		{"personality", Allow, []Rule{{"personality", Where{is(0,
			perQuery, allBits, perLinux, addrNoRandomize)}}}},
	}
}

// commandProbes: calls that programs try and can do without. None is a violation.
func commandProbes() []Group {
	return []Group{
		// Asynchronous files. node, databases and tokio try io_uring and fall back to
		// threads and epoll. io_uring bypasses this filter and had many kernel bugs.
		// The older aio has one count for the whole machine.
		{"asynchronous files", NoSys, calls(
			"io_uring_setup", "io_uring_enter", "io_uring_register",
			"io_setup", "io_submit", "io_cancel", "io_destroy", "io_getevents", "io_pgetevents",
		)},

		// They write back all file systems, or the whole one of the workspace, and stall
		// other processes of the host. sync cannot fail, so its callers notice nothing;
		// fsync is allowed.
		{"syncing others", NoSys, calls("sync", "syncfs")},

		// New or rare calls, each with an alternative. V8 tries pkey_alloc; chrt,
		// findmnt and systemd's tools try the others; compilers and Java query the NUMA
		// placement of memory. The policy of sched_setattr is in memory.
		{"no need", NoSys, calls(
			"vmsplice", "cachestat", "name_to_handle_at", "sched_setattr",
			"pkey_alloc", "pkey_free", "pkey_mprotect",
			"set_mempolicy", "set_mempolicy_home_node", "migrate_pages", "move_pages",
			"statmount", "listmount", "listns",
			"setxattrat", "removexattrat", "file_getattr", "file_setattr",
			"lsm_get_self_attr", "lsm_set_self_attr", "lsm_list_modules",
		)},
	}
}
