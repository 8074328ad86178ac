package zygote

import (
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// message is one packet or chunk with what the kernel says of it.
type message struct {
	data []byte
	fds  []int
	// pid of the sender in our own namespace, where the socket asks for it.
	// The kernel fills it in: it cannot be forged.
	pid int
}

// hear waits for one message on a socket that does not block. Who has patience
// looks for it for so long without sleeping: to be woken takes longer than what
// is waited for.
func hear(fd int, deadline time.Time, patience time.Duration) (message, error) {
	for until := time.Now().Add(patience); patience > 0 && time.Now().Before(until); {
		if m, err := receive(fd); err != unix.EAGAIN {
			return m, err
		}
		_, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
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
		if m, err := receive(fd); err != unix.EAGAIN {
			return m, err
		}
	}
}

// say sends one message on a socket that does not block.
func say(fd int, data []byte, descriptors ...int) error {
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

// receive takes what has arrived; EAGAIN says that nothing has.
func receive(fd int) (message, error) {
	data := make([]byte, 4096)
	ancillary := make([]byte, unix.CmsgSpace(4*4)+unix.CmsgSpace(unix.SizeofUcred))
	n, size, _, _, err := unix.Recvmsg(fd, data, ancillary, unix.MSG_CMSG_CLOEXEC)
	if err == unix.ECONNRESET {
		// Said once, and before the last words of a peer that died with
		// messages unread.
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
