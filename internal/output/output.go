// Package output captures what guests write, within their limits.
package output

import (
	"io"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Capture is the captured beginning of a stream.
type Capture struct {
	Data []byte
	// Size is the size of the whole stream. Dropped is how much of it was above the limit.
	Size, Dropped int64
}

// minKeep is how much is always captured: tiers explain failures with it.
const minKeep = 4 << 10

// much is the size from which OnMuch is called.
const much = 128 << 10

// Sink receives one stream of a guest. Data above the limit is counted and dropped, so that
// it takes no memory.
type Sink struct {
	Capture Capture
	Limit   int64
	// Keep is how much is captured.
	Keep int64
	// OnLimit is the action at the limit; Kill kills the guest.
	OnLimit policy.OutputAction
	Kill    func()
	// OnMuch, if not nil, is called once, when the stream is more than a person would read.
	OnMuch func()
	// Live receives the data up to the limit at once. It may be nil.
	Live io.Writer
}

// Sinks returns the sinks of a guest's two streams.
func Sinks(limits policy.Limits, action policy.OutputAction, streams run.Streams, kill func()) (stdout, stderr Sink) {
	sink := func(live io.Writer) Sink {
		s := Sink{Limit: int64(limits.Output), Keep: int64(limits.Output), OnLimit: action, Kill: kill, Live: live}
		if live != nil && streams.CaptureLimit > 0 {
			s.Keep = min(s.Keep, max(minKeep, int64(streams.CaptureLimit)))
		}
		return s
	}
	return sink(streams.Out), sink(streams.Err)
}

// Take adds data that was read.
func (s *Sink) Take(data []byte) {
	c := &s.Capture
	room := max(0, s.Limit-(c.Size-c.Dropped))
	c.Size += int64(len(data))
	if above := int64(len(data)) - room; above > 0 {
		c.Dropped += above
		data = data[:room]
		if s.OnLimit == policy.OutputKill {
			s.Kill()
		}
	}
	c.Data = append(c.Data, data[:min(int64(len(data)), s.Keep-int64(len(c.Data)))]...)
	if s.Live != nil && len(data) > 0 {
		if _, err := s.Live.Write(data); err != nil {
			s.Live = nil // the caller stopped reading; the Result still has the output
		}
	}
	if s.OnMuch != nil && c.Size >= much {
		s.OnMuch()
		s.OnMuch = nil
	}
}
