package httpapi

import (
	"bufio"
	"errors"
	"net/http"
	"strconv"

	"github.com/cordon-sandbox/cordon/internal/jsonform"
	"github.com/cordon-sandbox/cordon/internal/plainjson"
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
	text, err := plainjson.Marshal(v)
	if err != nil {
		return nil, run.Wrap(run.Internal, err)
	}
	return append(text, '\n'), nil
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

// send gives a client an answer, as long as it takes it.
func (a *api) send(w http.ResponseWriter, status int, kind string, body []byte) {
	out := a.head(w, status, kind, int64(len(body)))
	if _, err := out.Write(body); err != nil {
		a.Logger.Debug("an answer was not taken", "error", err)
	}
}

// sendResult is send for what can be large: it is encoded while it is sent.
func (a *api) sendResult(w http.ResponseWriter, r *http.Request, result run.Result) {
	var size counter
	if err := jsonform.Encode(&size, result); err != nil {
		a.fail(w, r, run.Wrap(run.Internal, err))
		return
	}
	out := bufio.NewWriterSize(a.head(w, http.StatusOK, jsonType, int64(size)), pieceSize)
	if err := errors.Join(jsonform.Encode(out, result), out.Flush()); err != nil {
		a.Logger.Debug("an answer was not taken", "error", err)
	}
}

// head begins an answer of a size.
func (a *api) head(w http.ResponseWriter, status int, kind string, size int64) *paced {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
	out := a.pace(w, size)
	out.WriteHeader(status)
	return out
}

// counter counts what is written.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
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
