// The init of a command's pid namespace, for x86-64. init_linux.go in package
// confine says what it is for; go generate turns this file into
// init_linux_amd64.go there.
//
// Go's assembler writes operands from source to destination, and compares from
// left to right. A system call has its number in AX and its arguments in DI, SI,
// DX and R10; it answers in AX (an error is -errno) and changes CX and R11. R12
// and BX keep their values.

#include "init.h"

#define SYS_READ        0
#define SYS_WRITE       1
#define SYS_FORK        57
#define SYS_EXECVE      59
#define SYS_WAIT4       61
#define SYS_FCNTL       72
#define SYS_EXIT_GROUP  231
#define SYS_CLOSE_RANGE 436

TEXT init(SB), NOSPLIT|NOFRAME, $0
	// fcntl(CONTROL, F_SETFD, FD_CLOEXEC): the command must not get the socket.
	MOVL $SYS_FCNTL, AX
	MOVL $CONTROL, DI
	MOVL $F_SETFD, SI
	MOVL $FD_CLOEXEC, DX
	SYSCALL

	MOVL $ORDER, R12 // R12: the order
	XORL BX, BX      // BX: how much of it was read

more:
	// read(CONTROL, ORDER+BX, ORDER_PART), until all of the order is there. The
	// Runner sends no order larger than the segment, see maxOrder.
	XORL AX, AX // SYS_READ
	MOVL $CONTROL, DI
	LEAQ (R12)(BX*1), SI
	MOVL $ORDER_PART, DX
	SYSCALL
	TESTQ AX, AX
	JLE  gone // the Runner is gone, or gave up
	ADDQ AX, BX
	CMPQ BX, ORDER_SIZE(R12)
	JCS  more // BX < size, unsigned

	// fork()
	MOVL $SYS_FORK, AX
	SYSCALL
	TESTQ AX, AX
	JMI  gone
	JNE  wait

	// The child: execve(program, argv, env)
	MOVL $SYS_EXECVE, AX
	MOVQ ORDER_PROGRAM(R12), DI
	MOVQ ORDER_ARGV(R12), SI
	MOVQ ORDER_ENV(R12), DX
	SYSCALL

	// It failed: write(CONTROL, &errno, 8). Eight bytes are an error, four a
	// status.
	NEGQ AX
	MOVQ AX, (R12)
	MOVL $SYS_WRITE, AX
	MOVL $CONTROL, DI
	MOVQ R12, SI
	MOVL $8, DX
	SYSCALL

gone:
	// exit_group(NO_COMMAND)
	MOVL $SYS_EXIT_GROUP, AX
	MOVL $NO_COMMAND, DI
	SYSCALL

wait:
	// The init: close_range(0, 2, 0). The streams belong to the command alone, so
	// that the Runner sees their end with it.
	MOVL $SYS_CLOSE_RANGE, AX
	XORL DI, DI
	MOVL $2, SI
	XORL DX, DX
	SYSCALL

again:
	// wait4(-1, ORDER, 0, NULL): the command, or an orphan, which needs nothing
	// more than this.
	MOVL $SYS_WAIT4, AX
	MOVQ $-1, DI
	MOVQ R12, SI
	XORL DX, DX
	XORL R10, R10
	SYSCALL
	CMPQ AX, $COMMAND
	JEQ  ended
	TESTQ AX, AX
	JPL  again
	CMPQ AX, $-EINTR
	JEQ  again

ended:
	// write(CONTROL, &status, 4)
	MOVL $SYS_WRITE, AX
	MOVL $CONTROL, DI
	MOVQ R12, SI
	MOVL $4, DX
	SYSCALL

	// exit_group(0), and the kernel kills what is left in the namespace.
	MOVL $SYS_EXIT_GROUP, AX
	XORL DI, DI
	SYSCALL
