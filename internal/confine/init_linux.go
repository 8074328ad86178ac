package confine

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// A command is the second process of its pid namespace. The first is cordon's init: the
// kernel delivers no signal to the first process that it has no handler for, and makes it
// the parent of every orphan.
//
// The init reads an order from the control socket, forks, and executes the order's program
// in the child. If that fails, the child sends the error in 8 bytes. Then the init waits
// for processes to end. When the command ends, which has pid 2, the init sends its status
// in 4 bytes and exits, and the kernel kills all other processes of the namespace.
//
// The init is two hundred bytes of machine code in its own ELF file, not a copy of the
// Runner: a process next to a guest should contain nothing of value, and it is forked for
// every command. Its source is init/amd64.s and init/arm64.s.
//
//go:generate go run github.com/cordon-sandbox/cordon/internal/confine/gen
const (
	initBase  = 0x400000
	orderBase = 0x600000
	// maxOrder is more than the kernel allows for arguments and environment.
	maxOrder = 8 << 20
	// orderPart is how much the init reads at once. It is less than a socket's buffer.
	orderPart = 64 << 10
)

// initProgram returns the ELF file of the init.
func initProgram() []byte {
	const headers = 64 + 3*56
	header := elfHeader{
		Ident: [16]byte{0x7f, 'E', 'L', 'F', elfClass64, elfLittleEndian, elfVersion},
		Type:  elfExecutable, Machine: initMachine, Version: elfVersion,
		Entry: initBase + headers, Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 3,
	}
	size := uint64(headers + len(initCode))
	segments := []elfSegment{
		{Type: elfLoad, Flags: elfRead | elfExecute, Vaddr: initBase, Filesz: size, Memsz: size, Align: 0x1000},
		{Type: elfLoad, Flags: elfRead | elfWrite, Vaddr: orderBase, Memsz: maxOrder, Align: 0x1000},
		{Type: elfStack, Flags: elfRead | elfWrite},
	}
	var file bytes.Buffer
	for _, part := range []any{header, segments, initCode} {
		_ = binary.Write(&file, binary.LittleEndian, part) // a Buffer never fails
	}
	return file.Bytes()
}

// OpenInit returns a descriptor of the init's program. The caller closes it.
func OpenInit() (int, error) {
	writeFD, err := unix.MemfdCreate("cordon-init", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return -1, fmt.Errorf("init: %w", err)
	}
	defer unix.Close(writeFD) // a file that is open for writing cannot be executed
	if _, err := unix.Write(writeFD, initProgram()); err != nil {
		return -1, fmt.Errorf("init: %w", err)
	}
	if _, err := unix.FcntlInt(uintptr(writeFD), unix.F_ADD_SEALS, unix.F_SEAL_WRITE|unix.F_SEAL_GROW|unix.F_SEAL_SHRINK|unix.F_SEAL_SEAL); err != nil {
		return -1, fmt.Errorf("init: %w", err)
	}
	readFD, err := unix.Open(fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), writeFD), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("init: %w", err)
	}
	// A user who may not read a program cannot trace it, from its first instruction on.
	if err := unix.Fchmod(readFD, 0o111); err != nil {
		unix.Close(readFD)
		return -1, fmt.Errorf("init: %w", err)
	}
	return readFD, nil
}

// ErrLongOrder means that the arguments are longer than any program can have.
var ErrLongOrder = errors.New("the command line is too long")

// Execute makes the init of a sandbox execute a program.
func (p *Process) Execute(program string, argv, env []string) error {
	order, err := encodeOrder(program, argv, env)
	if err != nil {
		return err
	}
	awaitForks()
	for len(order) > 0 {
		part := order[:min(len(order), orderPart)]
		if err := unix.Send(p.Control, part, unix.MSG_NOSIGNAL); errors.Is(err, unix.EINTR) {
			continue
		} else if err != nil {
			return fmt.Errorf("control socket: %w", err)
		}
		order = order[len(part):]
	}
	return nil
}

// awaitForks waits until no fork is in progress. A child that is being forked may still
// have the program open for writing, if the caller has just written it, and such a program
// cannot be executed. See cloneAndWatch.
func awaitForks() {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
}

// encodeOrder encodes an order as the init has it in memory: its length; the addresses of
// the program's path, the arguments and the environment; and the data at these addresses.
func encodeOrder(program string, argv, env []string) ([]byte, error) {
	const head = 4 * 8
	arrays := head + 8*(len(argv)+1+len(env)+1)
	size := arrays + len(program) + 1
	for _, list := range [][]string{argv, env} {
		for _, text := range list {
			size += len(text) + 1
		}
	}
	if size > maxOrder {
		return nil, ErrLongOrder
	}
	order := make([]byte, arrays, size)
	putWord := func(at, value int) { binary.NativeEndian.PutUint64(order[at:], uint64(value)) }
	addText := func(s string) (address int) {
		address = orderBase + len(order)
		order = append(append(order, s...), 0)
		return address
	}
	putWord(0, size)
	putWord(8, addText(program))
	putWord(16, orderBase+head)
	putWord(24, orderBase+head+8*(len(argv)+1))
	for i, s := range argv {
		putWord(head+8*i, addText(s))
	}
	for i, s := range env {
		putWord(head+8*(len(argv)+1+i), addText(s))
	}
	return order, nil
}
