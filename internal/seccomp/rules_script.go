package seccomp

// scriptRules returns the allowlist for untrusted CPython 3.9 to 3.14, its standard
// library and numpy, on glibc and musl. All other calls are denied; hints_script.go has
// the advice for their authors.
//
// Each group must answer two questions: does CPython need the calls, and which wall
// checks what the filter cannot see?
func scriptRules() []Group {
	return []Group{
		// Excluded: splice, tee, vmsplice (page-cache bugs such as Dirty Pipe; the
		// standard library does not call them internally), and flock: an exclusive lock
		// needs no write permission, so a guest could lock a file that other runs share.
		// fcntl's locks need it.
		useDescriptors(),

		// Excluded: mknod (devices), chown (an unprivileged uid gets EPERM anyway),
		// sync and syncfs (they stall the whole host), changing extended attributes
		// (Landlock does not check it).
		usePaths(),

		// A script can write only to its own /tmp, which has a size limit.
		{"reserving", Allow, calls("fallocate")},

		// Any mode is allowed, because files of a script are deleted with it.
		{"opening", Allow, calls("open", "openat", "creat")},

		// fchmodat2 has all its arguments in registers and does no more than fchmodat.
		// glibc does not fall back after EPERM.
		{"modes", Allow, calls("chmod", "fchmod", "fchmodat", "fchmodat2")},

		// Excluded: F_SETOWN and F_SETSIG (the kernel would send signals for the
		// guest), F_SETPIPE_SZ (memory that no limit counts), F_NOTIFY and F_SETLEASE
		// (they watch other processes).
		controlDescriptors(),

		queryDescriptors(),

		// Excluded: mlock (it pins pages of the host), memfd_create (memory outside the
		// limits, and files to execute), pkey_*, remap_file_pages.
		useMemory(),

		manageThreads(),

		// Only threads, which share everything; see threadClone. All other clones, fork
		// and vfork create processes and are denied.
		{"new thread", Thread, []Rule{{"clone", threadClone}}},

		// Excluded: timer_create (the standard library does not use it, and it had many
		// races).
		readClocks(),

		// Excluded: inotify, fanotify, signalfd, aio.
		waitForEvents(),

		// Excluded: rt_sigqueueinfo and rt_tgsigqueueinfo (they forge siginfo).
		receiveSignals(),

		// A guest may signal itself. A negative pid, which means all processes (-1) or a
		// process group, is useless to a guest without children, so the filter denies it
		// in addition to the pid namespace and Landlock.
		{"kill", Allow, []Rule{{"kill", Where{ignoring(0, maxPID, 0)}}}},

		inspectSelf(),
		limitSelf(),
		setOwnOptions(),

		// The parent-death signal may only be SIGKILL, which can only end the guest.
		{"end with the parent", Allow, []Rule{
			{"prctl", Where{is(0, prSetPDeathSig), is(1, sigKill)}},
		}},

		dropRights(),
		useSockets(),

		// A pair of connected sockets inside the process, which asyncio uses to wake
		// itself. Without socket(), addresses, and passing descriptors (only the fork
		// server may), a pair cannot reach anything outside. socket.socket(fileno=…)
		// calls getsockopt. setsockopt is excluded: SO_ATTACH_FILTER gives the kernel a
		// program, and a pair needs no option.
		{"socket pairs", Allow, []Rule{
			{"socketpair", Where{is(0, afUnix), localType, is(2, 0)}},
			{"sendto", Where{is(4, 0)}},
			{"recvfrom", Where{is(4, 0)}},
			{"sendmsg", Where{is(0, ControlFD)}},
			{"recvmsg", Where{is(0, ControlFD)}},
			{"getsockopt", Where{
				is(1, solSocket),
				is(2, soType, soError, soSndBuf, soRcvBuf, soAcceptConn, soProtocol, soDomain),
			}},
		}},

		// The fork server returns to its own namespaces after each fork. A guest cannot
		// have these descriptors, as with ControlFD, and without capabilities the kernel
		// would refuse the call anyway.
		{"own namespaces", Allow, []Rule{
			{"setns", Where{is(0, MountNSFD), is(1, cloneNewNS)}},
			{"setns", Where{is(0, PIDNSFD), is(1, cloneNewPID)}},
		}},

		refuseNewerCalls(),

		// asyncio of 3.12 and 3.13 tries pidfd_open and falls back to threads.
		{"no need", NoSys, calls("pidfd_open")},

		// glibc tries to connect to its name service daemon at each lookup of a user
		// (os.path.expanduser, tarfile), with exactly these arguments, and reads
		// /etc/passwd if there is none. The call is refused, but not reported as an
		// attempt to use the network.
		{"name service", NoSys, []Rule{{"socket", Where{
			is(0, afUnix), is(1, sockStream|sockCloexec|sockNonblock), is(2, 0)}}}},
	}
}

// networkedRules returns the allowlist for scripts that have a network. They may connect over
// TCP, but neither listen nor use other protocols.
func networkedRules() []Group {
	return append(scriptRules(),
		Group{"connections", Allow, append(calls("connect"), Rule{
			"socket", Where{is(0, afInet, afInet6), ignoring(1, sockNonblock|sockCloexec, sockStream), is(2, 0, protoTCP)},
		})},
		Group{"options of connections", Allow, []Rule{
			{"setsockopt", Where{is(1, solSocket), is(2,
				soKeepAlive, soLinger, soSndBuf, soRcvBuf, soOOBInline, soRcvLoWat, soRcvTimeo, soSndTimeo, soRcvTimeoNew, soSndTimeoNew)}},
			{"setsockopt", Where{is(1, protoTCP), is(2,
				tcpNoDelay, tcpMaxSeg, tcpCork, tcpKeepIdle, tcpKeepIntvl, tcpKeepCnt, tcpQuickAck, tcpUserTimeout, tcpNotSentLoWat)}},
			{"getsockopt", Where{is(1, solSocket), ignoring(2, 0x7f, 0)}},
			{"getsockopt", Where{is(1, protoTCP), ignoring(2, 0x1f, 0)}},
		}},
	)
}

// localType is the second argument of socket and socketpair for AF_UNIX.
var localType = ignoring(1, sockNonblock|sockCloexec, sockStream, sockDgram, sockSeqpacket)

// threadClone matches the flags of pthread_create: the six that make a thread, optional
// ones of libc, and no other bit. That excludes namespaces, an exit signal,
// CLONE_PARENT, CLONE_PIDFD, CLONE_PTRACE and all of the upper half. The flags of clone
// are in a register, so they cannot change between the check and the kernel's use, even
// if the host lets the call continue.
var threadClone = Where{ignoring(0,
	cloneSysVSem|cloneSetTLS|cloneParentSetTID|cloneChildClearTID|cloneDetached|cloneChildSetTID,
	cloneVM|cloneFS|cloneFiles|cloneSighand|cloneThread)}

// IsThread reports whether a call that a script's filter passed to the host creates a
// thread, by the rule itself. The host may let exactly those continue; it denies all
// other calls. A command's filter passes no threads to the host.
func IsThread(nr int, args [6]uint64) bool {
	return Name(nr) == "clone" && threadClone.Holds(args)
}

// ThreadFails reports whether the kernel will refuse a thread that [IsThread] accepts:
// on amd64 it refuses an address of thread-local storage, also in a register, that a
// process cannot use. A guest that tries this in a loop causes work for the host, so it
// has to be counted.
func ThreadFails(arch string, args [6]uint64) bool {
	const lastAddress = 1<<47 - 4096 // the default also with five levels of page tables
	return arch == "amd64" && args[0]&cloneSetTLS != 0 && args[4] >= lastAddress
}
