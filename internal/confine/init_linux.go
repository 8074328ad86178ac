package confine

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A command is the child of cordon's init, which is the parent of every orphan.
//
// The init reads an order from the control socket and forks. The child makes the system
// calls of the order: it sets up the walls that are still missing, and reads more calls, the
// last of which executes the command. So a sandbox that was built ahead has only that left to
// do. If a call fails, the child sends the error and the call in 16 bytes. The init waits for
// processes to end. When the command ends, it sends the status in 4 bytes, and all other
// processes end too:
//
//   - In a pid namespace the init is the first process. It exits, and the kernel kills the
//     others. No signal that it has no handler for reaches it.
//   - Otherwise all signals are blocked, and it is a subreaper. It kills all processes of the
//     command with one call, and waits for them. It does so too at SIGUSR1, from the Runner,
//     and at SIGTERM, from the kernel when the Runner has died. Then it removes the command's
//     private directory if it is empty. If it is not, and the Runner has died, it executes the
//     program in its arguments, which removes it. See late_linux.go.
//
// The init is a few hundred bytes of machine code in its own ELF file, not a copy of the
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

// headersSize is the size of the headers of an ELF file with this many segments.
func headersSize(segments int) uint64 { return 64 + 56*uint64(segments) }

// initProgram returns the ELF file of the init.
func initProgram() []byte { return elfProgram(nil, initCode) }

// elfProgram returns an ELF file that begins with data, then executes code, and has the init's
// memory besides some of its own.
func elfProgram(data, code []byte, memory ...elfSegment) []byte {
	segments := append([]elfSegment{
		{Type: elfLoad, Flags: elfRead | elfExecute, Vaddr: initBase, Align: 0x1000},
		{Type: elfLoad, Flags: elfRead | elfWrite, Vaddr: orderBase, Memsz: maxOrder, Align: 0x1000},
		{Type: elfStack, Flags: elfRead | elfWrite},
	}, memory...)
	start := headersSize(len(segments))
	header := elfHeader{
		Ident: [16]byte{0x7f, 'E', 'L', 'F', elfClass64, elfLittleEndian, elfVersion},
		Type:  elfExecutable, Machine: initMachine, Version: elfVersion,
		Entry: initBase + start + uint64(len(data)), Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: uint16(len(segments)),
	}
	segments[0].Filesz = start + uint64(len(data)+len(code))
	segments[0].Memsz = segments[0].Filesz
	var file bytes.Buffer
	for _, part := range []any{header, segments, data, code} {
		_ = binary.Write(&file, binary.LittleEndian, part) // a Buffer never fails
	}
	return file.Bytes()
}

// OpenInit returns a descriptor of the init's program. The caller closes it.
func OpenInit() (int, error) { return openProgram("cordon-init", initProgram()) }

// openProgram returns a descriptor of a program in memory.
func openProgram(name string, program []byte) (int, error) {
	writeFD, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return -1, fmt.Errorf("init: %w", err)
	}
	defer unix.Close(writeFD) // a file that is open for writing cannot be executed
	if _, err := unix.Write(writeFD, program); err != nil {
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

// Init is the Runner's end of a conversation with an init.
type Init struct {
	// Control is our end of a SOCK_SEQPACKET pair; the program uses the other
	// end as ControlFD.
	Control int

	program *program   // nil if another program started the init
	late    *lateWalls // nil if all walls stand before the init has an order
	nested  bool       // the child reports that it waits for the command
	limits  []Limit    // that the child sets
	ordered atomic.Bool
	// setup and command are the orders of prepareCommand and of Execute.
	setup, command sentOrder
}

// ControlNested begins the conversation with an init that another program starts, as the
// first process of a sandbox of its own, with the other end of the socket as
// NestedControlFD. It waits until that init takes a command, which has these limits in
// addition to those of the init. The error is io.EOF if no process holds the other end any more.
func ControlNested(control int, limits []Limit, most time.Duration) (*Init, error) {
	p := &Init{Control: control, nested: true, limits: limits}
	if err := p.prepareCommand(); errors.Is(err, unix.EPIPE) {
		return nil, io.EOF
	} else if err != nil {
		return nil, err
	}
	timeout := unix.NsecToTimeval(int64(most))
	if err := unix.SetsockoptTimeval(control, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &timeout); err != nil {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	data := make([]byte, 64)
	n, _, err := p.receive(data, nil)
	if err != nil {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	if n == 0 {
		return nil, io.EOF
	}
	if step, errno, _ := p.callFailure(data[:n]); step != "" {
		return nil, setupError(step, errno, false)
	}
	timeout = unix.Timeval{}
	return p, unix.SetsockoptTimeval(control, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &timeout)
}

// ErrLongOrder means that the arguments are longer than any program can have.
var ErrLongOrder = errors.New("the command line is too long")

// Execute makes the waiting child of a sandbox's init execute a program.
func (p *Init) Execute(program string, argv, env []string) error {
	o := &order{base: p.setup.end(), data: make([]byte, moreCalls, moreCalls+1024)}
	path, arguments, environment := o.text(program), o.texts(argv), o.texts(env)
	if o.base+uint64(len(o.data)) > orderBase+maxOrder {
		return ErrLongOrder
	}
	// The child has read as much as one message holds. It reads the rest before it goes on.
	for read := orderPart; read < len(o.data); read += orderPart {
		o.call("arguments", unix.SYS_READ, initControlFD, o.base+uint64(read), orderPart)
	}
	o.call("execute "+program, unix.SYS_EXECVE, path, arguments, environment)
	copy(o.data, o.encodeCalls())
	p.command = sentOrder{o.steps, o.base}
	awaitForks()
	return p.sendParts(o.data)
}

// prepareCommand lets the init fork. The child sets up what is missing, and waits for Execute.
func (p *Init) prepareCommand() error {
	o := &order{base: orderBase, data: make([]byte, orderHead, 1024)}
	if p.late != nil {
		p.late.add(o)
	}
	for _, l := range p.limits {
		o.call("limits", unix.SYS_PRLIMIT64, 0, uint64(l.Resource), o.words(l.Value, l.Value), 0)
	}
	if p.nested {
		o.call("hand over", unix.SYS_WRITE, initControlFD, o.add(readyMark), 1)
	}
	o.align()
	calls := orderBase + uint64(len(o.data))
	o.call("order", unix.SYS_READ, initControlFD, calls+uint64(len(o.calls)+1)*orderCallSize, orderPart)
	o.add(o.encodeCalls()...)
	o.set(0, uint64(len(o.data)))
	o.set(1, calls)
	p.setup = sentOrder{o.steps, calls}
	p.ordered.Store(true)
	return p.sendParts(o.data)
}

func (p *Init) sendParts(data []byte) error {
	for len(data) > 0 {
		part := data[:min(len(data), orderPart)]
		if err := unix.Send(p.Control, part, unix.MSG_NOSIGNAL); errors.Is(err, unix.EINTR) {
			continue
		} else if err != nil {
			return fmt.Errorf("control socket: %w", err)
		}
		data = data[len(part):]
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

// order is a part of the init's memory, and a list of calls for its child. The first one has
// its size, the address of the calls, the signals to wait for, what to kill, what the calls
// point to, and the calls. The child reads the second one to the end of these calls, so it
// begins with the next ones; what they point to follows.
type order struct {
	base  uint64
	data  []byte
	calls [][7]uint64
	steps []string // a name for each call
}

const (
	orderHead     = 4 * 8
	orderCallSize = 7 * 8 // CALL_SIZE in init/init.h
	// moreCalls is the room for the calls of the second order: one for each part, and execve.
	moreCalls = (maxOrder/orderPart + 1) * orderCallSize
)

// add appends data, and returns its address in the init.
func (o *order) add(data ...byte) (address uint64) {
	address = o.base + uint64(len(o.data))
	o.data = append(o.data, data...)
	return address
}

// align makes the next address a multiple of 8.
func (o *order) align() { o.add(make([]byte, -len(o.data)&7)...) }

// words appends numbers, aligned.
func (o *order) words(values ...uint64) (address uint64) {
	o.align()
	data := make([]byte, 0, 8*len(values))
	for _, value := range values {
		data = binary.NativeEndian.AppendUint64(data, value)
	}
	return o.add(data...)
}

// text appends a C string, and texts an array of them.
func (o *order) text(s string) (address uint64) { return o.add(append([]byte(s), 0)...) }

func (o *order) texts(list []string) (address uint64) {
	array := make([]uint64, 0, len(list)+1)
	for _, s := range list {
		array = append(array, o.text(s))
	}
	return o.words(append(array, 0)...)
}

// call appends a system call of the child.
func (o *order) call(step string, number uint64, args ...uint64) {
	c := [7]uint64{number}
	copy(c[1:], args)
	o.calls, o.steps = append(o.calls, c), append(o.steps, step)
}

func (o *order) encodeCalls() []byte {
	data := make([]byte, 0, len(o.calls)*orderCallSize)
	for _, c := range o.calls {
		for _, word := range c {
			data = binary.NativeEndian.AppendUint64(data, word)
		}
	}
	return data
}

// set sets one of the first numbers.
func (o *order) set(word int, value uint64) { binary.NativeEndian.PutUint64(o.data[8*word:], value) }

// wait makes the init wait for these signals, and kill the target in the end.
func (o *order) wait(awaited uint64, target int) {
	o.set(2, awaited)
	o.set(3, uint64(target))
}

// sentOrder is what is needed to read an error of the child.
type sentOrder struct {
	steps []string
	calls uint64 // their address
}

// end is the address after the calls.
func (s sentOrder) end() uint64 { return s.calls + uint64(len(s.steps))*orderCallSize }

// callFailure parses the message of a child whose call failed. last says that it was the one
// that executes the command.
func (p *Init) callFailure(message []byte) (step string, errno syscall.Errno, last bool) {
	if len(message) != 16 {
		return "", 0, false
	}
	errno, at := syscall.Errno(binary.NativeEndian.Uint64(message)), binary.NativeEndian.Uint64(message[8:])
	for _, s := range []sentOrder{p.setup, p.command} {
		if at >= s.calls && at < s.end() {
			step = s.steps[(at-s.calls)/orderCallSize]
		}
	}
	return step, errno, step != "" && at == p.command.end()-orderCallSize
}
