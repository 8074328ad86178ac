package zygote

import (
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/tuning"
)

// message is one packet or chunk, with what the kernel reports about it.
type message struct {
	data []byte
	fds  []int
	// pid is the sender's pid in our namespace, if the socket asks for it. The kernel
	// fills it in, so it cannot be forged.
	pid int
}

// awaitMessage waits for one message on a nonblocking socket. It polls for the time of
// patience before it sleeps, because waking up takes longer than most waits.
func awaitMessage(fd int, deadline time.Time, patience time.Duration) (message, error) {
	r := newRoom()
	for until := time.Now().Add(patience); patience > 0 && time.Now().Before(until); {
		if m, err := receive(fd, r); err != unix.EAGAIN {
			return m, err
		}
		tuning.Yield()
	}
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	for {
		left := time.Until(deadline)
		if left <= 0 {
			return message{}, os.ErrDeadlineExceeded
		}
		timeout := unix.NsecToTimespec(int64(left))
		if n, err := unix.Ppoll(fds, &timeout, nil); err == unix.EINTR || err == nil && n == 0 {
			continue
		}
		if m, err := receive(fd, r); err != unix.EAGAIN {
			return m, err
		}
	}
}

// sendMessage sends one message on a nonblocking socket.
func sendMessage(fd int, data []byte, descriptors ...int) error {
	for {
		err := unix.Sendmsg(fd, data, unix.UnixRights(descriptors...), nil, unix.MSG_NOSIGNAL)
		if err != unix.EAGAIN && err != unix.EINTR {
			return err
		}
		if _, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}, -1); err != nil && err != unix.EINTR {
			return err
		}
	}
}

// room is the memory for a message: its data, and its descriptors and credentials.
type room struct{ data, ancillary []byte }

func newRoom() room {
	return room{make([]byte, 4096), make([]byte, unix.CmsgSpace(4*4)+unix.CmsgSpace(unix.SizeofUcred))}
}

// receive reads what has arrived; EAGAIN means nothing. The message is in the room until
// the next one.
func receive(fd int, r room) (message, error) {
	data, ancillary := r.data, r.ancillary
	n, size, _, _, err := unix.Recvmsg(fd, data, ancillary, unix.MSG_CMSG_CLOEXEC)
	if err == unix.ECONNRESET {
		// The kernel reports ECONNRESET once, before the last messages of a peer that
		// died with messages unread.
		n, size, _, _, err = unix.Recvmsg(fd, data, ancillary, unix.MSG_CMSG_CLOEXEC)
	}
	switch {
	case err != nil:
		return message{}, err
	case n == 0:
		return message{}, io.EOF
	}
	m := message{data: data[:n]}
	parts, err := unix.ParseSocketControlMessage(ancillary[:size])
	if err != nil {
		return message{}, err
	}
	for _, part := range parts {
		switch part.Header.Type {
		case unix.SCM_RIGHTS:
			if m.fds, err = unix.ParseUnixRights(&part); err != nil {
				return message{}, err
			}
		case unix.SCM_CREDENTIALS:
			credentials, err := unix.ParseUnixCredentials(&part)
			if err != nil {
				return message{}, err
			}
			m.pid = int(credentials.Pid)
		}
	}
	return m, nil
}
