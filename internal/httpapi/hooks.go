package httpapi

import (
	"context"
	"net/http"

	"github.com/cordon-sandbox/cordon/internal/jsonform"
	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/internal/openhooks"
	"github.com/cordon-sandbox/cordon/internal/service"
	"github.com/cordon-sandbox/cordon/run"
)

// openHook answers POST /v1/hooks.
func (a *api) openHook(w http.ResponseWriter, r *http.Request) error {
	var h run.HookSpec
	if err := a.parsed(r, &h); err != nil {
		return err
	}
	id, err := a.Service.OpenHook(r.Context(), who(r.Context()), h)
	if err != nil {
		return err
	}
	return a.created(w, r, id, Opened{id}, func() error { return a.Service.CloseHook(who(r.Context()), id) })
}

// callHook answers POST /v1/hooks/{id}/calls.
func (a *api) callHook(w http.ResponseWriter, r *http.Request) error {
	if _, err := choose(r, jsonType); err != nil {
		return err
	}
	body, done, err := a.readBody(r)
	if err != nil {
		return err
	}
	defer done()
	var call openhooks.HookCall
	if err := jsonform.ParseObject(body, &call); err != nil {
		return err
	}
	return a.answer(w, r, body, done, func(ctx context.Context) (service.Answer, error) {
		return a.Service.CallHook(ctx, who(ctx), observe.HTTP, r.PathValue("id"), call)
	})
}

// closeHook answers DELETE /v1/hooks/{id}.
func (a *api) closeHook(w http.ResponseWriter, r *http.Request) error {
	return noContent(w, a.Service.CloseHook(who(r.Context()), r.PathValue("id")))
}
