#include "textflag.h"

// func vfork(flags uintptr, pid *int32) (result uintptr)
//
// The return address stays in a register, because the child runs first, on the same stack.
TEXT ·vfork(SB), NOSPLIT|NOFRAME, $0-24
	MOVD flags+0(FP), R0
	MOVD $0, R1
	MOVD pid+8(FP), R2
	MOVD $0, R3
	MOVD $0, R4
	MOVD $220, R8
	SVC
	MOVD R0, result+16(FP)
	RET
