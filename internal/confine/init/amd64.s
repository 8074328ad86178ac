// The init of a command, for x86-64. init_linux.go in package confine says what it
// is for; go generate turns this file into init_linux_amd64.go there.
//
// Go's assembler writes operands from source to destination, and compares from
// left to right. A system call has its number in AX and its arguments in DI, SI,
// DX, R10, R8 and R9; it answers in AX (an error is -errno) and changes CX and R11.
// BX and R12 to R14 keep their values.

#include "init.h"

#define SYS_READ            0
#define SYS_WRITE           1
#define SYS_RECVFROM        45
#define SYS_FORK            57
#define SYS_EXECVE          59
#define SYS_WAIT4           61
#define SYS_KILL            62
#define SYS_FCNTL           72
#define SYS_RT_SIGTIMEDWAIT 128
#define SYS_EXIT_GROUP      231
#define SYS_UNLINKAT        263
#define SYS_CLOSE_RANGE     436

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
	JLE  clean // the Runner is gone, or gave up
	ADDQ AX, BX
	CMPQ BX, ORDER_SIZE(R12)
	JCS  more // BX < size, unsigned

	// fork()
	MOVL $SYS_FORK, AX
	SYSCALL
	TESTQ AX, AX
	JMI  fail
	JNE  wait

	// The child makes the calls of the order. The last is execve, which returns
	// only if it failed.
	MOVQ ORDER_CALLS(R12), BX // BX: the call

next:
	MOVQ 0(BX), AX
	MOVQ 8(BX), DI
	MOVQ 16(BX), SI
	MOVQ 24(BX), DX
	MOVQ 32(BX), R10
	MOVQ 40(BX), R8
	MOVQ 48(BX), R9
	SYSCALL
	TESTQ AX, AX
	JMI  failed
	ADDQ $CALL_SIZE, BX
	JMP  next

failed:
	// write(CONTROL, {errno, call}, 16). Sixteen bytes are an error, four a
	// status.
	NEGQ AX
	MOVQ AX, (R12)
	MOVQ BX, 8(R12)
	MOVL $SYS_WRITE, AX
	MOVL $CONTROL, DI
	MOVQ R12, SI
	MOVL $16, DX
	SYSCALL
	JMP  fail

clean:
	// execve(argument, &argument, NULL): the Runner is gone, so a program removes
	// what it would have removed, if there is anything.
	MOVQ ARGUMENT(SP), DI
	TESTQ DI, DI
	JEQ  fail
	MOVL $SYS_EXECVE, AX
	LEAQ ARGUMENT(SP), SI
	XORL DX, DX
	SYSCALL

fail:
	// exit_group(NO_COMMAND)
	MOVL $SYS_EXIT_GROUP, AX
	MOVL $NO_COMMAND, DI
	SYSCALL

wait:
	MOVQ AX, R13 // R13: the command

	// The init: close_range(0, 2, 0). The streams belong to the command alone, so
	// that the Runner sees their end with it.
	MOVL $SYS_CLOSE_RANGE, AX
	XORL DI, DI
	MOVL $2, SI
	XORL DX, DX
	SYSCALL
	CMPQ ORDER_AWAITED(R12), $0
	JNE  await
	JMP  block

ended:
	// write(CONTROL, &status, 4)
	MOVL $SYS_WRITE, AX
	MOVL $CONTROL, DI
	MOVQ R12, SI
	MOVL $4, DX
	SYSCALL
	CMPQ ORDER_AWAITED(R12), $0
	JNE  sweep

exit:
	// exit_group(0). In a pid namespace the kernel kills what is left there.
	MOVL $SYS_EXIT_GROUP, AX
	XORL DI, DI
	SYSCALL

await:
	// rt_sigtimedwait(&awaited, NULL, NULL, 8): a process has ended, the Runner has
	// died (SIGTERM), or it wants to end them all (SIGUSR1).
	MOVL $SYS_RT_SIGTIMEDWAIT, AX
	LEAQ ORDER_AWAITED(R12), DI
	XORL SI, SI
	XORL DX, DX
	MOVL $8, R10
	SYSCALL
	MOVQ AX, R14 // R14: the signal
	CMPQ AX, $SIGTERM
	JEQ  sweep
	CMPQ AX, $SIGUSR1
	JEQ  sweep

reap:
	// wait4(-1, ORDER, WNOHANG, NULL), for all that have ended.
	MOVL $SYS_WAIT4, AX
	MOVQ $-1, DI
	MOVQ R12, SI
	MOVL $WNOHANG, DX
	XORL R10, R10
	SYSCALL
	CMPQ AX, R13
	JEQ  ended
	TESTQ AX, AX
	JGT  reap
	JMP  await

sweep:
	// kill(target, SIGKILL). The child has made a process group, which has its
	// number.
	MOVL $SYS_KILL, AX
	MOVQ ORDER_TARGET(R12), DI
	TESTQ DI, DI
	JNE  all
	SUBQ R13, DI

all:
	MOVL $SIGKILL, SI
	SYSCALL

block:
	// wait4(-1, ORDER, 0, NULL): the command, or an orphan, which needs nothing more
	// than this.
	MOVL $SYS_WAIT4, AX
	MOVQ $-1, DI
	MOVQ R12, SI
	XORL DX, DX
	XORL R10, R10
	SYSCALL
	CMPQ AX, R13
	JEQ  ended
	CMPQ AX, $-ECHILD
	JEQ  none
	CMPQ ORDER_AWAITED(R12), $0
	JEQ  block
	JMP  sweep // the children of one that has ended are now the init's

none:
	CMPQ ORDER_AWAITED(R12), $0
	JEQ  exit

	// unlinkat(0, directory, REMOVEDIR): it is empty as a rule, and its path is
	// absolute.
	MOVL $SYS_UNLINKAT, AX
	XORL DI, DI
	MOVQ DIRECTORY(SP), SI
	MOVL $REMOVEDIR, DX
	SYSCALL
	TESTQ AX, AX
	JEQ  exit

	// Otherwise the Runner removes it. While it lives, recvfrom(CONTROL, ORDER, 1,
	// DONTWAIT, NULL, NULL) fails with EAGAIN.
	CMPQ R14, $SIGTERM
	JEQ  clean
	MOVL $SYS_RECVFROM, AX
	MOVL $CONTROL, DI
	MOVQ R12, SI
	MOVL $1, DX
	MOVL $DONTWAIT, R10
	XORL R8, R8
	XORL R9, R9
	SYSCALL
	CMPQ AX, $-EAGAIN
	JNE  clean
	JMP  exit
