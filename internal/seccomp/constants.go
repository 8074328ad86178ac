package seccomp

// Kernel constants. They are defined here because x/sys/unix has them only for
// Linux, and this package builds on every system. They are the same on amd64 and
// arm64. A test compares them with x/sys/unix.

// fcntl commands.
const (
	fDupFD        = 0
	fGetFD        = 1
	fSetFD        = 2
	fGetFL        = 3
	fSetFL        = 4
	fGetLk        = 5
	fSetLk        = 6
	fSetLkW       = 7
	fSetOwn       = 8
	fSetSig       = 10
	fOFDGetLk     = 36
	fOFDSetLk     = 37
	fOFDSetLkW    = 38
	fSetLease     = 1024
	fNotify       = 1026
	fDupFDCloexec = 1030
	fSetPipeSize  = 1031
	fGetPipeSize  = 1032
	fAddSeals     = 1033
	fGetSeals     = 1034
)

// ioctl requests.
const (
	tcGets     = 0x5401
	tcSets     = 0x5402
	tiocSTI    = 0x5412
	tiocGWinSz = 0x5413
	tiocSWinSz = 0x5414
	tiocLinux  = 0x541c
	tiocSCTTY  = 0x540e
	fioNRead   = 0x541b
	fioNBIO    = 0x5421
	fioNClex   = 0x5450
	fioClex    = 0x5451
	tcGets2    = 0x802c542a
	fiClone    = 0x40049409
)

// clone flags.
const (
	cloneSignalMask    = 0xff
	cloneVM            = 0x100
	cloneFS            = 0x200
	cloneFiles         = 0x400
	cloneSighand       = 0x800
	clonePIDFD         = 0x1000
	clonePtrace        = 0x2000
	cloneVfork         = 0x4000
	cloneParent        = 0x8000
	cloneThread        = 0x10000
	cloneNewNS         = 0x20000
	cloneSysVSem       = 0x40000
	cloneSetTLS        = 0x80000
	cloneParentSetTID  = 0x100000
	cloneChildClearTID = 0x200000
	cloneDetached      = 0x400000 // ignored by the kernel; musl sets it
	cloneUntraced      = 0x800000
	cloneChildSetTID   = 0x1000000
	cloneNewCgroup     = 0x2000000
	cloneNewUTS        = 0x4000000
	cloneNewIPC        = 0x8000000
	cloneNewUser       = 0x10000000
	cloneNewPID        = 0x20000000
	cloneNewNet        = 0x40000000
	cloneIO            = 0x80000000
	cloneNewTime       = 0x80 // unshare and setns only: for clone this is part of the signal
)

// prctl and arch_prctl options.
const (
	prSetPDeathSig  = 1
	prGetDumpable   = 3
	prSetName       = 15
	prGetName       = 16
	prGetSeccomp    = 21
	prCapBSetRead   = 23
	prSetNoNewPrivs = 38
	prGetNoNewPrivs = 39
	prSetVMA        = 0x53564d41

	archSetFS       = 0x1002
	archGetFS       = 0x1003
	archCETStatus   = 0x3001
	archShstkStatus = 0x5005
)

// Sockets.
const (
	afUnix        = 1
	sockStream    = 1
	sockDgram     = 2
	sockSeqpacket = 5
	sockTypeMask  = 0xf
	sockNonblock  = 0x800
	sockCloexec   = 0x80000
	solSocket     = 1
	soType        = 3
	soError       = 4
	soSndBuf      = 7
	soRcvBuf      = 8
	soAcceptConn  = 30
	soProtocol    = 38
	soDomain      = 39
)

const (
	sigKill = 9
	maxPID  = 1<<31 - 1
)
