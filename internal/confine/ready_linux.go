package confine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// readyMark is the message that carries a sandbox's descriptors once all its walls
// stand.
const readyMark = 'W'

// Handles are the descriptors that lead into a command's sandbox. Each is -1 or is
// closed by its owner.
type Handles struct {
	Proc     int // the directory of its processes
	Scratch  int // its /tmp
	Proxy    int // a socket on its loopback that listens
	Terminal int // our end of the command's terminal
	Listener int // where the kernel asks about denied system calls
}

// NoHandles holds no descriptor.
var NoHandles = Handles{Proc: -1, Scratch: -1, Proxy: -1, Terminal: -1, Listener: -1}

// Close closes all descriptors that are still open.
func (h *Handles) Close() {
	for _, fd := range []*int{&h.Proc, &h.Scratch, &h.Proxy, &h.Terminal, &h.Listener} {
		if *fd >= 0 {
			unix.Close(*fd)
			*fd = -1
		}
	}
}

// Ready waits until all walls of a command stand, and returns the descriptors that
// lead into its sandbox. A wall that could not be set up is a SetupError.
func (p *Process) Ready(c *Command, mode SeccompMode) (Handles, error) {
	handles := NoHandles
	want := []*int{&handles.Proc, &handles.Scratch}
	if c.ProxyPort != 0 {
		want = append([]*int{&handles.Proxy}, want...)
	}
	if c.NewTerminal {
		want = append(want, &handles.Terminal)
	}
	var listener []*int
	if mode == SeccompNotify {
		listener = append(listener, &handles.Listener)
	}
	if p.late == nil {
		want = append(want, listener...)
	}
	if err := p.receiveHandles(want, &handles); err != nil {
		return handles, err
	}
	if err := p.prepareCommand(); err != nil && !errors.Is(err, unix.EPIPE) { // End says why the init has ended
		handles.Close()
		return handles, err
	}
	if p.late != nil {
		return handles, p.receiveHandles(listener, &handles)
	}
	return handles, nil
}

// receiveHandles receives a message with descriptors.
func (p *Process) receiveHandles(want []*int, handles *Handles) error {
	data, rights := make([]byte, 64), make([]byte, unix.CmsgSpace(4*len(want)))
	n, size, err := p.receive(data, rights)
	if err != nil {
		return fmt.Errorf("control socket: %w", err)
	}
	if failure, failed := p.Failure(data[:n]); failed {
		return failure
	}
	if step, errno, _ := p.callFailure(data[:n]); step != "" {
		return setupError(step, errno, false)
	}
	if n != 1 || data[0] != readyMark {
		return errors.New("the sandbox ended while it was set up")
	}
	fds, err := descriptorsIn(rights[:size])
	for i, fd := range fds {
		if i < len(want) {
			*want[i] = fd
		} else {
			unix.Close(fd)
		}
	}
	if err == nil && len(fds) != len(want) {
		err = fmt.Errorf("%d descriptors arrived, want %d", len(fds), len(want))
	}
	if err != nil {
		handles.Close()
		return fmt.Errorf("control socket: %w", err)
	}
	return nil
}

// Failure parses the first message on Control if it reports a wall that could not be set
// up.
func (p *Init) Failure(message []byte) (*SetupError, bool) {
	if p.program == nil {
		return nil, false
	}
	return p.program.failure(message)
}

func (p *Init) receive(data, rights []byte) (n, size int, err error) {
	for {
		n, size, _, _, err = unix.Recvmsg(p.Control, data, rights, unix.MSG_CMSG_CLOEXEC)
		// A reset means that the child ended before it read everything. What it sent is
		// still there.
		if !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.ECONNRESET) {
			return n, size, err
		}
	}
}

func descriptorsIn(rights []byte) ([]int, error) {
	messages, err := unix.ParseSocketControlMessage(rights)
	if err != nil || len(messages) == 0 {
		return nil, err
	}
	return unix.ParseUnixRights(&messages[0])
}

// CommandEnd is how a command ended.
type CommandEnd struct {
	// Failure says why the command could not be executed; 0 if it was.
	Failure syscall.Errno
	// Status is nil if the command was not executed, or was killed together with the
	// sandbox before it ended.
	Status *unix.WaitStatus
}

// End waits for the command to end. A SetupError names one of the last steps, after the
// walls. The init's message need not be verified: a guest that could forge it could just
// as well end in that way.
func (p *Init) End() (CommandEnd, error) {
	var end CommandEnd
	data := make([]byte, 64)
	for {
		n, _, err := p.receive(data, nil)
		if failure, failed := p.Failure(data[:n]); failed {
			return end, failure
		}
		step, errno, last := p.callFailure(data[:n])
		switch {
		case err != nil:
			return end, fmt.Errorf("control socket: %w", err)
		case n == 0: // the init has ended
			return end, nil
		case n == 4 && end.Status == nil:
			status := unix.WaitStatus(binary.NativeEndian.Uint32(data))
			end.Status = &status
		case last:
			end.Failure = errno
		case step != "":
			return end, setupError(step, errno, false)
		}
	}
}
