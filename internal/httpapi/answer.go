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

// encode does not escape <, > and &, which are frequent in Results. It need not: the
// answer's type is JSON with nosniff, so that no browser shows it as a page.
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

// send writes an answer, and gives up if the client stops reading.
func (a *api) send(w http.ResponseWriter, status int, kind string, body []byte) {
	out := a.head(w, status, kind, int64(len(body)))
	if _, err := out.Write(body); err != nil {
		a.Logger.Debug("cannot send an answer", "error", err)
	}
}

// sendResult is send for a Result, which can be large: it encodes while it writes. before and
// after are what the answer has around it.
func (a *api) sendResult(w http.ResponseWriter, r *http.Request, before []byte, result run.Result, after string) {
	size := counter(len(before) + len(after))
	if err := jsonform.Encode(&size, result); err != nil {
		a.fail(w, r, run.Wrap(run.Internal, err))
		return
	}
	out := bufio.NewWriterSize(a.head(w, http.StatusOK, jsonType, int64(size)), pieceSize)
	_, err := out.Write(before)
	err = errors.Join(err, jsonform.Encode(out, result))
	_, ended := out.WriteString(after)
	if err := errors.Join(err, ended, out.Flush()); err != nil {
		a.Logger.Debug("cannot send an answer", "error", err)
	}
}

// head writes the header of an answer of this size.
func (a *api) head(w http.ResponseWriter, status int, kind string, size int64) *paced {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
	out := a.pace(w, size)
	out.WriteHeader(status)
	return out
}

// counter counts the bytes written to it.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// noContent answers that something is done, unless it failed.
func noContent(w http.ResponseWriter, err error) error {
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}

// constant returns a handler that always writes the same body.
func (a *api) constant(kind string, body []byte) handler {
	return func(w http.ResponseWriter, _ *http.Request) error {
		if kind != jsonType {
			w.Header().Set("Content-Security-Policy", pagePolicy)
		}
		a.send(w, http.StatusOK, kind, body)
		return nil
	}
}
