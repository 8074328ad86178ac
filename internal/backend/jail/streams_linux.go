package jail

import (
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/run"
)

// streams are the two ends of a command's standard streams.
type streams struct {
	terminal bool
	// stdin, stdout and stderr are our ends. With a terminal the first two are the same
	// file, and stderr is nil.
	stdin, stdout, stderr *os.File
	inside                [3]int
	// channel is another stream of the command, on gVisor only; 0 means none.
	channel int
}

func (s streams) closeTheirs() {
	for i, fd := range s.inside {
		if fd > 0 && !slices.Contains(s.inside[:i], fd) {
			unix.Close(fd)
		}
	}
	if s.channel > 0 {
		unix.Close(s.channel)
	}
}

func (s streams) close() {
	for _, f := range []*os.File{s.stdin, s.stdout, s.stderr} {
		if f != nil {
			_ = f.Close() // with a terminal, stdin and stdout are one file
		}
	}
}

// openPipes makes the streams of a command without a terminal. Without input the command
// reads from /dev/null.
func openPipes(input bool) (s streams, err error) {
	defer func() {
		if err != nil {
			s.closeTheirs()
			s.close()
			err = run.Errorf(run.Internal, "pipes: %w", err)
		}
	}()
	if input {
		if s.inside[0], s.stdin, err = pipe(1); err != nil {
			return s, err
		}
	} else if s.inside[0], err = unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
		return s, err
	}
	if s.inside[1], s.stdout, err = pipe(0); err != nil {
		return s, err
	}
	s.inside[2], s.stderr, err = pipe(0)
	return s, err
}

// pipe returns the command's end as a plain descriptor, and our end as a file. Ours is
// the end for reading (0) or for writing (1).
func pipe(ours int) (theirs int, file *os.File, err error) {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return 0, nil, err
	}
	// Only our end: a command expects its end to block.
	if err := unix.SetNonblock(ends[ours], true); err != nil {
		unix.Close(ends[0])
		unix.Close(ends[1])
		return 0, nil, err
	}
	return ends[1-ours], os.NewFile(uintptr(ends[ours]), "stream"), nil
}
