package output

import (
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

var buffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// Once reads once and adds the data.
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

// Drain reads the buffered data of a non-blocking descriptor, up to a bound, because other
// processes may still be writing.
func (s *Sink) Drain(fd int) {
	for range drainMost {
		if n, err := s.Once(func(b []byte) (int, error) { return unix.Read(fd, b) }); err != nil || n <= 0 {
			return
		}
	}
}

// Stream reads one stream of a guest while the guest runs. A process that outlives the
// guest may hold the other end; Stream does not wait for it.
type Stream struct {
	Sink
	file *os.File
	done sync.WaitGroup
}

// Start begins to read a non-blocking file. The caller closes it.
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

// Finish reads the rest. The guest has ended, so all of its output is in the pipe.
func (s *Stream) Finish() Capture {
	if s.file != nil {
		_ = s.file.SetReadDeadline(time.Unix(1, 0)) // wakes the reader
		s.done.Wait()
		s.rest(s.file)
	}
	return s.Capture
}

// Rest reads the buffered data of a pipe whose writers have ended.
func Rest(file *os.File, limit int64) []byte {
	s := Sink{Limit: limit, Keep: limit}
	s.rest(file)
	return s.Capture.Data
}

func (s *Sink) rest(file *os.File) {
	if raw, err := file.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { s.Drain(int(fd)) }) // the file is open
	}
}
