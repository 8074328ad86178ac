package containtest

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/run"
)

// foreignCalls exist only on this architecture.
var foreignCalls = []systemCall{
	{name: "modify_ldt", number: unix.SYS_MODIFY_LDT, args: []uintptr{0, 0, 0}},
	{name: "iopl", number: unix.SYS_IOPL, args: []uintptr{0}, skipReason: "this kernel has none"},
	{name: "ioperm", number: unix.SYS_IOPERM, args: []uintptr{badFD, 1, 1}, skipReason: "this kernel has none"},
	{name: "x32: getpid", number: 0x40000000 | unix.SYS_GETPID, ended: true, skipReason: "this kernel has no x32"},
	{name: "x32: ptrace", number: 0x40000000 | 521, ended: true, skipReason: "this kernel has no x32"},
}

// Programs that make system calls of another architecture.
var foreignPrograms = map[string][]byte{
	"getpid": {
		0xb8, 20, 0, 0, 0, //     mov $20, %eax (getpid)
		0xcd, 0x80, //            int $0x80
		0x85, 0xc0, //            test %eax, %eax
		0x7e, 0x0c, //            jle no
		0xbf, 42, 0, 0, 0, //     mov $42, %edi
		0xb8, 231, 0, 0, 0, //    mov $231, %eax (exit_group)
		0x0f, 0x05, //            syscall
		0x31, 0xff, //            no: xor %edi, %edi
		0xb8, 231, 0, 0, 0, //    mov $231, %eax
		0x0f, 0x05, //            syscall
	},
	"socket": {
		0xb8, 0x67, 0x01, 0, 0, // mov $359, %eax (socket)
		0xbb, 2, 0, 0, 0, //       mov $2, %ebx (AF_INET)
		0xb9, 1, 0, 0, 0, //       mov $1, %ecx (SOCK_STREAM)
		0x31, 0xd2, //             xor %edx, %edx
		0xcd, 0x80, //             int $0x80
		0x85, 0xc0, //             test %eax, %eax
		0x78, 0x0c, //             js no
		0xbf, 42, 0, 0, 0,
		0xb8, 231, 0, 0, 0,
		0x0f, 0x05,
		0x31, 0xff, // no:
		0xb8, 231, 0, 0, 0,
		0x0f, 0x05,
	},
}

func foreignAttempts() []attempt {
	all := attemptsOf(foreignCalls)
	for name := range foreignPrograms {
		all = append(all, attempt{
			name: "int 0x80: " + name, act: "elf", params: map[string]any{"program": name},
			proof: proof{naked: true, skipReason: "this kernel has no i386"},
		})
	}
	// A process that makes such a call is killed, and the Result says so.
	return inWall("foreign ABI", append(all, attempt{
		name: "reported", act: "elf", params: map[string]any{"program": "getpid", "itself": true},
		want: run.Signaled, touched: endedByFilter, bwrap: bwrapSignaled(unix.SIGSYS),
		proof: proof{naked: true, ends: ending{run.Exited, answered}, skipReason: "this kernel has no i386"},
	}))
}

var errForeign = errors.New("the system call failed")
