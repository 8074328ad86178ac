package httpapi

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/cordon-sandbox/cordon/internal/admission"
	"github.com/cordon-sandbox/cordon/internal/jsonform"
	"github.com/cordon-sandbox/cordon/run"
)

// Problem is the body of every error answer (RFC 9457).
type Problem struct {
	Type   string    `json:"type"`
	Title  string    `json:"title"`
	Status int       `json:"status"`
	Detail string    `json:"detail"`
	Class  run.Class `json:"class"`
	// Field names the wrong field of the request, if it is one.
	Field string `json:"field,omitempty"`
	// Findings are why a hook was refused.
	Findings []run.Finding `json:"findings,omitempty"`
}

// titles has the title of each class.
var titles = map[run.Class]string{
	run.Invalid:       "The request is wrong",
	run.Forbidden:     "Not allowed",
	run.Unknown:       "No such thing",
	run.Gone:          "No longer there",
	run.Unsupported:   "Not possible on this host",
	run.NotExecutable: "Found, but cannot be run",
	run.NotFound:      "Not found on this host",
	run.Busy:          "Too much under way",
	run.Closed:        "The service is ending",
	run.Internal:      "The service failed",
}

// statuses has the HTTP status of each class.
var statuses = map[run.Class]int{
	run.Invalid: http.StatusBadRequest, run.Forbidden: http.StatusForbidden, run.Unknown: http.StatusNotFound, run.Gone: http.StatusGone,
	run.Unsupported: http.StatusNotImplemented, run.NotExecutable: http.StatusInternalServerError,
	run.NotFound: http.StatusInternalServerError, run.Busy: http.StatusTooManyRequests,
	run.Closed: http.StatusServiceUnavailable, run.Internal: http.StatusInternalServerError,
}

// statusError is an error with another status than that of its class.
type statusError struct {
	error
	status int
}

func (e *statusError) Unwrap() error { return e.error }

func withStatus(status int, class run.Class, format string, args ...any) error {
	return &statusError{run.Errorf(class, format, args...), status}
}

// problemOf describes an error to the caller. The text of internal errors is only logged,
// because it may name files of this machine.
func problemOf(err error) Problem {
	class, detail := run.Internal, "an internal error, not caused by the request: the log of the service has the details"
	var ours *run.Error
	switch {
	case errors.As(err, &ours):
		if class = ours.Class; class != run.Internal {
			detail = ours.Message
		}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		class, detail = run.Closed, "the service ended before the request did: try again, perhaps elsewhere"
	}
	p := Problem{Type: "urn:cordon:error:" + string(class), Title: titles[class], Status: statuses[class], Detail: detail, Class: class}
	if class == run.Invalid {
		p.Field = jsonform.FieldOf(err)
	}
	var refusal *run.Refusal
	if errors.As(err, &refusal) {
		p.Status, p.Findings = http.StatusUnprocessableEntity, refusal.Findings
	}
	var special *statusError
	if errors.As(err, &special) {
		p.Status = special.status
	}
	return p
}

// retryAfter is the Retry-After header, in whole seconds.
func retryAfter(err error) string {
	wait := time.Second
	var busy *admission.Busy
	if errors.As(err, &busy) {
		wait = max(wait, busy.RetryAfter)
	}
	return strconv.Itoa(int(math.Ceil(wait.Seconds())))
}

// fail answers with a problem.
func (a *api) fail(w http.ResponseWriter, r *http.Request, err error) {
	p := problemOf(err)
	header := w.Header()
	switch p.Status {
	case http.StatusUnauthorized:
		header.Set("WWW-Authenticate", `Bearer realm="cordon"`)
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		header.Set("Retry-After", retryAfter(err))
	case http.StatusRequestTimeout, http.StatusRequestEntityTooLarge:
		header.Set("Connection", "close") // do not wait for the rest of the body
	}
	// A request with an id was a run, and was reported to the observers.
	if a.Refused != nil && header.Get(runIDHeader) == "" {
		a.Refused(p.Class)
	}
	if p.Status >= 500 && p.Class != run.Closed && r.Context().Err() == nil {
		a.Logger.Error("request failed", "method", r.Method, "path", r.URL.Path, "run", header.Get(runIDHeader), "error", err)
	}
	if p.Status == http.StatusRequestEntityTooLarge {
		defer a.linger(w, r)()
	}
	a.write(w, r, p.Status, "application/problem+json", p)
}

// lingering is how long the rest of a refused body is read.
const lingering = 2 * time.Second

// linger reads more of the body after the answer. Closing a connection while the client
// sends resets it, and the client loses the answer.
func (a *api) linger(w http.ResponseWriter, r *http.Request) (after func()) {
	control := http.NewResponseController(w)
	if err := control.EnableFullDuplex(); err != nil {
		return func() {} // HTTP/2, which can end a request without the connection
	}
	return func() {
		if control.Flush() != nil || control.SetReadDeadline(time.Now().Add(lingering)) != nil {
			return
		}
		_, _ = io.Copy(io.Discard, r.Body) // up to its size limit or its deadline
	}
}
