// The relay of a guest's network, for x86-64. relay_linux.go in package confine says
// what it is for; go generate turns this file into relay_linux_amd64.go there.
//
// init/amd64.s says how to read this. In addition to BX and R12 to R14, BP and R15 keep
// their values.

#include "relay.h"

#define SYS_CLOSE         3
#define SYS_SOCKET        41
#define SYS_SENDTO        44
#define SYS_RECVFROM      45
#define SYS_RECVMSG       47
#define SYS_SHUTDOWN      48
#define SYS_BIND          49
#define SYS_LISTEN        50
#define SYS_FORK          57
#define SYS_SETSID        112
#define SYS_EXIT_GROUP    231
#define SYS_EPOLL_CTL     233
#define SYS_EPOLL_PWAIT   281
#define SYS_ACCEPT4       288
#define SYS_EPOLL_CREATE1 291
#define SYS_CLOSE_RANGE   436

// The struct epoll_event is packed.
#define EVENT_DATA 4
#define EVENT_SIZE 12

TEXT relay(SB), NOSPLIT|NOFRAME, $0
	// socket(AF_INET, STREAM_SOCKET, 0)
	MOVL $SYS_SOCKET, AX
	MOVL $AF_INET, DI
	MOVL $STREAM_SOCKET, SI
	XORL DX, DX
	SYSCALL
	MOVL AX, R12 // R12: the socket that listens. After an error, bind fails, too.

	// bind(socket, ADDRESS, 16)
	MOVL $SYS_BIND, AX
	MOVL R12, DI
	MOVL $ADDRESS, SI
	MOVL $16, DX
	SYSCALL
	TESTQ AX, AX
	JNE  fail

	// listen(socket, BACKLOG)
	MOVL $SYS_LISTEN, AX
	MOVL R12, DI
	MOVL $BACKLOG, SI
	SYSCALL
	TESTQ AX, AX
	JNE  fail

	// fork(): the child is the relay, and the parent becomes the init.
	MOVL $SYS_FORK, AX
	SYSCALL
	TESTQ AX, AX
	JMI  fail
	JNE  init

	// close_range(0, CONTROL, 0): the streams belong to the command.
	MOVL $SYS_CLOSE_RANGE, AX
	XORL DI, DI
	MOVL $CONTROL, SI
	XORL DX, DX
	SYSCALL

	// setsid(): no key on the command's terminal ends it, and no signal to its group.
	MOVL $SYS_SETSID, AX
	SYSCALL

	// epoll_create1(EPOLL_CLOEXEC)
	MOVL $SYS_EPOLL_CREATE1, AX
	MOVL $EPOLL_CLOEXEC, DI
	SYSCALL
	MOVL AX, R14 // R14: the epoll

	MOVL $MEMORY, R13 // R13: the memory
	MOVQ $-1, R15     // R15: a client that waits for its stream, or -1
	MOVQ $FIRST, FRESH(R13)
	LEAQ BYTE(R13), AX
	MOVQ AX, VECTOR(R13)
	MOVQ $1, VECTOR_SIZE(R13)
	LEAQ VECTOR(R13), AX
	MOVQ AX, MESSAGE_VECTOR(R13)
	MOVQ $1, MESSAGE_VECTORS(R13)
	LEAQ RIGHTS(R13), AX
	MOVQ AX, MESSAGE_RIGHTS(R13)

	// epoll_ctl(epoll, ADD, socket, {READY, 0}), and for the network socket: no
	// connection belongs to such an event.
	MOVL $READY, AX
	MOVL AX, EVENT(R13)
	MOVL $SYS_EPOLL_CTL, AX
	MOVL R14, DI
	MOVL $ADD_TO, SI
	MOVL R12, DX
	LEAQ EVENT(R13), R10
	SYSCALL
	MOVL $SYS_EPOLL_CTL, AX
	MOVL $NETWORK, DX
	SYSCALL

take:
	// Take the next client, if there is none that waits, and room for it.
	TESTQ R15, R15
	JPL  receive
	CMPQ FREE(R13), $0
	JNE  accept
	CMPQ FRESH(R13), $END
	JEQ  await

accept:
	// accept4(socket, NULL, NULL, ACCEPTED)
	MOVL $SYS_ACCEPT4, AX
	MOVL R12, DI
	XORL SI, SI
	XORL DX, DX
	MOVL $ACCEPTED, R10
	SYSCALL
	TESTQ AX, AX
	JMI  await
	MOVQ AX, R15

	// sendto(NETWORK, BYTE, 1, SENDING, NULL, 0): the Runner answers with a stream.
	MOVL $SYS_SENDTO, AX
	MOVL $NETWORK, DI
	LEAQ BYTE(R13), SI
	MOVL $1, DX
	MOVL $SENDING, R10
	XORL R8, R8
	XORL R9, R9
	SYSCALL
	CMPQ AX, $1
	JNE  exit // the Runner is gone

receive:
	// recvmsg(NETWORK, MESSAGE, RECEIVING)
	MOVQ $RIGHTS_SIZE, MESSAGE_SIZE(R13)
	MOVL $-1, RECEIVED(R13)
	MOVL $SYS_RECVMSG, AX
	MOVL $NETWORK, DI
	LEAQ MESSAGE(R13), SI
	MOVL $RECEIVING, DX
	SYSCALL
	CMPQ AX, $-EAGAIN
	JEQ  await
	CMPQ AX, $1
	JNE  exit

	// A connection: one that was in use, or a fresh one.
	MOVQ FREE(R13), BX
	TESTQ BX, BX
	JEQ  fresh
	MOVQ START(BX), AX
	MOVQ AX, FREE(R13)
	JMP  connect

fresh:
	MOVQ FRESH(R13), BX
	ADDQ $CONNECTION, FRESH(R13)

connect:
	MOVL RECEIVED(R13), DX // the stream; without one, epoll_ctl fails
	MOVL R15, FROM(BX)
	MOVL DX, TO(BX)
	LEAQ BUFFER(BX), AX
	MOVQ AX, START(BX)
	MOVQ AX, STOP(BX)
	MOVL DX, DIRECTION+FROM(BX)
	MOVL R15, DIRECTION+TO(BX)
	LEAQ DIRECTION+BUFFER(BX), AX
	MOVQ AX, DIRECTION+START(BX)
	MOVQ AX, DIRECTION+STOP(BX)
	MOVQ $-1, R15

	// epoll_ctl(epoll, ADD, stream, {READY, connection}), and for the client. Both are
	// writable, so there is an event at once.
	MOVQ BX, EVENT_DATA(R13)
	MOVL $SYS_EPOLL_CTL, AX
	MOVL R14, DI
	MOVL $ADD_TO, SI
	LEAQ EVENT(R13), R10
	SYSCALL
	TESTQ AX, AX
	JNE  drop
	MOVL $SYS_EPOLL_CTL, AX
	MOVL FROM(BX), DX
	SYSCALL
	TESTQ AX, AX
	JEQ  take
	JMP  drop

await:
	// epoll_pwait(epoll, EVENTS, MOST_EVENTS, -1, NULL)
	MOVL $SYS_EPOLL_PWAIT, AX
	MOVL R14, DI
	LEAQ EVENTS(R13), SI
	MOVL $MOST_EVENTS, DX
	MOVQ $-1, R10
	XORL R8, R8
	SYSCALL
	TESTQ AX, AX
	JMI  take // a signal stopped and continued it
	MOVQ AX, LEFT(R13)
	LEAQ EVENTS(R13), BP // BP: the next event

next:
	CMPQ LEFT(R13), $0
	JEQ  take
	SUBQ $1, LEFT(R13)
	MOVQ EVENT_DATA(BP), BX // BX: a direction, first that from the client
	ADDQ $EVENT_SIZE, BP
	TESTQ BX, BX
	JEQ  next // of a socket that take looks at

begin:
	MOVQ $MOST_ROUNDS, ROUNDS(R13)

copy:
	CMPL FROM(BX), $0
	JLT  other // it has ended; or both have, and this event came too late
	MOVQ START(BX), SI
	MOVQ STOP(BX), DX
	SUBQ SI, DX
	JNE  send

	// recvfrom(FROM, BUFFER, BUFFER_SIZE, DONTWAIT, NULL, NULL)
	MOVL $SYS_RECVFROM, AX
	MOVL FROM(BX), DI
	LEAQ BUFFER(BX), SI
	MOVL $BUFFER_SIZE, DX
	MOVL $DONTWAIT, R10
	XORL R8, R8
	XORL R9, R9
	SYSCALL
	CMPQ AX, $-EAGAIN
	JEQ  other
	TESTQ AX, AX
	JMI  drop
	JEQ  ended
	MOVQ SI, START(BX)
	MOVQ AX, DX
	ADDQ SI, AX
	MOVQ AX, STOP(BX)

send:
	// sendto(TO, START, STOP-START, SENDING, NULL, 0)
	MOVL $SYS_SENDTO, AX
	MOVL TO(BX), DI
	MOVL $SENDING, R10
	XORL R8, R8
	XORL R9, R9
	SYSCALL
	CMPQ AX, $-EAGAIN
	JEQ  other
	TESTQ AX, AX
	JMI  drop
	ADDQ AX, START(BX)
	SUBQ $1, ROUNDS(R13)
	JNE  copy

	// Others take turns. epoll_ctl(epoll, MOD, FROM, {READY, connection}) and for TO:
	// there is another event if one of them is ready.
	MOVQ BX, AX
	ANDQ $~DIRECTION, AX
	MOVQ AX, EVENT_DATA(R13)
	MOVL $SYS_EPOLL_CTL, AX
	MOVL R14, DI
	MOVL $MOD, SI
	MOVL FROM(BX), DX
	LEAQ EVENT(R13), R10
	SYSCALL
	MOVL $SYS_EPOLL_CTL, AX
	MOVL TO(BX), DX
	SYSCALL

other:
	XORQ $DIRECTION, BX
	TESTQ $DIRECTION, BX
	JNE  begin
	JMP  next

ended:
	// shutdown(TO, SHUT_WR)
	MOVL $SYS_SHUTDOWN, AX
	MOVL TO(BX), DI
	MOVL $SHUT_WR, SI
	SYSCALL
	MOVL $-1, FROM(BX)
	MOVQ BX, AX
	XORQ $DIRECTION, AX
	CMPL FROM(AX), $0
	JGE  other

drop:
	// close(TO), in both directions. This also removes them from the epoll.
	ANDQ $~DIRECTION, BX
	MOVL $SYS_CLOSE, AX
	MOVL TO(BX), DI
	SYSCALL
	MOVL $SYS_CLOSE, AX
	MOVL DIRECTION+TO(BX), DI
	SYSCALL
	MOVL $-1, FROM(BX)
	MOVL $-1, DIRECTION+FROM(BX)
	MOVQ FREE(R13), AX
	MOVQ AX, START(BX)
	MOVQ BX, FREE(R13)
	JMP  next

fail:
	MOVL $NO_COMMAND, DI
	JMP  end

exit:
	XORL DI, DI

end:
	// exit_group(status)
	MOVL $SYS_EXIT_GROUP, AX
	SYSCALL

init:
	// close(NETWORK), close(socket). The code of the init follows.
	MOVL $SYS_CLOSE, AX
	MOVL $NETWORK, DI
	SYSCALL
	MOVL $SYS_CLOSE, AX
	MOVL R12, DI
	SYSCALL
