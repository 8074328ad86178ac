package jobobject

import "fmt"

// crashes are the exit codes of crashed programs, with their names from ntstatus.h.
var crashes = map[uint32]string{
	0x80000003: "BREAKPOINT",
	0xC0000005: "ACCESS_VIOLATION",
	0xC0000006: "IN_PAGE_ERROR",
	0xC0000017: "NO_MEMORY",
	0xC000001D: "ILLEGAL_INSTRUCTION",
	0xC0000094: "INTEGER_DIVIDE_BY_ZERO",
	0xC0000096: "PRIVILEGED_INSTRUCTION",
	0xC00000FD: "STACK_OVERFLOW",
	0xC0000135: "DLL_NOT_FOUND",
	0xC0000139: "ENTRYPOINT_NOT_FOUND",
	0xC000013A: "CONTROL_C_EXIT",
	0xC0000142: "DLL_INIT_FAILED",
	0xC0000374: "HEAP_CORRUPTION",
	0xC0000409: "STACK_BUFFER_OVERRUN",
	0xC0000417: "INVALID_CRUNTIME_PARAMETER",
	0xC0000420: "ASSERTION_FAILURE",
}

// Crash returns the name of the fault for which Windows ended a program, "" if the program
// exited. Codes from 0xC0000000 are errors of the system; programs rarely use them themselves.
func Crash(code uint32) string {
	if name, known := crashes[code]; known {
		return name
	}
	if code>>28 == 0xC {
		return fmt.Sprintf("0x%08X", code)
	}
	return ""
}
