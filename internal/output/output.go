// Package output keeps what guests write, within their limits.
package output

import (
	"io"

	"github.com/cordon-sandbox/cordon/policy"
)

// Capture is one stream: what was kept, and how much there was.
type Capture struct {
	Data []byte
	Size int64
}

// Cut says that some of it was not kept.
func (c Capture) Cut() bool { return c.Size > int64(len(c.Data)) }

// Sink takes what a guest writes into one stream. What goes over the limit is
// counted and dropped, before it can take any memory.
type Sink struct {
	Capture Capture
	Limit   int64
	// OnLimit says what happens then; Kill is how.
	OnLimit policy.OutputAction
	Kill    func()
	// Live gets what is kept, at once. It may be nil.
	Live io.Writer
}

// Take adds what was read.
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
			s.Live = nil // the caller went away; the Result still has it
		}
	}
}
