//go:build !windows

package portable

import (
	"errors"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// wake makes a Read that waits return.
func (s *stream) wake() error { return s.file.SetReadDeadline(time.Unix(1, 0)) }

// Read reads what is there, and waits for it until stopWaiting was called.
func (s *stream) Read(into []byte) (int, error) {
	for !s.over.Load() {
		n, err := s.file.Read(into)
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
	}
	for s.late < maxLate {
		_ = s.file.SetReadDeadline(time.Time{}) // that of wake
		n, err := s.readNow(into)
		if s.late += n; !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
	}
	return 0, io.EOF
}

// readNow reads without waiting. An empty pipe has ended.
func (s *stream) readNow(into []byte) (n int, err error) {
	raw, err := s.file.SyscallConn()
	if err != nil {
		return 0, err
	}
	var failed error
	err = raw.Read(func(fd uintptr) bool {
		for {
			if n, failed = unix.Read(int(fd), into); failed != unix.EINTR {
				return true
			}
		}
	})
	switch {
	case err != nil:
		return 0, err
	case failed == unix.EAGAIN || failed == nil && n == 0:
		return 0, io.EOF
	case failed != nil:
		return 0, failed
	}
	return n, nil
}
