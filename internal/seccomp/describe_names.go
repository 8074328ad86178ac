package seccomp

// closedSet has names for the values of an argument. No set is complete: Describe shows
// other values as numbers. Sets are slices, because maps would be filled at every start
// of the program.
type closedSet []struct {
	value uint32
	name  string
}

func (s closedSet) name(value uint32) (string, bool) {
	for _, one := range s {
		if one.value == value {
			return one.name, true
		}
	}
	return "", false
}

var families = closedSet{
	{0, "AF_UNSPEC"}, {afUnix, "AF_UNIX"}, {afInet, "AF_INET"}, {3, "AF_AX25"}, {afInet6, "AF_INET6"},
	{15, "AF_KEY"}, {afNetlink, "AF_NETLINK"}, {17, "AF_PACKET"}, {21, "AF_RDS"}, {24, "AF_PPPOX"},
	{26, "AF_LLC"}, {29, "AF_CAN"},
	{30, "AF_TIPC"}, {31, "AF_BLUETOOTH"}, {38, "AF_ALG"}, {40, "AF_VSOCK"}, {41, "AF_KCM"},
	{42, "AF_QIPCRTR"}, {43, "AF_SMC"}, {44, "AF_XDP"}, {45, "AF_MCTP"},
}

var socketTypes = closedSet{
	{1, "SOCK_STREAM"}, {2, "SOCK_DGRAM"}, {3, "SOCK_RAW"}, {4, "SOCK_RDM"},
	{5, "SOCK_SEQPACKET"}, {10, "SOCK_PACKET"},
}

var protocols = closedSet{
	{1, "IPPROTO_ICMP"}, {2, "IPPROTO_IGMP"}, {protoTCP, "IPPROTO_TCP"}, {protoUDP, "IPPROTO_UDP"},
	{33, "IPPROTO_DCCP"}, {47, "IPPROTO_GRE"}, {50, "IPPROTO_ESP"}, {58, "IPPROTO_ICMPV6"},
	{115, "IPPROTO_L2TP"}, {132, "IPPROTO_SCTP"}, {136, "IPPROTO_UDPLITE"}, {255, "IPPROTO_RAW"},
	{256, "IPPROTO_SMC"}, {protoMPTCP, "IPPROTO_MPTCP"},
}

var netlinkProtocols = closedSet{
	{netlinkRoute, "NETLINK_ROUTE"}, {2, "NETLINK_USERSOCK"}, {4, "NETLINK_SOCK_DIAG"},
	{6, "NETLINK_XFRM"}, {7, "NETLINK_SELINUX"}, {9, "NETLINK_AUDIT"}, {11, "NETLINK_CONNECTOR"},
	{12, "NETLINK_NETFILTER"}, {15, "NETLINK_KOBJECT_UEVENT"}, {16, "NETLINK_GENERIC"},
	{20, "NETLINK_RDMA"}, {21, "NETLINK_CRYPTO"},
}

var socketLevels = closedSet{
	{protoIP, "IPPROTO_IP"}, {solSocket, "SOL_SOCKET"}, {protoTCP, "IPPROTO_TCP"},
	{protoUDP, "IPPROTO_UDP"}, {protoIPv6, "IPPROTO_IPV6"}, {58, "IPPROTO_ICMPV6"},
	{255, "SOL_RAW"}, {263, "SOL_PACKET"}, {solNetlink, "SOL_NETLINK"}, {279, "SOL_ALG"},
	{282, "SOL_TLS"}, {283, "SOL_XDP"},
}

// socketOptions are the refused options, by level.
var socketOptions = []struct {
	level uint32
	names closedSet
}{
	{solSocket, closedSet{
		{1, "SO_DEBUG"}, {soPassCred, "SO_PASSCRED"}, {soPriority, "SO_PRIORITY"},
		{soAttachFilter, "SO_ATTACH_FILTER"}, {27, "SO_DETACH_FILTER"}, {36, "SO_MARK"},
		{37, "SO_TIMESTAMPING"}, {44, "SO_LOCK_FILTER"}, {47, "SO_MAX_PACING_RATE"},
		{49, "SO_INCOMING_CPU"}, {50, "SO_ATTACH_BPF"}, {51, "SO_ATTACH_REUSEPORT_CBPF"},
		{52, "SO_ATTACH_REUSEPORT_EBPF"}, {60, "SO_ZEROCOPY"}, {61, "SO_TXTIME"},
		{65, "SO_TIMESTAMPING_NEW"}, {76, "SO_PASSPIDFD"}, {77, "SO_PEERPIDFD"},
		{soReuseAddr, "SO_REUSEADDR"}, {soKeepAlive, "SO_KEEPALIVE"}, {soRcvTimeo, "SO_RCVTIMEO"},
	}},
	{protoTCP, closedSet{
		{tcpNoDelay, "TCP_NODELAY"}, {13, "TCP_CONGESTION"}, {14, "TCP_MD5SIG"}, {19, "TCP_REPAIR"},
		{30, "TCP_FASTOPEN_CONNECT"}, {31, "TCP_ULP"}, {32, "TCP_MD5SIG_EXT"},
		{35, "TCP_ZEROCOPY_RECEIVE"}, {38, "TCP_AO_ADD_KEY"},
	}},
	{protoUDP, closedSet{{100, "UDP_ENCAP"}}},
	{protoIP, closedSet{
		{3, "IP_HDRINCL"}, {4, "IP_OPTIONS"}, {15, "IP_FREEBIND"}, {16, "IP_IPSEC_POLICY"},
		{17, "IP_XFRM_POLICY"}, {19, "IP_TRANSPARENT"}, {41, "IP_MSFILTER"},
		{42, "MCAST_JOIN_GROUP"}, {48, "MCAST_MSFILTER"},
		{64, "IPT_SO_SET_REPLACE"}, {65, "IPT_SO_SET_ADD_COUNTERS"}, {200, "MRT_INIT"},
	}},
	{protoIPv6, closedSet{
		{1, "IPV6_ADDRFORM"}, {6, "IPV6_2292PKTOPTIONS"}, {32, "IPV6_FLOWLABEL_MGR"},
		{34, "IPV6_IPSEC_POLICY"}, {35, "IPV6_XFRM_POLICY"}, {42, "MCAST_JOIN_GROUP"},
		{48, "MCAST_MSFILTER"}, {54, "IPV6_HOPOPTS"}, {57, "IPV6_RTHDR"},
		{64, "IP6T_SO_SET_REPLACE"}, {65, "IP6T_SO_SET_ADD_COUNTERS"}, {200, "MRT6_INIT"},
	}},
}

var signals = closedSet{
	{1, "SIGHUP"}, {2, "SIGINT"}, {3, "SIGQUIT"}, {4, "SIGILL"}, {5, "SIGTRAP"}, {6, "SIGABRT"},
	{7, "SIGBUS"}, {8, "SIGFPE"}, {9, "SIGKILL"}, {10, "SIGUSR1"}, {11, "SIGSEGV"}, {12, "SIGUSR2"},
	{13, "SIGPIPE"}, {14, "SIGALRM"}, {15, "SIGTERM"}, {16, "SIGSTKFLT"}, {17, "SIGCHLD"},
	{18, "SIGCONT"}, {19, "SIGSTOP"}, {20, "SIGTSTP"}, {21, "SIGTTIN"}, {22, "SIGTTOU"},
	{23, "SIGURG"}, {24, "SIGXCPU"}, {25, "SIGXFSZ"}, {26, "SIGVTALRM"}, {27, "SIGPROF"},
	{28, "SIGWINCH"}, {29, "SIGIO"}, {30, "SIGPWR"}, {31, "SIGSYS"},
}

var fcntlCommands = closedSet{
	{fDupFD, "F_DUPFD"}, {fGetFD, "F_GETFD"}, {fSetFD, "F_SETFD"}, {fGetFL, "F_GETFL"},
	{fSetFL, "F_SETFL"}, {fGetLk, "F_GETLK"}, {fSetLk, "F_SETLK"}, {fSetLkW, "F_SETLKW"},
	{fSetOwn, "F_SETOWN"}, {fGetOwn, "F_GETOWN"}, {fSetSig, "F_SETSIG"}, {fGetSig, "F_GETSIG"},
	{fSetOwnEx, "F_SETOWN_EX"}, {fGetOwnEx, "F_GETOWN_EX"},
	{fOFDGetLk, "F_OFD_GETLK"}, {fOFDSetLk, "F_OFD_SETLK"}, {fOFDSetLkW, "F_OFD_SETLKW"},
	{fSetLease, "F_SETLEASE"}, {1025, "F_GETLEASE"}, {fNotify, "F_NOTIFY"},
	{fDupFDCloexec, "F_DUPFD_CLOEXEC"}, {fSetPipeSize, "F_SETPIPE_SZ"},
	{fGetPipeSize, "F_GETPIPE_SZ"}, {fAddSeals, "F_ADD_SEALS"}, {fGetSeals, "F_GET_SEALS"},
}

var ioctlRequests = closedSet{
	{tcGets, "TCGETS"}, {tcGets2, "TCGETS2"}, {tcSets, "TCSETS"}, {tcSetsW, "TCSETSW"},
	{tcSetsF, "TCSETSF"}, {0x540c, "TIOCEXCL"}, {tiocSCTTY, "TIOCSCTTY"}, {tiocGPGrp, "TIOCGPGRP"},
	{tiocSPGrp, "TIOCSPGRP"}, {tiocSTI, "TIOCSTI"}, {tiocGWinSz, "TIOCGWINSZ"},
	{tiocSWinSz, "TIOCSWINSZ"}, {0x5415, "TIOCMGET"}, {tiocLinux, "TIOCLINUX"}, {tiocCons, "TIOCCONS"},
	{fioNRead, "FIONREAD"}, {0x541e, "TIOCGSERIAL"}, {0x541f, "TIOCSSERIAL"}, {tiocPkt, "TIOCPKT"},
	{fioNBIO, "FIONBIO"}, {tiocNoTTY, "TIOCNOTTY"}, {tiocSetD, "TIOCSETD"}, {0x5424, "TIOCGETD"},
	{0x5437, "TIOCVHANGUP"}, {fioAsync, "FIOASYNC"}, {fioNClex, "FIONCLEX"}, {fioClex, "FIOCLEX"},
	{tiocGPtN, "TIOCGPTN"}, {tiocSPtLck, "TIOCSPTLCK"}, {tiocGPtPeer, "TIOCGPTPEER"},
	{1, "FIBMAP"}, {fiGetBlockSize, "FIGETBSZ"}, {fiClone, "FICLONE"}, {fiCloneRange, "FICLONERANGE"},
	{fiDedupeRange, "FIDEDUPERANGE"}, {fsGetFlags, "FS_IOC_GETFLAGS"}, {fsSetFlags, "FS_IOC_SETFLAGS"},
	{0x801c581f, "FS_IOC_FSGETXATTR"}, {0x401c5820, "FS_IOC_FSSETXATTR"}, {fsFiemap, "FS_IOC_FIEMAP"},
	{0x40806685, "FS_IOC_ENABLE_VERITY"}, {0xc0045877, "FIFREEZE"}, {0xc0185879, "FITRIM"},
	{0x1260, "BLKGETSIZE"}, {0x1268, "BLKSSZGET"}, {0x80081272, "BLKGETSIZE64"}, {0x4c00, "LOOP_SET_FD"},
	{0x4c82, "LOOP_CTL_GET_FREE"}, {0x400454ca, "TUNSETIFF"},
	{siocGIfConf, "SIOCGIFCONF"}, {siocGIfHWAddr, "SIOCGIFHWADDR"}, {0x8914, "SIOCSIFFLAGS"},
	{0x8916, "SIOCSIFADDR"}, {0x8946, "SIOCETHTOOL"}, {0x890b, "SIOCADDRT"}, {0x89a0, "SIOCBRADDBR"},
	{0xb701, "NS_GET_USERNS"}, {0xb702, "NS_GET_PARENT"}, {0xae00, "KVM_GET_API_VERSION"},
	{0x4b33, "KDGKBTYPE"}, {0x4b44, "KDGKBMODE"}, {0x5600, "VT_OPENQRY"},
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

var prctlOptions = closedSet{
	{prSetPDeathSig, "PR_SET_PDEATHSIG"}, {prGetPDeathSig, "PR_GET_PDEATHSIG"},
	{prGetDumpable, "PR_GET_DUMPABLE"}, {prSetDumpable, "PR_SET_DUMPABLE"},
	{prGetKeepCaps, "PR_GET_KEEPCAPS"}, {prSetKeepCaps, "PR_SET_KEEPCAPS"},
	{prSetName, "PR_SET_NAME"}, {prGetName, "PR_GET_NAME"}, {prGetSeccomp, "PR_GET_SECCOMP"},
	{prSetSeccomp, "PR_SET_SECCOMP"}, {prCapBSetRead, "PR_CAPBSET_READ"}, {prCapBSetDrop, "PR_CAPBSET_DROP"},
	{prGetTSC, "PR_GET_TSC"}, {26, "PR_SET_TSC"}, {prGetSecureBits, "PR_GET_SECUREBITS"},
	{28, "PR_SET_SECUREBITS"}, {prSetTimerSlack, "PR_SET_TIMERSLACK"}, {prGetTimerSlack, "PR_GET_TIMERSLACK"},
	{31, "PR_TASK_PERF_EVENTS_DISABLE"}, {32, "PR_TASK_PERF_EVENTS_ENABLE"}, {33, "PR_MCE_KILL"},
	{34, "PR_MCE_KILL_GET"}, {35, "PR_SET_MM"}, {prSetChildSubreaper, "PR_SET_CHILD_SUBREAPER"},
	{prGetChildSubreaper, "PR_GET_CHILD_SUBREAPER"},
	{prSetNoNewPrivs, "PR_SET_NO_NEW_PRIVS"}, {prGetNoNewPrivs, "PR_GET_NO_NEW_PRIVS"},
	{prSetTHPDisable, "PR_SET_THP_DISABLE"}, {prGetTHPDisable, "PR_GET_THP_DISABLE"},
	{prCapAmbient, "PR_CAP_AMBIENT"}, {prGetSpeculation, "PR_GET_SPECULATION_CTRL"},
	{53, "PR_SET_SPECULATION_CTRL"}, {57, "PR_SET_IO_FLUSHER"}, {59, "PR_SET_SYSCALL_USER_DISPATCH"},
	{62, "PR_SCHED_CORE"}, {prSetMDWE, "PR_SET_MDWE"}, {67, "PR_SET_MEMORY_MERGE"},
	{prSetVMA, "PR_SET_VMA"}, {prSetPtracer, "PR_SET_PTRACER"},
}

var archOptions = closedSet{
	{archSetGS, "ARCH_SET_GS"}, {archSetFS, "ARCH_SET_FS"}, {archGetFS, "ARCH_GET_FS"},
	{archGetGS, "ARCH_GET_GS"}, {archGetCPUID, "ARCH_GET_CPUID"}, {0x1012, "ARCH_SET_CPUID"},
	{archReqXCompPerm, "ARCH_REQ_XCOMP_PERM"}, {0x2001, "ARCH_MAP_VDSO_X32"},
	{0x2002, "ARCH_MAP_VDSO_32"}, {0x2003, "ARCH_MAP_VDSO_64"},
	{0x5001, "ARCH_SHSTK_ENABLE"}, {0x5002, "ARCH_SHSTK_DISABLE"}, {0x5003, "ARCH_SHSTK_LOCK"},
}

var seccompOperations = closedSet{
	{seccompSetStrict, "SECCOMP_SET_MODE_STRICT"}, {seccompSetFilter, "SECCOMP_SET_MODE_FILTER"},
	{seccompGetAction, "SECCOMP_GET_ACTION_AVAIL"}, {seccompGetSizes, "SECCOMP_GET_NOTIF_SIZES"},
}

var seccompFlags = []bit{
	{seccompTSync, "TSYNC"}, {seccompLog, "LOG"}, {seccompSpecAllow, "SPEC_ALLOW"},
	{seccompNewListener, "NEW_LISTENER"}, {seccompTSyncESRCH, "TSYNC_ESRCH"},
	{seccompWaitKillable, "WAIT_KILLABLE_RECV"},
}

var personalities = closedSet{
	{perLinux, "PER_LINUX"}, {1, "PER_SVR4"}, {6, "PER_BSD"}, {8, "PER_LINUX32"},
}

var personalityFlags = []bit{
	{0x20000, "UNAME26"}, {addrNoRandomize, "ADDR_NO_RANDOMIZE"},
	{0x100000, "MMAP_PAGE_ZERO"}, {0x200000, "ADDR_COMPAT_LAYOUT"},
	{0x400000, "READ_IMPLIES_EXEC"}, {0x800000, "ADDR_LIMIT_32BIT"},
	{0x2000000, "WHOLE_SECONDS"}, {0x4000000, "STICKY_TIMEOUTS"}, {0x8000000, "ADDR_LIMIT_3GB"},
}

var schedPolicies = closedSet{
	{schedOther, "SCHED_OTHER"}, {1, "SCHED_FIFO"}, {2, "SCHED_RR"}, {schedBatch, "SCHED_BATCH"},
	{schedIdle, "SCHED_IDLE"}, {6, "SCHED_DEADLINE"}, {7, "SCHED_EXT"},
}

var mountFlags = []bit{
	{1, "MS_RDONLY"}, {2, "MS_NOSUID"}, {4, "MS_NODEV"}, {8, "MS_NOEXEC"},
	{0x20, "MS_REMOUNT"}, {0x1000, "MS_BIND"}, {0x2000, "MS_MOVE"}, {0x4000, "MS_REC"},
	{0x20000, "MS_UNBINDABLE"}, {0x40000, "MS_PRIVATE"}, {0x80000, "MS_SLAVE"}, {0x100000, "MS_SHARED"},
}

var umountFlags = []bit{{1, "MNT_FORCE"}, {2, "MNT_DETACH"}, {4, "MNT_EXPIRE"}, {8, "UMOUNT_NOFOLLOW"}}

var ptraceRequests = closedSet{
	{0, "PTRACE_TRACEME"}, {1, "PTRACE_PEEKTEXT"}, {2, "PTRACE_PEEKDATA"},
	{4, "PTRACE_POKETEXT"}, {5, "PTRACE_POKEDATA"}, {7, "PTRACE_CONT"}, {16, "PTRACE_ATTACH"},
	{17, "PTRACE_DETACH"}, {24, "PTRACE_SYSCALL"}, {0x4200, "PTRACE_SETOPTIONS"},
	{0x4204, "PTRACE_GETREGSET"}, {0x4206, "PTRACE_SEIZE"},
}

var resources = closedSet{
	{0, "RLIMIT_CPU"}, {1, "RLIMIT_FSIZE"}, {2, "RLIMIT_DATA"}, {3, "RLIMIT_STACK"},
	{4, "RLIMIT_CORE"}, {5, "RLIMIT_RSS"}, {6, "RLIMIT_NPROC"}, {7, "RLIMIT_NOFILE"},
	{8, "RLIMIT_MEMLOCK"}, {9, "RLIMIT_AS"}, {10, "RLIMIT_LOCKS"}, {11, "RLIMIT_SIGPENDING"},
	{12, "RLIMIT_MSGQUEUE"}, {13, "RLIMIT_NICE"}, {14, "RLIMIT_RTPRIO"}, {15, "RLIMIT_RTTIME"},
}

var protections = []bit{{1, "PROT_READ"}, {2, "PROT_WRITE"}, {4, "PROT_EXEC"}}

// MAP_SHARED_VALIDATE is both low bits, so it precedes them.
var mapFlags = []bit{
	{3, "MAP_SHARED_VALIDATE"}, {1, "MAP_SHARED"}, {2, "MAP_PRIVATE"},
	{0x10, "MAP_FIXED"}, {0x20, "MAP_ANONYMOUS"}, {0x2000, "MAP_LOCKED"},
	{0x4000, "MAP_NORESERVE"}, {0x8000, "MAP_POPULATE"}, {0x20000, "MAP_STACK"},
	{0x40000, "MAP_HUGETLB"},
}

var memfdFlags = []bit{
	{mfdCloexec, "MFD_CLOEXEC"}, {mfdAllowSealing, "MFD_ALLOW_SEALING"}, {4, "MFD_HUGETLB"},
	{mfdNoExecSeal, "MFD_NOEXEC_SEAL"}, {mfdExec, "MFD_EXEC"},
}
