package httpapi

import (
	"net/http"
	"time"

	"github.com/cordon-sandbox/cordon/internal/admission"
)

const (
	// pieceSize is how much of an answer is written before the deadline is renewed.
	pieceSize = 64 << 10
	// slowest is the least average rate, in bytes a second, at which a client must read a
	// large answer. Without it, a client could read a byte at a time.
	slowest = 64 << 10
)

// patience is how long a client that keeps reading may take for an answer of this size.
func patience(least time.Duration, size int64) time.Duration {
	return least + time.Duration(size)*time.Second/slowest
}

// paced writes to a client that must keep reading. Each piece and the whole answer have a
// deadline. When one passes, the connection is closed and the answer's memory is released.
type paced struct {
	http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration
	end     time.Time // of the whole; zero for a stream without an end
}

// pace returns a writer for an answer of this size; -1 means a stream.
func (a *api) pace(w http.ResponseWriter, size int64) *paced {
	p := &paced{ResponseWriter: w, control: http.NewResponseController(w), timeout: a.WriteTimeout}
	if size >= 0 {
		p.end = time.Now().Add(patience(a.WriteTimeout, size))
	}
	return p
}

// Unwrap lets http.ResponseController find the connection.
func (p *paced) Unwrap() http.ResponseWriter { return p.ResponseWriter }

func (p *paced) Write(data []byte) (written int, err error) {
	for len(data) > 0 && err == nil {
		piece := data[:min(len(data), pieceSize)]
		if err = p.renew(); err == nil {
			var n int
			n, err = p.ResponseWriter.Write(piece)
			written += n
			data = data[len(piece):]
		}
	}
	return written, err
}

// Flush sends what is buffered. Its error comes with the next Write.
func (p *paced) Flush() { _ = p.FlushError() }

// FlushError is Flush for http.ResponseController.
func (p *paced) FlushError() error {
	if err := p.renew(); err != nil {
		return err
	}
	return p.control.Flush()
}

// renew sets the deadline of the next piece.
func (p *paced) renew() error {
	deadline := time.Now().Add(p.timeout)
	if !p.end.IsZero() && p.end.Before(deadline) {
		deadline = p.end
	}
	return p.control.SetWriteDeadline(deadline)
}

// counted is a paced writer for a mounted frontend. A large write counts against the budget
// of its caller while it lasts. If the budget has no room, the write fails, which ends the
// connection.
type counted struct {
	*paced
	caller  string
	answers *admission.Answers
}

func (c *counted) Write(data []byte) (int, error) {
	if len(data) <= pieceSize {
		return c.paced.Write(data)
	}
	release, err := c.answers.Hold(c.caller, int64(len(data)))
	if err != nil {
		return 0, err
	}
	defer release()
	return c.paced.Write(data)
}

// mounted gives another frontend paced writers.
func (a *api) mounted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(&counted{a.pace(w, -1), who(r.Context()).Name, a.Service.Answers}, r)
	})
}
