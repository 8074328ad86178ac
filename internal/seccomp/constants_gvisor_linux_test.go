package seccomp

import (
	"testing"

	"golang.org/x/sys/unix"
)

// TestGVisorConstants is TestConstants for gVisor.
func TestGVisorConstants(t *testing.T) {
	sameConstants(t, map[string][2]uint64{
		"PTRACE_CONT":                  {ptraceCont, unix.PTRACE_CONT},
		"PTRACE_ATTACH":                {ptraceAttach, unix.PTRACE_ATTACH},
		"PTRACE_DETACH":                {ptraceDetach, unix.PTRACE_DETACH},
		"PTRACE_SETOPTIONS":            {ptraceSetOptions, unix.PTRACE_SETOPTIONS},
		"PTRACE_GETEVENTMSG":           {ptraceGetEventMessage, unix.PTRACE_GETEVENTMSG},
		"PTRACE_GETSIGINFO":            {ptraceGetSigInfo, unix.PTRACE_GETSIGINFO},
		"PTRACE_GETREGSET":             {ptraceGetRegSet, unix.PTRACE_GETREGSET},
		"PTRACE_SETREGSET":             {ptraceSetRegSet, unix.PTRACE_SETREGSET},
		"PTRACE_SETSIGMASK":            {ptraceSetSigMask, unix.PTRACE_SETSIGMASK},
		"PR_SET_SYSCALL_USER_DISPATCH": {prSetSyscallUserDispatch, unix.PR_SET_SYSCALL_USER_DISPATCH},
	})
}
