// What the init shares with the Runner; see init_linux.go in package confine.

#define CONTROL    3        // the control socket
#define ORDER      0x600000 // where the order is read to: orderBase in Go
#define ORDER_PART 0x10000  // bytes read at once: orderPart in Go

// The order's fields, as type order encodes them.
#define ORDER_SIZE    0
#define ORDER_CALLS   8  // the address of the child's system calls
#define ORDER_AWAITED 16 // the signals to wait for, or 0 in a pid namespace
#define ORDER_TARGET  24 // what to kill at the end: -1, or 0 for the command's group

// A system call of the child: its number and six arguments.
#define CALL_SIZE 56

#define ARGUMENT  16 // where the stack has the address of the first argument
#define DIRECTORY 40 // and of the last one, the command's private directory

#define NO_COMMAND 127 // exit status of an init that had no command to wait for

// From the kernel's headers, the same on both architectures.
#define F_SETFD    2
#define FD_CLOEXEC 1
#define ECHILD     10
#define EAGAIN     11
#define SIGKILL    9
#define SIGUSR1    10
#define SIGTERM    15
#define SIGCHLD    17
#define WNOHANG    1
#define DONTWAIT   0x40  // MSG_DONTWAIT
#define REMOVEDIR  0x200 // AT_REMOVEDIR

#define NOSPLIT 4   // no stack check: there is no Go runtime
#define NOFRAME 512 // no stack frame: the init uses no stack
