package httpapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/cordon-sandbox/cordon/run"
)

const (
	runIDHeader    = "Cordon-Run-Id"
	replayedHeader = "Idempotent-Replayed"
	jsonType       = "application/json"
	eventsType     = "text/event-stream"
)

// encode leaves <, > and & as they are, which Results have in plenty. No browser takes
// an answer for a page: its type is JSON, and nosniff.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, run.Wrap(run.Internal, err)
	}
	return b.Bytes(), nil
}

// write answers with JSON.
func (a *api) write(w http.ResponseWriter, r *http.Request, status int, kind string, v any) {
	body, err := encode(v)
	if err != nil {
		a.fail(w, r, err) // a Problem can be encoded
		return
	}
	a.send(w, status, kind, body)
}

// send gives a client its time to take an answer. The guest is gone by now, and its
// place is somebody else's.
func (a *api) send(w http.ResponseWriter, status int, kind string, body []byte) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	if err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(patience(a.WriteTimeout, len(body)))); err != nil {
		a.Logger.Warn("no deadline for an answer", "error", err)
	}
	w.WriteHeader(status)
	if _, err := w.Write(body); err != nil {
		a.Logger.Debug("an answer was not taken", "error", err)
	}
}

// slowest is how many bytes of a large answer a client must take in a second.
const slowest = 1 << 20

// patience is how long a client may take for an answer of a size.
func patience(least time.Duration, size int) time.Duration {
	return least + time.Duration(size/slowest)*time.Second
}

// constant answers with what never changes.
func (a *api) constant(kind string, body []byte) handler {
	return func(w http.ResponseWriter, _ *http.Request) error {
		if kind != jsonType {
			w.Header().Set("Content-Security-Policy", pagePolicy)
		}
		a.send(w, http.StatusOK, kind, body)
		return nil
	}
}
