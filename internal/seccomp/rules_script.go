package seccomp

// scriptRules is the allowlist for untrusted CPython 3.9 to 3.14, its standard
// library and numpy, on glibc and musl. Whatever is not here is denied;
// hints_script.go says to a guest why.
//
// The measure of each group: does CPython need it, and does another wall decide
// about what the filter cannot see?
func scriptRules() []Group {
	return []Group{
		// Not here: splice, tee, vmsplice (page-cache bugs such as Dirty Pipe;
		// nothing in the standard library calls them on its own), nor flock: an
		// exclusive lock needs no right to write, so that a guest could hold one
		// on a file that it shares with other runs. fcntl's locks need the right.
		useDescriptors(),

		// Not here: mknod (devices), chown (an unprivileged uid gets EPERM
		// anyway), sync and syncfs (they stall the whole host), changing extended
		// attributes (Landlock does not control that).
		usePaths(),

		// A script writes to nothing but its own /tmp, which has a size.
		{"reserving", Allow, calls("fallocate")},

		// With any mode: no file that a script makes outlives it.
		{"opening", Allow, calls("open", "openat", "creat")},

		// fchmodat2 has all its arguments in registers and the power of fchmodat.
		// glibc takes EPERM from it for the final answer.
		{"modes", Allow, calls("chmod", "fchmod", "fchmodat", "fchmodat2")},

		// Not here: F_SETOWN and F_SETSIG (the kernel would send signals on the
		// guest's behalf), F_SETPIPE_SZ (memory that no limit counts), F_NOTIFY
		// and F_SETLEASE (they watch others).
		controlDescriptors(),

		askDescriptors(),

		// Not here: mlock (pins pages of the host), memfd_create (memory outside
		// limits, and files to execute), pkey_*, remap_file_pages.
		useMemory(),

		liveAsThreads(),

		// A thread, and nothing that shares less than a thread does; see
		// threadClone. All other clones, fork and vfork are processes: denied.
		{"new thread", Thread, []Rule{{"clone", threadClone}}},

		// Not here: timer_create (no caller in the standard library, and a history
		// of races).
		tellTime(),

		// Not here: inotify, fanotify, signalfd, aio.
		waitForEvents(),

		// Not here: rt_sigqueueinfo and its sibling (they forge siginfo).
		takeSignals(),

		// A guest may signal itself. A negative pid, one message to everybody (-1)
		// or to a process group, has no use for a guest without children, so it is
		// not left to the pid namespace and Landlock alone.
		{"kill", Allow, []Rule{{"kill", Where{ignoring(0, maxPID, 0)}}}},

		knowOneself(),
		limitOneself(),
		setOwnOptions(),

		// The parent-death signal may only be SIGKILL: then it can end the guest
		// and nothing else.
		{"end with the parent", Allow, []Rule{
			{"prctl", Where{is(0, prSetPDeathSig), is(1, sigKill)}},
		}},

		giveUpRights(),
		useSockets(),

		// A pair of connected sockets inside the process: asyncio's way to wake
		// itself. There is no socket(), so nothing here leads out. No address can
		// be given, and descriptors cannot be passed except by the fork server.
		// getsockopt: what socket.socket(fileno=…) asks. setsockopt is not here:
		// SO_ATTACH_FILTER hands the kernel a program, and a pair needs no option.
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

		// The fork server's way back to its own namespaces after each fork. Like
		// ControlFD, a guest cannot have these descriptors, and without
		// capabilities the kernel would refuse it anyway.
		{"own namespaces", Allow, []Rule{
			{"setns", Where{is(0, MountNSFD), is(1, cloneNewNS)}},
			{"setns", Where{is(0, PIDNSFD), is(1, cloneNewPID)}},
		}},

		olderCall(),

		// One more that this interpreter does without: asyncio tries it out on 3.12
		// and 3.13 before it uses threads instead.
		{"no need", NoSys, calls("pidfd_open")},

		// The one socket that nobody asked for: glibc looks for its name service
		// daemon whenever a user is looked up (os.path.expanduser, tarfile), with
		// exactly these arguments, and reads /etc/passwd when there is none. It
		// gets no socket either, but is not reported as an attempt at the network.
		{"name service", NoSys, []Rule{{"socket", Where{
			is(0, afUnix), is(1, sockStream|sockCloexec|sockNonblock), is(2, 0)}}}},
	}
}

// localType is the second argument of socket and socketpair for AF_UNIX.
var localType = ignoring(1, sockNonblock|sockCloexec, sockStream, sockDgram, sockSeqpacket)

// threadClone is what pthread_create asks for: the six that make a thread, any
// of libc's conveniences, and no other bit. That excludes namespaces, an exit
// signal, CLONE_PARENT, CLONE_PIDFD, CLONE_PTRACE and all of the upper half.
// clone takes its flags in a register, so between the check and the kernel's use
// (also when the host lets the call continue) nobody can change them.
var threadClone = Where{ignoring(0,
	cloneSysVSem|cloneSetTLS|cloneParentSetTID|cloneChildClearTID|cloneDetached|cloneChildSetTID,
	cloneVM|cloneFS|cloneFiles|cloneSighand|cloneThread)}

// IsThread says whether a call that a script's filter handed to the host creates
// a thread, by the rule itself. The host may let exactly those continue; all else
// that it is asked is denied. A command's filter never asks about threads.
func IsThread(nr int, args [6]uint64) bool {
	return Name(nr) == "clone" && threadClone.Holds(args)
}

// ThreadFails says that the kernel will not make a thread that [IsThread] knows: on
// amd64 it refuses thread-local storage outside of what a process can address. That is
// in a register, too. A guest that asks for it in a loop makes the host work for
// nothing, and has to be counted.
func ThreadFails(arch string, args [6]uint64) bool {
	const lastAddress = 1<<47 - 4096 // with five levels of page tables, nobody has more unasked
	return arch == "amd64" && args[0]&cloneSetTLS != 0 && args[4] >= lastAddress
}
