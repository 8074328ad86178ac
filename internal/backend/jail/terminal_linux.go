package jail

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/run"
)

type windowSize = run.WindowSize

// endOfInput is the character (Ctrl-D) that ends the input of a terminal.
const endOfInput = 4

// openTerminal makes a new terminal for the command, and our end of it. Nothing that the
// command does to it reaches the caller's own terminal.
func openTerminal() (s streams, err error) {
	ours, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return s, run.Errorf(run.Unsupported, "a terminal cannot be made (/dev/ptmx): %w", err)
	}
	s = streams{terminal: true}
	s.setTerminal(ours)
	if err = unix.IoctlSetPointerInt(ours, unix.TIOCSPTLCK, 0); err == nil {
		s.inside[0], err = peerOf(ours)
	}
	if err != nil {
		s.close()
		return s, run.Errorf(run.Unsupported, "a terminal cannot be made: %w", err)
	}
	s.inside[1], s.inside[2] = s.inside[0], s.inside[0]
	return s, nil
}

// awaitTerminal makes the streams of a command whose terminal is made inside the sandbox.
func awaitTerminal() (s streams, err error) {
	null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return s, run.Errorf(run.Internal, "%s: %w", os.DevNull, err)
	}
	return streams{terminal: true, inside: [3]int{null, null, null}}, nil
}

// setTerminal sets our end, which carries input and output.
func (s *streams) setTerminal(ours int) {
	s.stdout = os.NewFile(uintptr(ours), "terminal")
	s.stdin = s.stdout
}

// peerOf opens the command's end by ioctl. A path could have been replaced.
func peerOf(ours int) (int, error) {
	fd, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(ours), unix.TIOCGPTPEER, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC)
	if errno != 0 {
		return 0, errno
	}
	return int(fd), nil
}

// setWindowSize ignores errors: programs assume 80 by 24 without a size.
func setWindowSize(terminal *os.File, size windowSize) {
	raw, err := terminal.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		_ = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: size.Rows, Col: size.Columns})
	})
}
