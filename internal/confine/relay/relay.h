// What the relay shares with the Runner; see relay_linux.go in package confine.

#define ADDRESS 0x400120 // where it listens, a struct sockaddr_in: initBase + headersSize(4) in Go
#define NETWORK 5        // the network socket: NestedNetworkFD in Go
#define CONTROL 3        // the control socket of the init
#define NO_COMMAND 127   // exit status without a socket to listen on, as of an init without a command

// Its memory: relayBase and relaySize in Go. All of it is zero at first.
#define MEMORY  0x1000000
#define EVENT   0    // the struct epoll_event of epoll_ctl
#define MESSAGE 16   // the struct msghdr of recvmsg
#define VECTOR  80   // its struct iovec
#define RIGHTS  96   // its control message, with one descriptor
#define BYTE    120  // its data, and that of a request
#define LEFT    128  // how many events are left to handle
#define ROUNDS  136  // how many rounds a direction may still take
#define FREE    144  // the list of free connections
#define FRESH   152  // the first connection that never was in use
#define EVENTS  256  // of epoll_pwait
#define FIRST   0x1010000 // the first connection
#define END     0x3010000 // after the last one

// A connection has two directions. The address of the other one has another bit.
#define CONNECTION 0x10000
#define DIRECTION  0x8000

// A direction.
#define FROM   0  // a descriptor, or -1 if this direction has ended
#define TO     4  // a descriptor
#define START  8  // the address of what is left in the buffer; in a free connection, the next one
#define STOP   16 // the address after it
#define BUFFER 64

#define BUFFER_SIZE (DIRECTION-BUFFER)
#define MOST_EVENTS 64 // at once
#define MOST_ROUNDS 16 // of one direction, before others take turns
#define BACKLOG     1024

// The struct msghdr and what it points to, by offset in MEMORY.
#define VECTOR_SIZE     (VECTOR+8)
#define MESSAGE_VECTOR  (MESSAGE+16)
#define MESSAGE_VECTORS (MESSAGE+24)
#define MESSAGE_RIGHTS  (MESSAGE+32)
#define MESSAGE_SIZE    (MESSAGE+40)
#define RIGHTS_SIZE     24
#define RECEIVED        (RIGHTS+16) // the descriptor

// From the kernel's headers, the same on both architectures.
#define AF_INET         2
#define STREAM_SOCKET   0x80801    // SOCK_STREAM|SOCK_NONBLOCK|SOCK_CLOEXEC
#define ACCEPTED        0x80800    // SOCK_NONBLOCK|SOCK_CLOEXEC
#define EPOLL_CLOEXEC   0x80000
#define ADD_TO          1          // EPOLL_CTL_ADD
#define MOD             3          // EPOLL_CTL_MOD
#define READY           0x80000005 // EPOLLET|EPOLLIN|EPOLLOUT
#define DONTWAIT        0x40       // MSG_DONTWAIT
#define SENDING         0x4040     // MSG_DONTWAIT|MSG_NOSIGNAL
#define RECEIVING       0x40000040 // MSG_DONTWAIT|MSG_CMSG_CLOEXEC
#define SHUT_WR         1
#define SIGCHLD         17
#define EAGAIN          11

#define NOSPLIT 4   // no stack check: there is no Go runtime
#define NOFRAME 512 // no stack frame: the relay uses no stack
