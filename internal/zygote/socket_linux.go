package zygote

import (
	"io"
	"os"

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

// await waits for a packet on a file that Go's poller knows.
func await(f *os.File) (m message, err error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return message{}, err
	}
	waitErr := raw.Read(func(fd uintptr) bool {
		m, err = receive(int(fd))
		return err != unix.EAGAIN
	})
	if waitErr != nil {
		return message{}, waitErr
	}
	return m, err
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
