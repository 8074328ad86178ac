package httpapi

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cordon-sandbox/cordon/internal/admission"
	"github.com/cordon-sandbox/cordon/run"
)

// limited bounds the size of a body and the time it may take. The deadline ends with the
// body: after it, the server reads without one, to notice when the client disconnects.
func (a *api) limited(w http.ResponseWriter, body io.ReadCloser) io.ReadCloser {
	if err := http.NewResponseController(w).SetReadDeadline(time.Now().Add(a.BodyTimeout)); err != nil {
		a.Logger.Warn("no deadline for a body", "error", err)
	}
	return http.MaxBytesReader(w, body, a.MaxBody)
}

// budget bounds the memory of all bodies together, so that a thousand clients with the
// largest allowed body do not exhaust it.
type budget struct {
	used atomic.Int64
	most int64
}

func (b *budget) take(n int64) error {
	if b.used.Add(n) > b.most {
		b.used.Add(-n)
		return run.Wrap(run.Busy, &admission.Busy{RetryAfter: time.Second})
	}
	return nil
}

func (b *budget) give(n int64) { b.used.Add(-n) }

// readBody returns the whole body, which is JSON. The caller calls done, at least once, when
// it no longer needs the body.
func (a *api) readBody(r *http.Request) (body []byte, done func(), err error) {
	if err := jsonOnly(r.Header); err != nil {
		return nil, nil, err
	}
	if r.ContentLength > a.MaxBody {
		return nil, nil, a.tooLarge()
	}
	var taken int64
	defer func() {
		if err != nil {
			a.bodies.give(taken)
		}
	}()
	const piece = 64 << 10
	var whole bytes.Buffer
	for {
		if err := a.bodies.take(piece); err != nil {
			return nil, nil, err
		}
		taken += piece
		n, err := io.CopyN(&whole, r.Body, piece)
		switch {
		case errors.Is(err, io.EOF):
			a.bodies.give(piece - n)
			taken -= piece - n
			return whole.Bytes(), sync.OnceFunc(func() { a.bodies.give(taken) }), nil
		case err != nil:
			return nil, nil, a.bodyError(err)
		}
	}
}

func (a *api) tooLarge() error {
	return withStatus(http.StatusRequestEntityTooLarge, run.Invalid, "the body is above the maximum of %d bytes", a.MaxBody)
}

func (a *api) bodyError(err error) error {
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return a.tooLarge()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return withStatus(http.StatusRequestTimeout, run.Invalid, "the body did not arrive within %v", a.BodyTimeout)
	}
	// The error's text is Go's. The client has mostly disconnected by now.
	return run.Errorf(run.Invalid, "the body ended early, or does not match its headers")
}

// jsonOnly refuses other content types, among them those that a web page may send without
// a preflight request, and compressed bodies, whose real size is unknown.
func jsonOnly(h http.Header) error {
	if coding := strings.Join(h.Values("Content-Encoding"), ", "); coding != "" && !strings.EqualFold(coding, "identity") {
		return withStatus(http.StatusUnsupportedMediaType, run.Invalid, "the body has the Content-Encoding %q: send it as it is", coding)
	}
	kind, parameters, err := mime.ParseMediaType(h.Get("Content-Type"))
	if charset := parameters["charset"]; err != nil || kind != jsonType || charset != "" && !strings.EqualFold(charset, "utf-8") {
		return withStatus(http.StatusUnsupportedMediaType, run.Invalid, "the body has the Content-Type %q: send application/json", h.Get("Content-Type"))
	}
	return nil
}
