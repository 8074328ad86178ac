package confine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// readyMark is the message that carries the descriptors of a place whose walls
// all stand.
const readyMark = 'W'

// Place is what the Runner holds of a command's surroundings. Each is a
// descriptor that its owner closes, or -1.
type Place struct {
	Proc     int // the directory of its processes
	Scratch  int // its /tmp
	Proxy    int // a socket on its loopback that listens
	Terminal int // our end of the command's terminal
	Listener int // where the kernel asks about denied system calls
}

// NoPlace has nothing in it.
var NoPlace = Place{Proc: -1, Scratch: -1, Proxy: -1, Terminal: -1, Listener: -1}

// Close lets go of all that is still there.
func (p *Place) Close() {
	for _, fd := range []*int{&p.Proc, &p.Scratch, &p.Proxy, &p.Terminal, &p.Listener} {
		if *fd >= 0 {
			unix.Close(*fd)
			*fd = -1
		}
	}
}

// Ready waits until all walls of a command stand, and gives what the child has
// sent. A wall that could not be put up is a SetupError.
func (p *Process) Ready(c *Command, mode SeccompMode) (Place, error) {
	place := NoPlace
	want := []*int{&place.Proc, &place.Scratch}
	if c.ProxyPort != 0 {
		want = append([]*int{&place.Proxy}, want...)
	}
	if c.NewTerminal {
		want = append(want, &place.Terminal)
	}
	if mode == SeccompNotify {
		want = append(want, &place.Listener)
	}
	data, rights := make([]byte, 64), make([]byte, unix.CmsgSpace(4*len(want)))
	n, size, err := p.receive(data, rights)
	if err != nil {
		return place, fmt.Errorf("control socket: %w", err)
	}
	if failure, failed := p.Failure(data[:n]); failed {
		return place, failure
	}
	if n != 1 || data[0] != readyMark {
		return place, errors.New("the sandbox ended while it was set up")
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
		err = fmt.Errorf("%d descriptors came, not %d", len(fds), len(want))
	}
	if err != nil {
		place.Close()
		return place, fmt.Errorf("control socket: %w", err)
	}
	return place, nil
}

func (p *Process) receive(data, rights []byte) (n, size int, err error) {
	for {
		n, size, _, _, err = unix.Recvmsg(p.Control, data, rights, unix.MSG_CMSG_CLOEXEC)
		switch {
		case errors.Is(err, unix.ECONNRESET): // it was gone before it had read all
			return 0, 0, nil
		case !errors.Is(err, unix.EINTR):
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
	// Status is there when it was, and came to an end before it was killed with
	// everything around it.
	Status *unix.WaitStatus
}

// End waits for the command's end. A SetupError is one of the last steps, after the
// walls. It takes the init's word for it: a guest that
// could forge that could as well end in that way.
func (p *Process) End() (CommandEnd, error) {
	var end CommandEnd
	data := make([]byte, 64)
	for {
		n, _, err := p.receive(data, nil)
		if failure, failed := p.Failure(data[:n]); failed {
			return end, failure
		}
		switch {
		case err != nil:
			return end, fmt.Errorf("control socket: %w", err)
		case n == 0: // the init is gone
			return end, nil
		case n == 4 && end.Status == nil:
			status := unix.WaitStatus(binary.NativeEndian.Uint32(data))
			end.Status = &status
		case n == 8:
			end.Failure = syscall.Errno(binary.NativeEndian.Uint64(data))
		}
	}
}
