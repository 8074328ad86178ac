// The init of a command's pid namespace, for arm64. init_linux.go in package
// confine says what it is for; go generate turns this file into
// init_linux_arm64.go there. It is amd64.s, instruction by instruction, but for
// fork, which arm64 does not have.
//
// Go's assembler writes operands from source to destination; "CMP $x, R" sets the
// flags of R-x, "CMN $x, R" those of R+x. A system call has its number in R8 and
// its arguments in R0 to R4; it answers in R0 (an error is -errno). R19 and R20
// keep their values.

#include "init.h"

#define SYS_FCNTL       25
#define SYS_READ        63
#define SYS_WRITE       64
#define SYS_EXIT_GROUP  94
#define SYS_CLONE       220
#define SYS_EXECVE      221
#define SYS_WAIT4       260
#define SYS_CLOSE_RANGE 436

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
	BLE  gone // the Runner is gone, or gave up
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
	BLT  gone
	BNE  wait

	// The child: execve(program, argv, env)
	MOVD $SYS_EXECVE, R8
	MOVD ORDER_PROGRAM(R19), R0
	MOVD ORDER_ARGV(R19), R1
	MOVD ORDER_ENV(R19), R2
	SVC

	// It failed: write(CONTROL, &errno, 8). Eight bytes are an error, four a
	// status.
	NEG  R0, R0
	MOVD R0, (R19)
	MOVD $SYS_WRITE, R8
	MOVD $CONTROL, R0
	MOVD R19, R1
	MOVD $8, R2
	SVC

gone:
	// exit_group(NO_COMMAND)
	MOVD $SYS_EXIT_GROUP, R8
	MOVD $NO_COMMAND, R0
	SVC

wait:
	// The init: close_range(0, 2, 0). The streams belong to the command alone, so
	// that the Runner sees their end with it.
	MOVD $SYS_CLOSE_RANGE, R8
	MOVD $0, R0
	MOVD $2, R1
	MOVD $0, R2
	SVC

again:
	// wait4(-1, ORDER, 0, NULL): the command, or an orphan, which needs nothing
	// more than this.
	MOVD $SYS_WAIT4, R8
	MOVD $-1, R0
	MOVD R19, R1
	MOVD $0, R2
	MOVD $0, R3
	SVC
	CMP  $COMMAND, R0
	BEQ  ended
	CMP  $0, R0
	BGE  again
	CMN  $EINTR, R0
	BEQ  again

ended:
	// write(CONTROL, &status, 4)
	MOVD $SYS_WRITE, R8
	MOVD $CONTROL, R0
	MOVD R19, R1
	MOVD $4, R2
	SVC

	// exit_group(0), and the kernel kills what is left in the namespace.
	MOVD $SYS_EXIT_GROUP, R8
	MOVD $0, R0
	SVC
