// What the init shares with the Runner; see init_linux.go in package confine.

#define CONTROL    3        // the control socket
#define ORDER      0x600000 // where the order is read to: orderBase in Go
#define ORDER_PART 0x10000  // bytes read at once: orderPart in Go

// The order's fields, as encodeOrder writes them.
#define ORDER_SIZE    0
#define ORDER_PROGRAM 8
#define ORDER_ARGV    16
#define ORDER_ENV     24

#define COMMAND     2   // the pid of the command: the init has 1, and forks once
#define NO_COMMAND  127 // exit status of an init that had no command to wait for

// From the kernel's headers, the same on both architectures.
#define F_SETFD    2
#define FD_CLOEXEC 1
#define EINTR      4
#define SIGCHLD    17

#define NOSPLIT 4   // no stack check: there is no Go runtime
#define NOFRAME 512 // no stack frame: the init uses no stack
