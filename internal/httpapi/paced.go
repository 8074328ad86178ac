package httpapi

import (
	"net/http"
	"time"

	"github.com/cordon-sandbox/cordon/internal/admission"
)

const (
	// pieceSize is how much of an answer is written before the client's time begins anew.
	pieceSize = 64 << 10
	// slowest is how many bytes of a large answer a client must take in a second, over all:
	// progress alone could be a byte at a time.
	slowest = 64 << 10
)

// patience is how long a client may take for an answer of a size, if it always goes on.
func patience(least time.Duration, size int64) time.Duration {
	return least + time.Duration(size)*time.Second/slowest
}

// paced writes for a client that must go on reading. Each piece has a deadline of its own,
// and so has the whole; when one is over, the connection is closed, and what waited to be
// sent is free.
type paced struct {
	http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration
	end     time.Time // of the whole; zero for a stream without an end
}

// pace gives a writer for an answer of a size, -1 for a stream.
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

// renew gives the client its time for the next piece.
func (p *paced) renew() error {
	deadline := time.Now().Add(p.timeout)
	if !p.end.IsZero() && p.end.Before(deadline) {
		deadline = p.end
	}
	return p.control.SetWriteDeadline(deadline)
}

// counted is a paced writer for a frontend that writes by itself: what is large counts
// against the budget of its caller while it is written. What has no room is not written,
// which ends the connection.
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

// mounted lets another frontend write to clients that go on reading, and to no others.
func (a *api) mounted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(&counted{a.pace(w, -1), who(r.Context()).Name, a.Service.Answers}, r)
	})
}
