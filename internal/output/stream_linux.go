package output

import (
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

var buffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// Once takes what one read gives.
func (s *Sink) Once(read func([]byte) (int, error)) (n int, err error) {
	buffer := buffers.Get().(*[32 << 10]byte)
	defer buffers.Put(buffer)
	if n, err = read(buffer[:]); n > 0 {
		s.Take(buffer[:n])
	}
	return n, err
}

// drainMost is more than a pipe can hold.
const drainMost = 64

// Drain takes what lies in a descriptor that does not block, within bounds: others
// may still be writing.
func (s *Sink) Drain(fd int) {
	for range drainMost {
		if n, err := s.Once(func(b []byte) (int, error) { return unix.Read(fd, b) }); err != nil || n <= 0 {
			return
		}
	}
}

// Stream reads one stream of a guest while the guest runs. The other end may be in
// the hands of somebody who outlives it, and nobody waits for those.
type Stream struct {
	Sink
	file *os.File
	done sync.WaitGroup
}

// Start begins to read a file that does not block, and that stays its owner's.
func (s *Stream) Start(file *os.File) {
	s.file = file
	s.done.Go(func() {
		for {
			if n, err := s.Once(file.Read); err != nil || n <= 0 {
				return
			}
		}
	})
}

// Finish takes what is left. All that the guest wrote is there by now.
func (s *Stream) Finish() Capture {
	if s.file != nil {
		_ = s.file.SetReadDeadline(time.Unix(1, 0)) // wakes the reader
		s.done.Wait()
		s.rest(s.file)
	}
	return s.Capture
}

// Rest gives what lies in a pipe whose writers are gone.
func Rest(file *os.File, limit int64) []byte {
	s := Sink{Limit: limit}
	s.rest(file)
	return s.Capture.Data
}

func (s *Sink) rest(file *os.File) {
	if raw, err := file.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { s.Drain(int(fd)) }) // the file is open
	}
}
