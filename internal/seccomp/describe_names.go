package seccomp

// Names for Describe. Not complete: what is missing is shown as a number.

var families = map[uint32]string{
	0: "AF_UNSPEC", 1: "AF_UNIX", 2: "AF_INET", 3: "AF_AX25", 10: "AF_INET6",
	15: "AF_KEY", 16: "AF_NETLINK", 17: "AF_PACKET", 21: "AF_RDS", 29: "AF_CAN",
	30: "AF_TIPC", 31: "AF_BLUETOOTH", 38: "AF_ALG", 40: "AF_VSOCK", 43: "AF_SMC",
	44: "AF_XDP",
}

var socketTypes = map[uint32]string{
	1: "SOCK_STREAM", 2: "SOCK_DGRAM", 3: "SOCK_RAW", 4: "SOCK_RDM",
	5: "SOCK_SEQPACKET", 10: "SOCK_PACKET",
}

var protocols = map[uint32]string{
	1: "IPPROTO_ICMP", 6: "IPPROTO_TCP", 17: "IPPROTO_UDP", 58: "IPPROTO_ICMPV6",
	132: "IPPROTO_SCTP", 255: "IPPROTO_RAW", 262: "IPPROTO_MPTCP",
}

var signals = map[uint32]string{
	1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT",
	7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL", 10: "SIGUSR1", 11: "SIGSEGV", 12: "SIGUSR2",
	13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM", 16: "SIGSTKFLT", 17: "SIGCHLD",
	18: "SIGCONT", 19: "SIGSTOP", 20: "SIGTSTP", 21: "SIGTTIN", 22: "SIGTTOU",
	23: "SIGURG", 24: "SIGXCPU", 25: "SIGXFSZ", 26: "SIGVTALRM", 27: "SIGPROF",
	28: "SIGWINCH", 29: "SIGIO", 30: "SIGPWR", 31: "SIGSYS",
}

var fcntlCommands = map[uint32]string{
	fDupFD: "F_DUPFD", fGetFD: "F_GETFD", fSetFD: "F_SETFD", fGetFL: "F_GETFL",
	fSetFL: "F_SETFL", fGetLk: "F_GETLK", fSetLk: "F_SETLK", fSetLkW: "F_SETLKW",
	fSetOwn: "F_SETOWN", 9: "F_GETOWN", fSetSig: "F_SETSIG", 11: "F_GETSIG",
	15: "F_SETOWN_EX", 16: "F_GETOWN_EX",
	fOFDGetLk: "F_OFD_GETLK", fOFDSetLk: "F_OFD_SETLK", fOFDSetLkW: "F_OFD_SETLKW",
	fSetLease: "F_SETLEASE", 1025: "F_GETLEASE", fNotify: "F_NOTIFY",
	fDupFDCloexec: "F_DUPFD_CLOEXEC", fSetPipeSize: "F_SETPIPE_SZ",
	fGetPipeSize: "F_GETPIPE_SZ", fAddSeals: "F_ADD_SEALS", fGetSeals: "F_GET_SEALS",
}

var ioctlRequests = map[uint32]string{
	tcGets: "TCGETS", tcGets2: "TCGETS2", tcSets: "TCSETS", 0x5403: "TCSETSW",
	0x5404: "TCSETSF", tiocSCTTY: "TIOCSCTTY", 0x540f: "TIOCGPGRP",
	0x5410: "TIOCSPGRP", tiocSTI: "TIOCSTI", tiocGWinSz: "TIOCGWINSZ",
	tiocSWinSz: "TIOCSWINSZ", tiocLinux: "TIOCLINUX", fioNRead: "FIONREAD",
	fioNBIO: "FIONBIO", 0x5422: "TIOCNOTTY", 0x5452: "FIOASYNC",
	fioNClex: "FIONCLEX", fioClex: "FIOCLEX", fiClone: "FICLONE",
	0x8912: "SIOCGIFCONF", 0x8927: "SIOCGIFHWADDR",
	0x80045430: "TIOCGPTN", 0x40045431: "TIOCSPTLCK",
}

var cloneFlags = []bit{
	{cloneVM, "CLONE_VM"}, {cloneFS, "CLONE_FS"}, {cloneFiles, "CLONE_FILES"},
	{cloneSighand, "CLONE_SIGHAND"}, {clonePIDFD, "CLONE_PIDFD"},
	{clonePtrace, "CLONE_PTRACE"}, {cloneVfork, "CLONE_VFORK"},
	{cloneParent, "CLONE_PARENT"}, {cloneThread, "CLONE_THREAD"},
	{cloneNewNS, "CLONE_NEWNS"}, {cloneSysVSem, "CLONE_SYSVSEM"},
	{cloneSetTLS, "CLONE_SETTLS"}, {cloneParentSetTID, "CLONE_PARENT_SETTID"},
	{cloneChildClearTID, "CLONE_CHILD_CLEARTID"}, {cloneDetached, "CLONE_DETACHED"},
	{cloneUntraced, "CLONE_UNTRACED"}, {cloneChildSetTID, "CLONE_CHILD_SETTID"},
	{cloneNewCgroup, "CLONE_NEWCGROUP"}, {cloneNewUTS, "CLONE_NEWUTS"},
	{cloneNewIPC, "CLONE_NEWIPC"}, {cloneNewUser, "CLONE_NEWUSER"},
	{cloneNewPID, "CLONE_NEWPID"}, {cloneNewNet, "CLONE_NEWNET"}, {cloneIO, "CLONE_IO"},
}

var prctlOptions = map[uint32]string{
	prSetPDeathSig: "PR_SET_PDEATHSIG", 2: "PR_GET_PDEATHSIG",
	prGetDumpable: "PR_GET_DUMPABLE", 4: "PR_SET_DUMPABLE", 8: "PR_SET_KEEPCAPS",
	prSetName: "PR_SET_NAME", prGetName: "PR_GET_NAME", prGetSeccomp: "PR_GET_SECCOMP",
	22: "PR_SET_SECCOMP", prCapBSetRead: "PR_CAPBSET_READ", 24: "PR_CAPBSET_DROP",
	26: "PR_SET_TSC", 28: "PR_SET_SECUREBITS", 29: "PR_SET_TIMERSLACK",
	30: "PR_GET_TIMERSLACK", 35: "PR_SET_MM", 36: "PR_SET_CHILD_SUBREAPER",
	prSetNoNewPrivs: "PR_SET_NO_NEW_PRIVS", prGetNoNewPrivs: "PR_GET_NO_NEW_PRIVS",
	41: "PR_SET_THP_DISABLE", 47: "PR_CAP_AMBIENT", 53: "PR_SET_SPECULATION_CTRL",
	62: "PR_SCHED_CORE", prSetVMA: "PR_SET_VMA", 0x59616d61: "PR_SET_PTRACER",
}

var ptraceRequests = map[uint32]string{
	0: "PTRACE_TRACEME", 1: "PTRACE_PEEKTEXT", 2: "PTRACE_PEEKDATA",
	4: "PTRACE_POKETEXT", 5: "PTRACE_POKEDATA", 7: "PTRACE_CONT", 16: "PTRACE_ATTACH",
	17: "PTRACE_DETACH", 0x4206: "PTRACE_SEIZE",
}

var resources = map[uint32]string{
	0: "RLIMIT_CPU", 1: "RLIMIT_FSIZE", 2: "RLIMIT_DATA", 3: "RLIMIT_STACK",
	4: "RLIMIT_CORE", 5: "RLIMIT_RSS", 6: "RLIMIT_NPROC", 7: "RLIMIT_NOFILE",
	8: "RLIMIT_MEMLOCK", 9: "RLIMIT_AS", 10: "RLIMIT_LOCKS", 11: "RLIMIT_SIGPENDING",
	12: "RLIMIT_MSGQUEUE", 13: "RLIMIT_NICE", 14: "RLIMIT_RTPRIO", 15: "RLIMIT_RTTIME",
}

var protections = []bit{{1, "PROT_READ"}, {2, "PROT_WRITE"}, {4, "PROT_EXEC"}}

// MAP_SHARED_VALIDATE is both low bits, so it comes before them.
var mapFlags = []bit{
	{3, "MAP_SHARED_VALIDATE"}, {1, "MAP_SHARED"}, {2, "MAP_PRIVATE"},
	{0x10, "MAP_FIXED"}, {0x20, "MAP_ANONYMOUS"}, {0x2000, "MAP_LOCKED"},
	{0x4000, "MAP_NORESERVE"}, {0x8000, "MAP_POPULATE"}, {0x20000, "MAP_STACK"},
	{0x40000, "MAP_HUGETLB"},
}

var memfdFlags = []bit{
	{1, "MFD_CLOEXEC"}, {2, "MFD_ALLOW_SEALING"}, {4, "MFD_HUGETLB"},
	{8, "MFD_NOEXEC_SEAL"}, {16, "MFD_EXEC"},
}
