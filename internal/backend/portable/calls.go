package portable

import (
	"bytes"
	"io"
	"sync"
	"time"

	"github.com/cordon-sandbox/cordon/internal/output"
)

// markTime is how long to wait for the end of a call's output, which the process writes
// before its answer.
const markTime = 5 * time.Second

// callOutput reads one stream of a process that serves many calls. After each call the
// process writes a mark, which only the Runner and this call know: there is no portable
// way to ask a pipe whether it is empty. What arrives between two calls belongs to no
// caller and is dropped.
type callOutput struct {
	mu   sync.Mutex
	sink output.Sink
	mark []byte        // nil between two calls
	held []byte        // could be the beginning of the mark
	done chan struct{} // closed when the mark, or the end of the stream, was read
	over bool          // the stream has ended
}

// begin starts to collect the output of a call.
func (o *callOutput) begin(sink output.Sink, mark []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sink, o.mark, o.held, o.done = sink, mark, o.held[:0], make(chan struct{})
	if o.over {
		o.finishLocked()
	}
}

// read reads the stream until its end.
func (o *callOutput) read(from io.Reader) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		o.take(buffer[:n])
		if err != nil {
			break
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.over = true; o.mark != nil {
		o.sink.Take(o.held)
		o.finishLocked()
	}
}

func (o *callOutput) take(data []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.mark == nil {
		return
	}
	o.held = append(o.held, data...)
	if end := bytes.Index(o.held, o.mark); end >= 0 {
		o.sink.Take(o.held[:end])
		o.finishLocked()
		return
	}
	if whole := len(o.held) - len(o.mark) + 1; whole > 0 {
		o.sink.Take(o.held[:whole])
		o.held = append(o.held[:0], o.held[whole:]...)
	}
}

func (o *callOutput) finishLocked() {
	o.mark = nil
	close(o.done)
}

// wait waits for the end of the call's output, and reports whether it came.
func (o *callOutput) wait(most time.Duration) bool {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-o.done:
		return true
	case <-timer.C:
		return false
	}
}

// end returns the output of the call, and collects no more.
func (o *callOutput) end() output.Capture {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.mark != nil {
		o.sink.Take(o.held)
		o.finishLocked()
	}
	return o.sink.Capture
}
