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

// A command is the second process of its pid namespace. The first is an init of
// ours: the kernel gives the first process no signal that it has no handler for,
// and leaves every orphan to it.
//
// The init reads an order from the control socket, forks, and executes it in the
// child; a failure is said with 8 bytes. Then it waits for every process that
// ends. When that is the command, which has pid 2, it writes its status, 4 bytes,
// and ends, and with it the kernel ends all that is left.
//
// It is two hundred bytes of machine code in an ELF file of its own, and not a copy
// of the Runner: what lives beside a guest should have nothing in it, and is forked
// with every command. Its source is init/amd64.s and init/arm64.s.
//
//go:generate go run github.com/cordon-sandbox/cordon/internal/confine/gen
const (
	initBase  = 0x400000
	orderBase = 0x600000
	// maxOrder is more than the kernel takes for arguments and environment.
	maxOrder = 8 << 20
	// orderPart is how much the init reads at once, and less than a socket holds.
	orderPart = 64 << 10
)

// initProgram is the ELF file of the init.
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
		_ = binary.Write(&file, binary.LittleEndian, part) // a buffer takes everything
	}
	return file.Bytes()
}

// OpenInit gives a descriptor of the init's program, which its owner closes.
func OpenInit() (int, error) {
	writing, err := unix.MemfdCreate("cordon-init", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return -1, fmt.Errorf("init: %w", err)
	}
	defer unix.Close(writing) // a file that is open for writing cannot be executed
	if _, err := unix.Write(writing, initProgram()); err != nil {
		return -1, fmt.Errorf("init: %w", err)
	}
	if _, err := unix.FcntlInt(uintptr(writing), unix.F_ADD_SEALS, unix.F_SEAL_WRITE|unix.F_SEAL_GROW|unix.F_SEAL_SHRINK|unix.F_SEAL_SEAL); err != nil {
		return -1, fmt.Errorf("init: %w", err)
	}
	reading, err := unix.Open(fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), writing), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("init: %w", err)
	}
	// A program that its user may not read is closed to that user's debuggers
	// from its first instruction on.
	if err := unix.Fchmod(reading, 0o111); err != nil {
		unix.Close(reading)
		return -1, fmt.Errorf("init: %w", err)
	}
	return reading, nil
}

// ErrLongOrder says that no program can have so many arguments.
var ErrLongOrder = errors.New("the command line is too long")

// Execute tells the init of a sandbox what to execute in it.
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

// awaitForks returns when those that are under way have ended: a child that is being
// forked may have a copy of what our caller has just written; see cloneAndWatch.
func awaitForks() {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
}

// encodeOrder writes an order as it will lie in the init's memory: its length,
// the addresses of the program's path, the arguments and the environment, and
// what these point to.
func encodeOrder(program string, argv, env []string) ([]byte, error) {
	const head = 4 * 8
	arrays := head + 8*(len(argv)+1+len(env)+1)
	texts := arrays + len(program) + 1
	for _, list := range [][]string{argv, env} {
		for _, text := range list {
			texts += len(text) + 1
		}
	}
	if texts > maxOrder {
		return nil, ErrLongOrder
	}
	order := make([]byte, arrays, texts)
	word := func(at, value int) { binary.NativeEndian.PutUint64(order[at:], uint64(value)) }
	text := func(s string) (address int) {
		address = orderBase + len(order)
		order = append(append(order, s...), 0)
		return address
	}
	word(0, texts)
	word(8, text(program))
	word(16, orderBase+head)
	word(24, orderBase+head+8*(len(argv)+1))
	for i, s := range argv {
		word(head+8*i, text(s))
	}
	for i, s := range env {
		word(head+8*(len(argv)+1+i), text(s))
	}
	return order, nil
}
