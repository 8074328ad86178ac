// The relay of a guest's network, for arm64. relay_linux.go in package confine says what
// it is for; go generate turns this file into relay_linux_arm64.go there. It is amd64.s,
// but for fork, which arm64 does not have, and for addresses that take an instruction of
// their own.
//
// init/arm64.s says how to read this. R19 to R24 keep their values.

#include "relay.h"

#define SYS_EPOLL_CREATE1 20
#define SYS_EPOLL_CTL     21
#define SYS_EPOLL_PWAIT   22
#define SYS_CLOSE         57
#define SYS_EXIT_GROUP    94
#define SYS_SETSID        157
#define SYS_SOCKET        198
#define SYS_BIND          200
#define SYS_LISTEN        201
#define SYS_SENDTO        206
#define SYS_RECVFROM      207
#define SYS_SHUTDOWN      210
#define SYS_RECVMSG       212
#define SYS_CLONE         220
#define SYS_ACCEPT4       242
#define SYS_CLOSE_RANGE   436

#define EVENT_DATA 8
#define EVENT_SIZE 16

TEXT relay(SB), NOSPLIT|NOFRAME, $0
	// socket(AF_INET, STREAM_SOCKET, 0)
	MOVD $SYS_SOCKET, R8
	MOVD $AF_INET, R0
	MOVD $STREAM_SOCKET, R1
	MOVD $0, R2
	SVC
	MOVD R0, R19 // R19: the socket that listens. After an error, bind fails, too.

	// bind(socket, ADDRESS, 16)
	MOVD $SYS_BIND, R8
	MOVD R19, R0
	MOVD $ADDRESS, R1
	MOVD $16, R2
	SVC
	CMP  $0, R0
	BNE  fail

	// listen(socket, BACKLOG)
	MOVD $SYS_LISTEN, R8
	MOVD R19, R0
	MOVD $BACKLOG, R1
	SVC
	CMP  $0, R0
	BNE  fail

	// clone(SIGCHLD, NULL, NULL, NULL, NULL), which is fork(): the child is the relay,
	// and the parent becomes the init.
	MOVD $SYS_CLONE, R8
	MOVD $SIGCHLD, R0
	MOVD $0, R1
	MOVD $0, R2
	MOVD $0, R3
	MOVD $0, R4
	SVC
	CMP  $0, R0
	BLT  fail
	BNE  init

	// close_range(0, CONTROL, 0): the streams belong to the command.
	MOVD $SYS_CLOSE_RANGE, R8
	MOVD $0, R0
	MOVD $CONTROL, R1
	MOVD $0, R2
	SVC

	// setsid(): no key on the command's terminal ends it, and no signal to its group.
	MOVD $SYS_SETSID, R8
	SVC

	// epoll_create1(EPOLL_CLOEXEC)
	MOVD $SYS_EPOLL_CREATE1, R8
	MOVD $EPOLL_CLOEXEC, R0
	SVC
	MOVD R0, R21 // R21: the epoll

	MOVD $MEMORY, R20 // R20: the memory
	MOVD $-1, R22     // R22: a client that waits for its stream, or -1
	MOVD $FIRST, R9
	MOVD R9, FRESH(R20)
	ADD  $BYTE, R20, R9
	MOVD R9, VECTOR(R20)
	MOVD $1, R10
	MOVD R10, VECTOR_SIZE(R20)
	ADD  $VECTOR, R20, R9
	MOVD R9, MESSAGE_VECTOR(R20)
	MOVD R10, MESSAGE_VECTORS(R20)
	ADD  $RIGHTS, R20, R9
	MOVD R9, MESSAGE_RIGHTS(R20)

	// epoll_ctl(epoll, ADD, socket, {READY, 0}), and for the network socket: no
	// connection belongs to such an event.
	MOVD $READY, R9
	MOVW R9, EVENT(R20)
	MOVD $SYS_EPOLL_CTL, R8
	MOVD R21, R0
	MOVD $ADD_TO, R1
	MOVD R19, R2
	ADD  $EVENT, R20, R3
	SVC
	MOVD R21, R0
	MOVD $NETWORK, R2
	SVC

take:
	// Take the next client, if there is none that waits, and room for it.
	CMP  $0, R22
	BGE  receive
	MOVD FREE(R20), R9
	CMP  $0, R9
	BNE  accept
	MOVD FRESH(R20), R9
	MOVD $END, R10
	CMP  R10, R9
	BEQ  await

accept:
	// accept4(socket, NULL, NULL, ACCEPTED)
	MOVD $SYS_ACCEPT4, R8
	MOVD R19, R0
	MOVD $0, R1
	MOVD $0, R2
	MOVD $ACCEPTED, R3
	SVC
	CMP  $0, R0
	BLT  await
	MOVD R0, R22

	// sendto(NETWORK, BYTE, 1, SENDING, NULL, 0): the Runner answers with a stream.
	MOVD $SYS_SENDTO, R8
	MOVD $NETWORK, R0
	ADD  $BYTE, R20, R1
	MOVD $1, R2
	MOVD $SENDING, R3
	MOVD $0, R4
	MOVD $0, R5
	SVC
	CMP  $1, R0
	BNE  exit // the Runner is gone

receive:
	// recvmsg(NETWORK, MESSAGE, RECEIVING)
	MOVD $RIGHTS_SIZE, R9
	MOVD R9, MESSAGE_SIZE(R20)
	MOVD $-1, R9
	MOVW R9, RECEIVED(R20)
	MOVD $SYS_RECVMSG, R8
	MOVD $NETWORK, R0
	ADD  $MESSAGE, R20, R1
	MOVD $RECEIVING, R2
	SVC
	CMN  $EAGAIN, R0
	BEQ  await
	CMP  $1, R0
	BNE  exit

	// A connection: one that was in use, or a fresh one.
	MOVD FREE(R20), R23
	CMP  $0, R23
	BEQ  fresh
	MOVD START(R23), R9
	MOVD R9, FREE(R20)
	B    connect

fresh:
	MOVD FRESH(R20), R23
	ADD  $CONNECTION, R23, R9
	MOVD R9, FRESH(R20)

connect:
	MOVW RECEIVED(R20), R2 // the stream; without one, epoll_ctl fails
	MOVW R22, FROM(R23)
	MOVW R2, TO(R23)
	ADD  $BUFFER, R23, R9
	MOVD R9, START(R23)
	MOVD R9, STOP(R23)
	EOR  $DIRECTION, R23, R10
	MOVW R2, FROM(R10)
	MOVW R22, TO(R10)
	ADD  $BUFFER, R10, R9
	MOVD R9, START(R10)
	MOVD R9, STOP(R10)
	MOVD $-1, R22

	// epoll_ctl(epoll, ADD, stream, {READY, connection}), and for the client. Both are
	// writable, so there is an event at once.
	MOVD R23, EVENT_DATA(R20)
	MOVD $SYS_EPOLL_CTL, R8
	MOVD R21, R0
	MOVD $ADD_TO, R1
	ADD  $EVENT, R20, R3
	SVC
	CMP  $0, R0
	BNE  drop
	MOVD R21, R0
	MOVW FROM(R23), R2
	SVC
	CMP  $0, R0
	BEQ  take
	B    drop

await:
	// epoll_pwait(epoll, EVENTS, MOST_EVENTS, -1, NULL)
	MOVD $SYS_EPOLL_PWAIT, R8
	MOVD R21, R0
	ADD  $EVENTS, R20, R1
	MOVD $MOST_EVENTS, R2
	MOVD $-1, R3
	MOVD $0, R4
	SVC
	CMP  $0, R0
	BLT  take // a signal stopped and continued it
	MOVD R0, LEFT(R20)
	ADD  $EVENTS, R20, R24 // R24: the next event

next:
	MOVD LEFT(R20), R9
	CMP  $0, R9
	BEQ  take
	SUB  $1, R9, R9
	MOVD R9, LEFT(R20)
	MOVD EVENT_DATA(R24), R23 // R23: a direction, first that from the client
	ADD  $EVENT_SIZE, R24, R24
	CMP  $0, R23
	BEQ  next // of a socket that take looks at

begin:
	MOVD $MOST_ROUNDS, R9
	MOVD R9, ROUNDS(R20)

copy:
	MOVW FROM(R23), R0
	CMP  $0, R0
	BLT  other // it has ended; or both have, and this event came too late
	MOVD START(R23), R1
	MOVD STOP(R23), R2
	SUB  R1, R2, R2
	CMP  $0, R2
	BNE  send

	// recvfrom(FROM, BUFFER, BUFFER_SIZE, DONTWAIT, NULL, NULL)
	MOVD $SYS_RECVFROM, R8
	ADD  $BUFFER, R23, R1
	MOVD $BUFFER_SIZE, R2
	MOVD $DONTWAIT, R3
	MOVD $0, R4
	MOVD $0, R5
	SVC
	CMN  $EAGAIN, R0
	BEQ  other
	CMP  $0, R0
	BLT  drop
	BEQ  ended
	MOVD R1, START(R23)
	MOVD R0, R2
	ADD  R1, R0, R0
	MOVD R0, STOP(R23)

send:
	// sendto(TO, START, STOP-START, SENDING, NULL, 0)
	MOVD $SYS_SENDTO, R8
	MOVW TO(R23), R0
	MOVD $SENDING, R3
	MOVD $0, R4
	MOVD $0, R5
	SVC
	CMN  $EAGAIN, R0
	BEQ  other
	CMP  $0, R0
	BLT  drop
	ADD  R0, R1, R1
	MOVD R1, START(R23)
	MOVD ROUNDS(R20), R9
	SUB  $1, R9, R9
	MOVD R9, ROUNDS(R20)
	CMP  $0, R9
	BNE  copy

	// Others take turns. epoll_ctl(epoll, MOD, FROM, {READY, connection}) and for TO:
	// there is another event if one of them is ready.
	AND  $~DIRECTION, R23, R9
	MOVD R9, EVENT_DATA(R20)
	MOVD $SYS_EPOLL_CTL, R8
	MOVD R21, R0
	MOVD $MOD, R1
	MOVW FROM(R23), R2
	ADD  $EVENT, R20, R3
	SVC
	MOVD R21, R0
	MOVW TO(R23), R2
	SVC

other:
	EOR  $DIRECTION, R23, R23
	TST  $DIRECTION, R23
	BNE  begin
	B    next

ended:
	// shutdown(TO, SHUT_WR)
	MOVD $SYS_SHUTDOWN, R8
	MOVW TO(R23), R0
	MOVD $SHUT_WR, R1
	SVC
	MOVD $-1, R9
	MOVW R9, FROM(R23)
	EOR  $DIRECTION, R23, R10
	MOVW FROM(R10), R9
	CMP  $0, R9
	BGE  other

drop:
	// close(TO), in both directions. This also removes them from the epoll.
	AND  $~DIRECTION, R23, R23
	EOR  $DIRECTION, R23, R10
	MOVD $SYS_CLOSE, R8
	MOVW TO(R23), R0
	SVC
	MOVW TO(R10), R0
	SVC
	MOVD $-1, R9
	MOVW R9, FROM(R23)
	MOVW R9, FROM(R10)
	MOVD FREE(R20), R9
	MOVD R9, START(R23)
	MOVD R23, FREE(R20)
	B    next

fail:
	MOVD $NO_COMMAND, R0
	B    end

exit:
	MOVD $0, R0

end:
	// exit_group(status)
	MOVD $SYS_EXIT_GROUP, R8
	SVC

init:
	// close(NETWORK), close(socket). The code of the init follows.
	MOVD $SYS_CLOSE, R8
	MOVD $NETWORK, R0
	SVC
	MOVD R19, R0
	SVC
