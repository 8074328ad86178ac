#include "textflag.h"

// func vfork(flags uintptr, pid *int32) (result uintptr)
//
// The child runs first, on the same stack, and overwrites our return address. So the
// address is kept in a register that the kernel preserves.
TEXT ·vfork(SB), NOSPLIT|NOFRAME, $0-24
	MOVQ flags+0(FP), DI
	XORL SI, SI
	MOVQ pid+8(FP), DX
	XORL R10, R10
	XORL R8, R8
	MOVL $56, AX
	POPQ R12
	SYSCALL
	PUSHQ R12
	MOVQ AX, result+16(FP)
	RET
