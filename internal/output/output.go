// Package output captures what guests write, within their limits.
package output

import (
	"io"

	"github.com/cordon-sandbox/cordon/policy"
)

// Capture is the captured part of a stream, and the stream's full size.
type Capture struct {
	Data []byte
	Size int64
}

// Cut reports whether some of it was dropped.
func (c Capture) Cut() bool { return c.Size > int64(len(c.Data)) }

// Sink receives one stream of a guest. Data above the limit is counted and dropped, so that
// it takes no memory.
type Sink struct {
	Capture Capture
	Limit   int64
	// OnLimit is the action at the limit; Kill kills the guest.
	OnLimit policy.OutputAction
	Kill    func()
	// Live receives the captured data at once. It may be nil.
	Live io.Writer
}

// Take adds data that was read.
func (s *Sink) Take(data []byte) {
	s.Capture.Size += int64(len(data))
	if room := s.Limit - int64(len(s.Capture.Data)); int64(len(data)) > room {
		data = data[:max(0, room)]
		if s.OnLimit == policy.OutputKill {
			s.Kill()
		}
	}
	s.Capture.Data = append(s.Capture.Data, data...)
	if s.Live != nil && len(data) > 0 {
		if _, err := s.Live.Write(data); err != nil {
			s.Live = nil // the caller stopped reading; the Result still has the output
		}
	}
}
