package httpapi

import (
	"context"
	"net/http"

	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/internal/service"
	"github.com/cordon-sandbox/cordon/run"
)

// openSession answers POST /v1/sessions.
func (a *api) openSession(w http.ResponseWriter, r *http.Request) error {
	var o run.SessionOptions
	if err := a.parsed(r, &o); err != nil {
		return err
	}
	id, err := a.Service.OpenSession(r.Context(), who(r.Context()), o)
	if err != nil {
		return err
	}
	return a.created(w, r, id, OpenedSession{id}, func() error { return a.Service.CloseSession(who(r.Context()), id) })
}

// sessions answers GET /v1/sessions.
func (a *api) sessions(w http.ResponseWriter, r *http.Request) error {
	if _, err := choose(r, jsonType); err != nil {
		return err
	}
	a.write(w, r, http.StatusOK, jsonType, SessionList{append([]service.SessionInfo{}, a.Service.Sessions(who(r.Context()))...)})
	return nil
}

// session answers GET /v1/sessions/{id}.
func (a *api) session(w http.ResponseWriter, r *http.Request) error {
	if _, err := choose(r, jsonType); err != nil {
		return err
	}
	found, err := a.Service.Session(who(r.Context()), r.PathValue("id"))
	if err != nil {
		return err
	}
	a.write(w, r, http.StatusOK, jsonType, found)
	return nil
}

// step answers POST /v1/sessions/{id}/steps.
func (a *api) step(w http.ResponseWriter, r *http.Request) error {
	return a.runBody(w, r, func(ctx context.Context, req run.Request) (service.Answer, error) {
		return a.Service.Step(ctx, who(ctx), observe.HTTP, r.PathValue("id"), req)
	})
}

// variables answers GET /v1/sessions/{id}/variables.
func (a *api) variables(w http.ResponseWriter, r *http.Request) error {
	if _, err := choose(r, jsonType); err != nil {
		return err
	}
	list, omitted, err := a.Service.Variables(r.Context(), who(r.Context()), r.PathValue("id"))
	if err != nil {
		return err
	}
	a.write(w, r, http.StatusOK, jsonType, VariableList{append([]run.Variable{}, list...), omitted})
	return nil
}

// interrupt answers POST /v1/sessions/{id}/interrupt.
func (a *api) interrupt(w http.ResponseWriter, r *http.Request) error {
	return noContent(w, a.Service.Interrupt(who(r.Context()), r.PathValue("id")))
}

// closeSession answers DELETE /v1/sessions/{id}.
func (a *api) closeSession(w http.ResponseWriter, r *http.Request) error {
	return noContent(w, a.Service.CloseSession(who(r.Context()), r.PathValue("id")))
}
