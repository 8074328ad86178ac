// The init of a command, for arm64. init_linux.go in package confine says what it
// is for; go generate turns this file into init_linux_arm64.go there. It is
// amd64.s, instruction by instruction, but for fork, which arm64 does not have.
//
// Go's assembler writes operands from source to destination; "CMP $x, R" sets the
// flags of R-x, "CMN $x, R" those of R+x. A system call has its number in R8 and
// its arguments in R0 to R5; it answers in R0 (an error is -errno). R19 to R22
// keep their values.

#include "init.h"

#define SYS_FCNTL           25
#define SYS_UNLINKAT        35
#define SYS_READ            63
#define SYS_WRITE           64
#define SYS_EXIT_GROUP      94
#define SYS_KILL            129
#define SYS_RT_SIGTIMEDWAIT 137
#define SYS_RECVFROM        207
#define SYS_CLONE           220
#define SYS_EXECVE          221
#define SYS_WAIT4           260
#define SYS_CLOSE_RANGE     436

TEXT init(SB), NOSPLIT|NOFRAME, $0
	// fcntl(CONTROL, F_SETFD, FD_CLOEXEC): the command must not get the socket.
	MOVD $SYS_FCNTL, R8
	MOVD $CONTROL, R0
	MOVD $F_SETFD, R1
	MOVD $FD_CLOEXEC, R2
	SVC

	MOVD $ORDER, R19 // R19: the order
	MOVD $0, R20     // R20: how much of it was read

more:
	// read(CONTROL, ORDER+R20, ORDER_PART), until all of the order is there. The
	// Runner sends no order larger than the segment, see maxOrder.
	MOVD $SYS_READ, R8
	MOVD $CONTROL, R0
	ADD  R20, R19, R1
	MOVD $ORDER_PART, R2
	SVC
	CMP  $0, R0
	BLE  clean // the Runner is gone, or gave up
	ADD  R0, R20, R20
	MOVD ORDER_SIZE(R19), R9
	CMP  R9, R20
	BLO  more // R20 < size, unsigned

	// clone(SIGCHLD, NULL, NULL, NULL, NULL), which is fork()
	MOVD $SYS_CLONE, R8
	MOVD $SIGCHLD, R0
	MOVD $0, R1
	MOVD $0, R2
	MOVD $0, R3
	MOVD $0, R4
	SVC
	CMP  $0, R0
	BLT  fail
	BNE  wait

	// The child makes the calls of the order. The last is execve, which returns
	// only if it failed.
	MOVD ORDER_CALLS(R19), R20 // R20: the call

next:
	MOVD 0(R20), R8
	MOVD 8(R20), R0
	MOVD 16(R20), R1
	MOVD 24(R20), R2
	MOVD 32(R20), R3
	MOVD 40(R20), R4
	MOVD 48(R20), R5
	SVC
	CMP  $0, R0
	BLT  failed
	ADD  $CALL_SIZE, R20, R20
	B    next

failed:
	// write(CONTROL, {errno, call}, 16). Sixteen bytes are an error, four a
	// status.
	NEG  R0, R0
	MOVD R0, (R19)
	MOVD R20, 8(R19)
	MOVD $SYS_WRITE, R8
	MOVD $CONTROL, R0
	MOVD R19, R1
	MOVD $16, R2
	SVC
	B    fail

clean:
	// execve(argument, &argument, NULL): the Runner is gone, so a program removes
	// what it would have removed, if there is anything.
	MOVD ARGUMENT(RSP), R0
	CMP  $0, R0
	BEQ  fail
	MOVD $SYS_EXECVE, R8
	ADD  $ARGUMENT, RSP, R1
	MOVD $0, R2
	SVC

fail:
	// exit_group(NO_COMMAND)
	MOVD $SYS_EXIT_GROUP, R8
	MOVD $NO_COMMAND, R0
	SVC

wait:
	MOVD R0, R21 // R21: the command

	// The init: close_range(0, 2, 0). The streams belong to the command alone, so
	// that the Runner sees their end with it.
	MOVD $SYS_CLOSE_RANGE, R8
	MOVD $0, R0
	MOVD $2, R1
	MOVD $0, R2
	SVC
	MOVD ORDER_AWAITED(R19), R9
	CMP  $0, R9
	BNE  await
	B    block

ended:
	// write(CONTROL, &status, 4)
	MOVD $SYS_WRITE, R8
	MOVD $CONTROL, R0
	MOVD R19, R1
	MOVD $4, R2
	SVC
	MOVD ORDER_AWAITED(R19), R9
	CMP  $0, R9
	BNE  sweep

exit:
	// exit_group(0). In a pid namespace the kernel kills what is left there.
	MOVD $SYS_EXIT_GROUP, R8
	MOVD $0, R0
	SVC

await:
	// rt_sigtimedwait(&awaited, NULL, NULL, 8): a process has ended, the Runner has
	// died (SIGTERM), or it wants to end them all (SIGUSR1).
	MOVD $SYS_RT_SIGTIMEDWAIT, R8
	ADD  $ORDER_AWAITED, R19, R0
	MOVD $0, R1
	MOVD $0, R2
	MOVD $8, R3
	SVC
	MOVD R0, R22 // R22: the signal
	CMP  $SIGTERM, R0
	BEQ  sweep
	CMP  $SIGUSR1, R0
	BEQ  sweep

reap:
	// wait4(-1, ORDER, WNOHANG, NULL), for all that have ended.
	MOVD $SYS_WAIT4, R8
	MOVD $-1, R0
	MOVD R19, R1
	MOVD $WNOHANG, R2
	MOVD $0, R3
	SVC
	CMP  R21, R0
	BEQ  ended
	CMP  $0, R0
	BGT  reap
	B    await

sweep:
	// kill(target, SIGKILL). The child has made a process group, which has its
	// number.
	MOVD $SYS_KILL, R8
	MOVD ORDER_TARGET(R19), R0
	CMP  $0, R0
	BNE  all
	SUB  R21, R0, R0

all:
	MOVD $SIGKILL, R1
	SVC

block:
	// wait4(-1, ORDER, 0, NULL): the command, or an orphan, which needs nothing more
	// than this.
	MOVD $SYS_WAIT4, R8
	MOVD $-1, R0
	MOVD R19, R1
	MOVD $0, R2
	MOVD $0, R3
	SVC
	CMP  R21, R0
	BEQ  ended
	MOVD ORDER_AWAITED(R19), R9
	CMN  $ECHILD, R0
	BEQ  none
	CMP  $0, R9
	BEQ  block
	B    sweep // the children of one that has ended are now the init's

none:
	CMP  $0, R9
	BEQ  exit

	// unlinkat(0, directory, REMOVEDIR): it is empty as a rule, and its path is
	// absolute.
	MOVD $SYS_UNLINKAT, R8
	MOVD $0, R0
	MOVD DIRECTORY(RSP), R1
	MOVD $REMOVEDIR, R2
	SVC
	CMP  $0, R0
	BEQ  exit

	// Otherwise the Runner removes it. While it lives, recvfrom(CONTROL, ORDER, 1,
	// DONTWAIT, NULL, NULL) fails with EAGAIN.
	CMP  $SIGTERM, R22
	BEQ  clean
	MOVD $SYS_RECVFROM, R8
	MOVD $CONTROL, R0
	MOVD R19, R1
	MOVD $1, R2
	MOVD $DONTWAIT, R3
	MOVD $0, R4
	MOVD $0, R5
	SVC
	CMN  $EAGAIN, R0
	BNE  clean
	B    exit
