package seccomp

// Kernel constants for calls that only gVisor may make. See constants.go.

// ptrace requests.
const (
	ptraceCont            = 7
	ptraceAttach          = 16
	ptraceDetach          = 17
	ptraceSetOptions      = 0x4200
	ptraceGetEventMessage = 0x4201
	ptraceGetSigInfo      = 0x4202
	ptraceGetRegSet       = 0x4204
	ptraceSetRegSet       = 0x4205
	ptraceSetSigMask      = 0x420b
)

// ioctl requests for a listener.
const (
	notifReceive  = 0xc0502100
	notifSend     = 0xc0182101
	notifSetFlags = 0x40082104
)

// prctl and arch_prctl options.
const (
	prSetSyscallUserDispatch = 59
	archSetCPUID             = 0x1012
)
