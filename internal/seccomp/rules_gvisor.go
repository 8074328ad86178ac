package seccomp

import "slices"

// gvisorRules returns the allowlist for runsc, which builds a sandbox of its own inside of
// cordon's: namespaces, a root for the sentry and one for the gofer, and processes that the
// sentry traces. Its guest makes no system call by itself: the filters of gVisor trap each
// one. The rest is as for commands, so that a guest that took over the sentry would have
// what a command has, and what is below.
//
// All of it acts in a user namespace inside of ours, which has no capability outside.
func gvisorRules() []Group {
	replaced := []string{"new process", "own filters", "own listener"}
	return slices.Concat(slices.DeleteFunc(commandRules(true), func(g Group) bool { return slices.Contains(replaced, g.Name) }), []Group{
		// The sentry and the gofer have namespaces of their own. CLONE_PARENT and
		// CLONE_PTRACE are for the processes in which the guest's code runs.
		{"new sandbox", Allow, []Rule{{"clone", gvisorClone}}},

		// Their roots.
		{"roots", Allow, calls("mount", "umount2", "pivot_root", "chroot")},

		// The sentry stops these processes once, to give them their first instruction.
		{"tracing", Allow, []Rule{{"ptrace", Where{is(0,
			ptraceCont, ptraceAttach, ptraceDetach, ptraceSetOptions, ptraceGetEventMessage,
			ptraceGetSigInfo, ptraceGetRegSet, ptraceSetRegSet, ptraceSetSigMask)}}}},

		// gVisor's own filters, with the listener by which its processes wake each other.
		// Ours passes no call to a listener.
		{"gVisor's filters", Allow, append(calls("seccomp"),
			Rule{"ioctl", Where{is(1, notifReceive, notifSend, notifSetFlags)}},
			Rule{"prctl", Where{is(0, prSetSeccomp)}},
		)},

		// Both trap instructions of the guest: system calls, and CPUID.
		{"traps", Allow, []Rule{
			{"prctl", Where{is(0, prSetSyscallUserDispatch)}},
			{"arch_prctl", Where{is(0, archSetCPUID)}},
		}},
	})
}

// gvisorClone is plainClone with namespaces, except those of cgroups, and with the flags for
// tracers.
var gvisorClone = Where{ignoring(0,
	cloneSignalMask|cloneVM|cloneFS|cloneFiles|cloneSighand|clonePIDFD|cloneVfork|
		cloneThread|cloneSysVSem|cloneSetTLS|cloneParentSetTID|cloneChildClearTID|
		cloneDetached|cloneChildSetTID|cloneIO|
		cloneNewUser|cloneNewNS|cloneNewPID|cloneNewNet|cloneNewIPC|cloneNewUTS|
		clonePtrace|cloneParent|cloneUntraced, 0)}
