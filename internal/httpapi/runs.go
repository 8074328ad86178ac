package httpapi

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"

	"github.com/cordon-sandbox/cordon/internal/jsonform"
	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/internal/service"
	"github.com/cordon-sandbox/cordon/run"
)

// run answers POST /v1/runs.
func (a *api) run(w http.ResponseWriter, r *http.Request) error {
	if p := preferencesOf(r); p.async {
		return a.start(w, r, p)
	}
	return a.runBody(w, r, func(ctx context.Context, req run.Request) (service.Answer, error) {
		return a.Service.Run(ctx, who(ctx), observe.HTTP, req)
	})
}

// runBody runs the request in a body with do, and answers with the Result or with events.
func (a *api) runBody(w http.ResponseWriter, r *http.Request, do func(context.Context, run.Request) (service.Answer, error)) error {
	kind, err := choose(r, jsonType, eventsType)
	if err != nil {
		return err
	}
	if kind == eventsType && hasKey(r) {
		return run.Errorf(run.Invalid, "an Idempotency-Key cannot be used with a stream of events: ask for application/json")
	}
	body, done, err := a.readBody(r)
	if err != nil {
		return err
	}
	defer done()
	req, err := jsonform.ParseRequest(body)
	if err != nil {
		return err
	}
	if kind == eventsType {
		return a.stream(w, r, req, done, do)
	}
	return a.answer(w, r, body, done, func(ctx context.Context) (service.Answer, error) {
		return do(ctx, req)
	})
}

// answer sends the Result of a run, or that of an earlier run with the same key. It calls
// done, which releases the body, before it sends.
func (a *api) answer(w http.ResponseWriter, r *http.Request, body []byte, done func(), do func(context.Context) (service.Answer, error)) error {
	once := func(func(error)) (given, error) {
		id := rand.Text()
		w.Header().Set(runIDHeader, id)
		answer, err := do(service.Follow(r.Context(), id, nil))
		// Do not keep a canceled run: the next request with this key runs.
		return given{Answer: answer, runID: id, discard: answer.Outcome == run.Canceled}, err
	}
	given, err := a.byKey(w, r, "", body, once)
	if err != nil {
		return err
	}
	done()
	defer given.Sent()
	w.Header().Set(runIDHeader, given.runID)
	a.sendResult(w, r, nil, given.Result, "")
	return nil
}

// parsed reads the body of an endpoint that answers only with JSON and takes no key.
func (a *api) parsed(r *http.Request, into any) error {
	if _, err := choose(r, jsonType); err != nil {
		return err
	}
	if hasKey(r) {
		return run.Errorf(run.Invalid, "an Idempotency-Key is only for runs, steps and calls of hooks: leave it out here")
	}
	body, done, err := a.readBody(r)
	if err != nil {
		return err
	}
	defer done()
	return jsonform.ParseObject(body, into)
}

// created answers a request that opened something. If the client has disconnected, created
// closes it instead: the client would not learn the id and could not close it.
func (a *api) created(w http.ResponseWriter, r *http.Request, id string, body any, closeIt func() error) error {
	if gone := r.Context().Err(); gone != nil {
		return errors.Join(gone, closeIt())
	}
	w.Header().Set("Location", r.URL.Path+"/"+id)
	a.write(w, r, http.StatusCreated, jsonType, body)
	return nil
}

// check answers POST /v1/checks.
func (a *api) check(w http.ResponseWriter, r *http.Request) error {
	var c run.Check
	if err := a.parsed(r, &c); err != nil {
		return err
	}
	found, err := a.Service.Check(r.Context(), who(r.Context()), c)
	if err != nil {
		return err
	}
	a.write(w, r, http.StatusOK, jsonType, Findings{append([]run.Finding{}, found...)})
	return nil
}

// info answers GET /v1/info.
func (a *api) info(w http.ResponseWriter, r *http.Request) error {
	if _, err := choose(r, jsonType); err != nil {
		return err
	}
	a.write(w, r, http.StatusOK, jsonType, a.Service.Info(who(r.Context())))
	return nil
}

// alive answers GET /healthz. A service that can answer is alive.
func (a *api) alive(w http.ResponseWriter, r *http.Request) error {
	a.write(w, r, http.StatusOK, jsonType, Health{"alive"})
	return nil
}

// ready answers GET /readyz.
func (a *api) ready(w http.ResponseWriter, r *http.Request) error {
	if err := a.Service.Ready(); err != nil {
		return &statusError{err, http.StatusServiceUnavailable}
	}
	a.write(w, r, http.StatusOK, jsonType, Health{"ready"})
	return nil
}

// metrics answers GET /metrics.
func (a *api) metrics(w http.ResponseWriter, r *http.Request) error {
	if a.Metrics == nil {
		return run.Errorf(run.Unknown, "there are no metrics here")
	}
	a.Metrics.ServeHTTP(a.pace(w, -1), r)
	return nil
}
