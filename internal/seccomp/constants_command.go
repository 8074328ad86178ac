package seccomp

// Kernel constants for calls that only commands may make. See constants.go.

// File modes, and the flags with which open uses its mode argument: O_CREAT, and O_TMPFILE
// without its O_DIRECTORY bit, which differs on arm64.
const (
	setUID    = 0o4000
	setGID    = 0o2000
	plainBits = 0o1777

	oCreat   = 0o100
	oTmpFile = 0o20000000
)

// fallocate modes.
const (
	fallocDefault   = 0
	fallocKeepSize  = 0x1
	fallocPunchHole = 0x2 | fallocKeepSize // the kernel requires both
	fallocCollapse  = 0x8
	fallocZeroRange = 0x10
	fallocInsert    = 0x20
	fallocUnshare   = 0x40
)

// fcntl commands.
const (
	fGetOwn       = 9
	fGetSig       = 11
	fSetOwnEx     = 15
	fGetOwnEx     = 16
	fDupFDQuery   = 1027
	fCreatedQuery = 1028
	fGetRWHint    = 1035
	fSetRWHint    = 1036
)

// ioctl requests for terminals.
const (
	tcSetsW     = 0x5403
	tcSetsF     = 0x5404
	tcSBrk      = 0x5409
	tcXOnC      = 0x540a
	tcFlush     = 0x540b
	tiocGPGrp   = 0x540f
	tiocSPGrp   = 0x5410
	tiocOutQ    = 0x5411
	tiocCons    = 0x541d
	tiocPkt     = 0x5420
	tiocNoTTY   = 0x5422
	tiocSetD    = 0x5423
	tcSBrkP     = 0x5425
	tiocGSID    = 0x5429
	tcSets2     = 0x402c542b
	tcSetsW2    = 0x402c542c
	tcSetsF2    = 0x402c542d
	tiocGPtN    = 0x80045430
	tiocSPtLck  = 0x40045431
	tiocGDev    = 0x80045432
	tiocGPtPeer = 0x5441
	fioAsync    = 0x5452
)

// ioctl requests for files and interfaces.
const (
	fiGetBlockSize = 2
	fiCloneRange   = 0x4020940d
	fiDedupeRange  = 0xc0189436
	fsGetFlags     = 0x80086601
	fsSetFlags     = 0x40086602
	fsFiemap       = 0xc020660b
	rndGetEntropy  = 0x80045200

	siocAtMark     = 0x8905
	siocGIfName    = 0x8910
	siocGIfConf    = 0x8912
	siocGIfFlags   = 0x8913
	siocGIfAddr    = 0x8915
	siocGIfDstAddr = 0x8917
	siocGIfBrdAddr = 0x8919
	siocGIfNetmask = 0x891b
	siocGIfMetric  = 0x891d
	siocGIfMTU     = 0x8921
	siocGIfHWAddr  = 0x8927
	siocGIfIndex   = 0x8933
	siocGIfTxQLen  = 0x8942
)

// prctl and arch_prctl options.
const (
	prGetPDeathSig      = 2
	prSetDumpable       = 4
	prGetKeepCaps       = 7
	prSetKeepCaps       = 8
	prSetSeccomp        = 22
	prCapBSetDrop       = 24
	prGetTSC            = 25
	prGetSecureBits     = 27
	prSetTimerSlack     = 29
	prGetTimerSlack     = 30
	prSetChildSubreaper = 36
	prGetChildSubreaper = 37
	prGetTIDAddress     = 40
	prSetTHPDisable     = 41
	prGetTHPDisable     = 42
	prCapAmbient        = 47
	prSVESetVL          = 50
	prSVEGetVL          = 51
	prGetSpeculation    = 52
	prSetTaggedAddr     = 55
	prGetTaggedAddr     = 56
	prSetMDWE           = 65
	prGetMDWE           = 66
	prGetAuxv           = 0x41555856
	prSetPtracer        = 0x59616d61

	archSetGS        = 0x1001
	archGetGS        = 0x1004
	archGetCPUID     = 0x1011
	archGetXCompSupp = 0x1021
	archGetXCompPerm = 0x1022
	archReqXCompPerm = 0x1023
)

// seccomp operations, flags and modes.
const (
	seccompSetStrict = 0
	seccompSetFilter = 1
	seccompGetAction = 2
	seccompGetSizes  = 3

	seccompTSync        = 1
	seccompLog          = 2
	seccompSpecAllow    = 4
	seccompNewListener  = 8
	seccompTSyncESRCH   = 16
	seccompWaitKillable = 32

	seccompModeStrict = 1
	seccompModeFilter = 2
)

// Personalities, scheduling policies, memfd flags, file types of mknod.
const (
	perQuery        = 0xffffffff
	perLinux        = 0
	addrNoRandomize = 0x40000

	schedOther       = 0
	schedBatch       = 3
	schedIdle        = 5
	schedResetOnFork = 0x40000000

	mfdCloexec      = 1
	mfdAllowSealing = 2
	mfdNoExecSeal   = 8
	mfdExec         = 16

	typeFIFO    = 0o010000
	typeRegular = 0o100000
	typeSocket  = 0o140000
)
