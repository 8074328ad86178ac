package httpapi

import (
	"context"
	"crypto/rand"
	"net/http"

	"github.com/cordon-sandbox/cordon/internal/jsonform"
	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/internal/service"
	"github.com/cordon-sandbox/cordon/run"
)

// RunInfo describes an asynchronous run.
type RunInfo struct {
	service.RunInfo
	Problem *Problem    `json:"problem,omitempty"`
	Result  *run.Result `json:"result,omitempty"`
}

func runInfo(info service.RunInfo) RunInfo {
	if info.Err == nil {
		return RunInfo{RunInfo: info}
	}
	p := problemOf(info.Err)
	return RunInfo{RunInfo: info, Problem: &p}
}

// start answers POST /v1/runs with Prefer: respond-async.
func (a *api) start(w http.ResponseWriter, r *http.Request, p preferences) error {
	kind, err := choose(r, jsonType, eventsType)
	if err != nil {
		return err
	}
	if kind == eventsType {
		return run.Errorf(run.Invalid, "a stream of events cannot be used with Prefer: respond-async: ask for application/json, or leave the preference out")
	}
	body, done, err := a.readBody(r)
	if err != nil {
		return err
	}
	started := false
	defer func() {
		if !started {
			done()
		}
	}()
	req, err := jsonform.ParseRequest(body)
	if err != nil {
		return err
	}
	known, err := a.byKey(w, r, respondAsync, body, func(ended func(error)) (given, error) {
		id := rand.Text()
		w.Header().Set(runIDHeader, id)
		info, err := a.Service.Start(service.Follow(r.Context(), id, nil), who(r.Context()), observe.HTTP, req, int64(len(body)), func(err error) {
			done()
			ended(err)
			if err != nil && problemOf(err).Class == run.Internal {
				a.Logger.Error("run failed", "run", id, "error", err)
			}
		})
		started = err == nil
		return given{runID: id, pending: &info}, err
	})
	if err != nil {
		return err
	}
	return a.accepted(w, r, *known.pending, p)
}

// accepted answers a request for an asynchronous run, with its Result if the client waits for it.
func (a *api) accepted(w http.ResponseWriter, r *http.Request, info service.RunInfo, p preferences) error {
	w.Header().Set(runIDHeader, info.ID)
	if p.wait > 0 {
		// If the Result cannot be sent now, or is lost, GET has the reason.
		if now, answer, err := a.await(r, info.ID, p); err == nil {
			defer answer.Sent()
			if info = now; info.State == service.RunDone && info.Err == nil {
				a.sendResult(w, r, nil, answer.Result, "")
				return nil
			}
		}
		if info.Err != nil {
			return info.Err
		}
	}
	w.Header().Set("Location", r.URL.Path+"/"+info.ID)
	w.Header().Set(appliedHeader, respondAsync)
	a.write(w, r, http.StatusAccepted, jsonType, runInfo(info))
	return nil
}

// await waits for a pending run as long as the client prefers.
func (a *api) await(r *http.Request, id string, p preferences) (service.RunInfo, service.Answer, error) {
	ctx, cancel := context.WithTimeout(r.Context(), p.wait)
	defer cancel()
	return a.Service.AwaitRun(ctx, who(ctx), id)
}

// runs answers GET /v1/runs.
func (a *api) runs(w http.ResponseWriter, r *http.Request) error {
	if _, err := choose(r, jsonType); err != nil {
		return err
	}
	list := RunList{Runs: []RunInfo{}}
	for _, info := range a.Service.PendingRuns(who(r.Context())) {
		list.Runs = append(list.Runs, runInfo(info))
	}
	a.write(w, r, http.StatusOK, jsonType, list)
	return nil
}

// describeRun answers GET /v1/runs/{id}.
func (a *api) describeRun(w http.ResponseWriter, r *http.Request) error {
	if _, err := choose(r, jsonType); err != nil {
		return err
	}
	info, answer, err := a.await(r, r.PathValue("id"), preferencesOf(r))
	if err != nil {
		return err
	}
	defer answer.Sent()
	if info.State != service.RunDone || info.Err != nil {
		a.write(w, r, http.StatusOK, jsonType, runInfo(info))
		return nil
	}
	head, err := encode(runInfo(info))
	if err != nil {
		return err
	}
	a.sendResult(w, r, append(head[:len(head)-len("}\n")], `,"result":`...), answer.Result, "}\n")
	return nil
}

// cancelRun answers DELETE /v1/runs/{id}.
func (a *api) cancelRun(w http.ResponseWriter, r *http.Request) error {
	return noContent(w, a.Service.CancelRun(who(r.Context()), r.PathValue("id")))
}
