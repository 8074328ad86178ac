package seccomp

import "slices"

// commandRules is the allowlist for any program: shells, compilers, make, git,
// node, databases, static Go binaries, glibc and musl. It stands in namespaces
// with a private root and without capabilities, so that its measure is another
// one than a script's: whatever the pid, net, ipc and mount namespaces already
// bound is allowed, even where one would refuse it to a script. What stays out is
// what makes or changes namespaces, what the kernel does not divide between them
// (keyrings, clocks, vsock, the log), what looks into other processes, and frontends
// that no ordinary program needs and that kernel bugs came through.
//
// There is no Thread here. Threads and processes are bounded by RLIMIT_NPROC and
// the pids cgroup, and to count each of them by hand would cost a build dearly.
//
// counted says that a memory cgroup counts what the command uses.
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
		askDescriptors(),
		useMemory(),
		liveAsThreads(),
		tellTime(),
		waitForEvents(),
		takeSignals(),
		knowOneself(),
		limitOneself(),
		setOwnOptions(),
		giveUpRights(),
		useSockets(),
		olderCall(),
	}, commandProcesses(), commandFiles(), commandMemory(), memory(), commandOptions(), commandSockets(), commandProbes())
}

// without wants none of these bits in an argument. All others are free, in the
// upper half too: of modes and of flags to open, the kernel looks at the lower one
// alone.
func without(arg int, bits uint64) Where { return Where{ignoring(arg, ^bits, 0)} }

// runAsOwner are the bits that make a file run as its owner: files in a workspace
// are the caller's, who may be root, and outside of the sandbox nothing keeps the
// kernel from honouring them.
const runAsOwner = setUID | setGID

// openPlainFiles makes no file with these bits: an empty one keeps them when root
// copies a program into it. Without O_CREAT and O_TMPFILE the kernel takes no mode,
// and the register may hold anything. That is asked first, because most files that
// are opened are there already.
func openPlainFiles() Group {
	return Group{"opening", Allow, []Rule{
		{"openat", without(2, oCreat|oTmpFile)}, {"openat", without(3, runAsOwner)},
		{"open", without(1, oCreat|oTmpFile)}, {"open", without(2, runAsOwner)},
		{"creat", without(1, runAsOwner)},
	}}
}

// changePlainModes is chmod without these bits. mkdir needs no rule: the kernel
// takes them out itself.
func changePlainModes() Group {
	return Group{"modes", Allow, []Rule{
		{"chmod", without(1, runAsOwner)}, {"fchmod", without(1, runAsOwner)},
		{"fchmodat", without(2, runAsOwner)}, {"fchmodat2", without(2, runAsOwner)},
	}}
}

// commandProcesses is about having children and talking to them.
func commandProcesses() []Group {
	return []Group{
		// The pid namespace bounds which processes a signal, a pidfd or a wait can
		// reach, and
		// a program that it executes has this filter too. Executing a memory file
		// (execveat) gives nothing that a file in the workspace does not.
		{"processes", Allow, calls(
			"fork", "vfork", "execve", "execveat", "setpgid", "kill",
			"rt_sigqueueinfo", "rt_tgsigqueueinfo", "signalfd", "signalfd4",
			"pidfd_open", "pidfd_send_signal",
		)},

		// Threads and processes of every kind, but no namespaces, and nothing
		// that only a tracer wants (CLONE_PTRACE, CLONE_UNTRACED). CLONE_PARENT
		// stays out because it hands the child to the caller's own parent: the
		// supervisor would get children that it never made. Bit 7 is free: for
		// clone it belongs to the exit signal, CLONE_NEWTIME exists in unshare and
		// clone3 only.
		{"new process", Allow, []Rule{{"clone", Where{ignoring(0,
			cloneSignalMask|cloneVM|cloneFS|cloneFiles|cloneSighand|clonePIDFD|cloneVfork|
				cloneThread|cloneSysVSem|cloneSetTLS|cloneParentSetTID|cloneChildClearTID|
				cloneDetached|cloneChildSetTID|cloneIO, 0)}}}},

		// Timers that send signals (timeout, Go's profiler). RLIMIT_SIGPENDING
		// counts them.
		{"timers", Allow, calls(
			"timer_create", "timer_settime", "timer_gettime", "timer_getoverrun", "timer_delete",
		)},

		// nice, taskset, ionice, make -l. Without a capability they only make a
		// process more modest, and who is meant is looked up in the pid namespace.
		// A scheduling class is in a register: the real-time ones are denied
		// although the kernel would refuse them too.
		{"priorities", Allow, append(calls(
			"setpriority", "ioprio_get", "ioprio_set", "sched_setaffinity", "sched_setparam",
			"sched_getattr", "sched_rr_get_interval",
		), Rule{"sched_setscheduler", Where{
			ignoring(1, schedResetOnFork, schedOther, schedBatch, schedIdle)}})},

		// One's own limits by the older name.
		{"own limits", Allow, calls("setrlimit")},

		// Daemons and tar set the ids that they have already; without
		// capabilities and with no-new-privs the kernel refuses every other. A
		// refusal is then the kernel's ordinary EPERM, which programs expect, and
		// not reported: su and sudo say themselves that they cannot.
		{"ids", Allow, calls(
			"setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid",
			"setgroups", "setfsuid", "setfsgid",
		)},

		// A filter of one's own, as ssh, man, file and browsers install. It can
		// only take away: the strictest answer counts, and nothing of ours can be
		// removed. One flag is excluded, a listener of the guest's own. The kernel
		// refuses it while ours is open; but if the Runner were gone, a guest could
		// put a listener over the calls that we hand out and answer them with
		// "continue". That one says "this kernel is older", because libseccomp
		// tries every flag out.
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

// commandFiles is about files and descriptors beyond what a script has. Which
// files is decided by the mounts: a private root, and the workspace.
func commandFiles() []Group {
	return []Group{
		// chown and extended attributes reach the guest's own files; the rest needs
		// capabilities (trusted.*, security.*, another owner), and tar, cp -a and
		// git live with the kernel's EPERM. flock: git, apt and cargo cannot do
		// without; it ends with its holder. splice is what io.Copy of Go uses and
		// does not replace.
		{"more files", Allow, calls(
			"flock", "splice", "tee", "readahead", "sync_file_range",
			"chown", "fchown", "lchown", "fchownat",
			"setxattr", "lsetxattr", "fsetxattr",
			"removexattr", "lremovexattr", "fremovexattr",
		)},

		// To give space back, and nothing that takes it. fallocate reserves gigabytes
		// in microseconds, between two looks of the watch that bounds a command's
		// disk, and the file need not grow (FALLOC_FL_KEEP_SIZE). Without it, glibc's
		// posix_fallocate writes, and other callers go on as on NFS.
		{"freeing space", Allow, []Rule{{"fallocate", Where{is(1, fallocPunchHole, fallocCollapse)}}}},
		{"reserving space", NotSupported, []Rule{{"fallocate", Where{is(1, fallocDefault, fallocKeepSize,
			fallocZeroRange, fallocZeroRange|fallocKeepSize, fallocInsert, fallocUnshare, fallocUnshare|fallocKeepSize)}}}},

		// Watching files (tail -f, dev servers). How many is counted for the user
		// who runs cordon, so that a guest can use up what that user may have, for
		// as long as it runs. Refusing it would break too much.
		// fanotify stays out: it is for administrators.
		{"watching", Allow, calls(
			"inotify_init", "inotify_init1", "inotify_add_watch", "inotify_rm_watch",
		)},

		// FIFOs, plain files and sockets, never a device: not even the character
		// device 0:0, which overlayfs reads as "deleted" and the kernel gives to
		// anybody. Nor one that runs as its owner.
		{"nodes", Allow, []Rule{
			{"mknod", Where{ignoring(1, plainBits, 0, typeFIFO, typeRegular, typeSocket)}},
			{"mknodat", Where{ignoring(2, plainBits, 0, typeFIFO, typeRegular, typeSocket)}},
		}},

		// F_SETOWN and F_SETSIG make the kernel send signals (nginx, emacs), and
		// only to processes of the guest's pid namespace. Pipe buffers are charged
		// to the memory cgroup. Not here: F_SETLEASE (it makes whoever opens the
		// file on the host wait) and F_NOTIFY (inotify is the newer way).
		{"more fcntl", Allow, []Rule{{"fcntl", Where{is(1,
			fSetOwn, fGetOwn, fSetSig, fGetSig, fSetOwnEx, fGetOwnEx,
			fSetPipeSize, fAddSeals, fDupFDQuery, fCreatedQuery,
			fGetRWHint, fSetRWHint)}}}},

		// The kernel cuts a request to 32 bits and a rule compares 64, so only a
		// list of what is allowed is safe. Terminals: everything for job control
		// and for making a pseudo terminal. Not here: TIOCSTI and TIOCLINUX (they
		// type into the caller's terminal), TIOCSETD (a line discipline is a driver
		// that the guest chooses), TIOCCONS, serial lines.
		{"terminals", Allow, []Rule{{"ioctl", Where{is(1,
			tcSets, tcSetsW, tcSetsF, tcSets2, tcSetsW2, tcSetsF2,
			tcSBrk, tcSBrkP, tcXOnC, tcFlush, tiocOutQ,
			tiocSCTTY, tiocNoTTY, tiocGPGrp, tiocSPGrp, tiocGSID, tiocSWinSz,
			tiocGPtN, tiocSPtLck, tiocGPtPeer, tiocPkt, tiocGDev, fioAsync)}}}},

		// Files: what cp, tar and filefrag ask, and the entropy count. Not here:
		// FS_IOC_SETFLAGS and its kind, whose marks stay on files of the host.
		{"file requests", Allow, []Rule{{"ioctl", Where{is(1,
			fiCloneRange, fiDedupeRange, fsGetFlags, fsFiemap, fiGetBlockSize, rndGetEntropy)}}}},
	}
}

// commandMemory is memory beyond mmap, which ends with the namespaces.
func commandMemory() []Group {
	return []Group{
		// RLIMIT_MEMLOCK bounds how much (gpg, databases).
		{"locked memory", Allow, calls("mlock", "mlock2", "munlock", "mlockall", "munlockall")},

		// System V and POSIX message queues, semaphores and shared memory, of the
		// guest's own ipc namespace (PostgreSQL, test suites). RLIMIT_MSGQUEUE
		// bounds the POSIX ones.
		{"ipc", Allow, calls(
			"shmat", "shmdt", "shmctl",
			"semget", "semop", "semtimedop", "semctl",
			"msgget", "msgsnd", "msgrcv", "msgctl",
			"mq_open", "mq_unlink", "mq_timedsend", "mq_timedreceive", "mq_notify", "mq_getsetattr",
		)},
	}
}

// countedMemory is memory that no process need have mapped. A memory cgroup counts
// it all the same.
func countedMemory() []Group {
	return []Group{
		// No huge pages: the administrator set those aside for somebody, and the
		// memory cgroup does not count them.
		{"memory files", Allow, []Rule{{"memfd_create", Where{ignoring(1,
			mfdCloexec|mfdAllowSealing|mfdNoExecSeal|mfdExec, 0)}}}},
		{"segments", Allow, calls("shmget")},
	}
}

// watchedMemory is what is left of it without a cgroup, where the Runner adds up
// what processes have mapped. A memory file can be filled without being mapped, and
// even be in no process's hands: in a message to oneself. So can a segment, but
// the kernel makes at most 4096 of them, and PostgreSQL cannot start without a small
// one. A program without memory files uses /dev/shm, which has a size.
func watchedMemory() []Group {
	return []Group{
		{"no memory files", NoSys, calls("memfd_create")},
		{"small segments", Allow, []Rule{{"shmget", Where{ignoring(1, smallSegment-1, 0)}}}},
	}
}

// smallSegment is what a segment must be smaller than: a page.
const smallSegment = 4096

// commandOptions is prctl and its neighbours: options of the process itself.
func commandOptions() []Group {
	return []Group{
		// Questions, and what only concerns the caller and its children. Whoever
		// lets itself be traced (PR_SET_PTRACER, crash handlers) finds no tracer
		// here. Capabilities are gone, so what is said about them changes nothing.
		// Not here: PR_SET_MM, PR_SET_SECUREBITS, PR_SET_SPECULATION_CTRL (it
		// could switch a mitigation off), PR_SCHED_CORE, PR_SET_TSC.
		{"more prctl", Allow, []Rule{
			{"prctl", Where{is(0,
				prSetPDeathSig, prGetPDeathSig, prGetKeepCaps, prSetKeepCaps,
				prCapBSetRead, prCapBSetDrop, prCapAmbient, prGetSecureBits,
				prSetTimerSlack, prGetTimerSlack, prSetChildSubreaper, prGetChildSubreaper,
				prGetTIDAddress, prSetTHPDisable, prGetTHPDisable, prGetTSC,
				prGetSpeculation, prSetMDWE, prGetMDWE, prSetPtracer, prGetAuxv,
				prSVESetVL, prSVEGetVL, prSetTaggedAddr, prGetTaggedAddr)}},
			// The third value, "only root may read the dump", is the kernel's own.
			{"prctl", Where{is(0, prSetDumpable), is(1, 0, 1)}},
			// A second base register, and the AMX registers that number crunchers
			// ask for.
			{"arch_prctl", Where{is(0,
				archSetGS, archGetGS, archGetCPUID,
				archGetXCompSupp, archGetXCompPerm, archReqXCompPerm)}},
		}},

		// The question (all ones, in either width), the ordinary personality, and
		// the same without random addresses, which ThreadSanitizer, SBCL and
		// setarch -R want and which weakens nobody but the caller. Other
		// personalities are for other systems' programs and were full of bugs.
		{"personality", Allow, []Rule{{"personality", Where{is(0,
			perQuery, allBits, perLinux, addrNoRandomize)}}}},
	}
}

// commandProbes is what programs try out and do without; none is a violation.
func commandProbes() []Group {
	return []Group{
		// Asynchronous files. node, databases and tokio look for io_uring and fall
		// back to threads and epoll. It does its work past this filter, and is
		// where many kernel bugs were. The older aio draws on one count for the
		// whole machine.
		{"asynchronous files", NoSys, calls(
			"io_uring_setup", "io_uring_enter", "io_uring_register",
			"io_setup", "io_submit", "io_cancel", "io_destroy", "io_getevents", "io_pgetevents",
		)},

		// They write back the whole machine, or the whole file system under the
		// workspace, and everybody on it waits. sync cannot fail, so that its
		// callers notice nothing; fsync is there for those who need it.
		{"syncing others", NoSys, calls("sync", "syncfs")},

		// Young or rare; each has an older way. V8 tries pkey_alloc; chrt, findmnt
		// and systemd's tools try the rest; compilers and Java ask where memory
		// lies. sched_setattr has its policy in memory.
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
