package httpapi

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/jsonform"
	"github.com/cordon-sandbox/cordon/internal/openhooks"
	"github.com/cordon-sandbox/cordon/internal/service"
	"github.com/cordon-sandbox/cordon/run"
)

// access says which callers an endpoint answers.
type access int

const (
	forCallers    access = iota // callers with a token, or on this machine where there are no tokens
	forNeighbours               // everybody, except other websites where there are no tokens
	forAnybody                  // everybody
)

// endpoint is one row of the table of endpoints. Routes, the OpenAPI document, the page
// for people, the help of cordon serve and the table in docs/http.md are made from it.
type endpoint struct {
	method, path string
	name         string // in clients generated from the document
	access       access
	summary      string
	words        string
	serve        func(a *api) handler

	body   reflect.Type // of the request, nil for none
	raw    bool         // the request is the content of a file
	answer reflect.Type // nil for none, or if it is not JSON
	status int
	kind   string // of the answer, if it is not JSON
	keys   bool   // takes an Idempotency-Key
	events bool   // can be a stream
	async  bool   // runs asynchronously if that is preferred
	waits  string // takes a preference to wait, with this meaning
	wrong  []int  // statuses of its problems, in addition to those of all endpoints
}

// Findings is the answer to a check.
type Findings struct {
	Findings []run.Finding `json:"findings"`
}

// Opened is the answer to a request that opens a hook.
type Opened struct {
	ID string `json:"id"`
}

// RunList has the asynchronous runs of a caller.
type RunList struct {
	Runs []RunInfo `json:"runs"`
}

// OpenedSession is the answer to a request that opens a session.
type OpenedSession struct {
	ID string `json:"session"`
}

// SessionList is what a caller has open.
type SessionList struct {
	Sessions []service.SessionInfo `json:"sessions"`
}

// VariableList is the variables of a session.
type VariableList struct {
	Variables []run.Variable `json:"variables"`
	Omitted   int            `json:"omitted,omitempty"`
}

// FileList is what is in /work of a session.
type FileList struct {
	Files []run.FileInfo `json:"files"`
}

// Health is the answer of a healthy service.
type Health struct {
	Status string `json:"status"`
}

// The statuses of problems with bodies and ids, and of those that the service reports.
var (
	wrongBodies = []int{http.StatusBadRequest, http.StatusNotAcceptable, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType}
	wrongIDs    = []int{http.StatusNotFound, http.StatusGone} // of runs and sessions
	wrongFiles  = []int{http.StatusBadRequest, http.StatusInternalServerError, http.StatusNotImplemented}
	wrongTurns  = []int{http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusNotImplemented, http.StatusServiceUnavailable}
)

// endpoints are all endpoints of the HTTP frontend.
var endpoints = []endpoint{
	{
		method: http.MethodPost, path: "/v1/runs", name: "run", summary: "Run a script or a command",
		words: "The answer is the Result of the guest, also of one that failed: then its status is \"error\", and the HTTP status is 200 all the same. " +
			"With Accept: text/event-stream, the answer is a stream of events while it runs: started, stdout, stderr, progress (each second), and result or error as the last one. " +
			"A client that goes away ends its run. " +
			"With Prefer: respond-async, the answer is 202 as soon as the run has its turn or waits for it, and the run goes on without its client: /v1/runs/{id} has its Result.",
		serve: func(a *api) handler { return a.run },
		body:  reflect.TypeFor[jsonform.Request](), answer: reflect.TypeFor[run.Result](), status: http.StatusOK,
		keys: true, events: true, async: true, wrong: slices.Concat(wrongTurns, wrongBodies),
	},
	{
		method: http.MethodGet, path: "/v1/runs", name: "runs", summary: "List the asynchronous runs",
		words:  "Those of the caller that were started with Prefer: respond-async and are not forgotten, the oldest first, without their Results.",
		serve:  func(a *api) handler { return a.runs },
		answer: reflect.TypeFor[RunList](), status: http.StatusOK,
		wrong: []int{http.StatusNotAcceptable},
	},
	{
		method: http.MethodGet, path: "/v1/runs/{id}", name: "describeRun", summary: "Describe an asynchronous run",
		words: "A run that is done has its Result, or a problem if cordon failed, for 10 minutes. After that, it is answered with 410 and the reason.",
		serve: func(a *api) handler { return a.describeRun }, waits: "wait=10 waits up to 10 seconds, at most 60, until the run is done",
		answer: reflect.TypeFor[RunInfo](), status: http.StatusOK,
		wrong: slices.Concat(wrongIDs, []int{http.StatusNotAcceptable, http.StatusTooManyRequests}),
	},
	{
		method: http.MethodDelete, path: "/v1/runs/{id}", name: "cancelRun", summary: "Cancel an asynchronous run, or forget it",
		words: "A run that is queued or running is canceled: it is soon done, and its Result has the outcome canceled. A run that is done is forgotten.",
		serve: func(a *api) handler { return a.cancelRun }, status: http.StatusNoContent,
		wrong: wrongIDs,
	},
	{
		method: http.MethodPost, path: "/v1/checks", name: "check", summary: "Judge a script by the language rules",
		words: "Nothing is run. A script without findings may run restricted.",
		serve: func(a *api) handler { return a.check },
		body:  reflect.TypeFor[run.Check](), answer: reflect.TypeFor[Findings](), status: http.StatusOK,
		wrong: slices.Concat(wrongTurns, wrongBodies),
	},
	{
		method: http.MethodPost, path: "/v1/hooks", name: "openHook", summary: "Open a hook",
		words: "The script is compiled once and can be called many times, by its id, by the caller that opened it. A script that the language rules refuse is answered with 422 and its findings. A hook that is not called for 10 minutes is closed, and all are when the service ends.",
		serve: func(a *api) handler { return a.openHook },
		body:  reflect.TypeFor[run.HookSpec](), answer: reflect.TypeFor[Opened](), status: http.StatusCreated,
		wrong: slices.Concat(wrongTurns, wrongBodies, []int{http.StatusUnprocessableEntity}),
	},
	{
		method: http.MethodPost, path: "/v1/hooks/{id}/calls", name: "callHook", summary: "Call a hook",
		words: "Either with game_state and mod_config, or a function that the hook's script defines, with its arguments.",
		serve: func(a *api) handler { return a.callHook },
		body:  reflect.TypeFor[openhooks.HookCall](), answer: reflect.TypeFor[run.Result](), status: http.StatusOK,
		keys: true, wrong: slices.Concat(wrongTurns, wrongBodies, []int{http.StatusNotFound}),
	},
	{
		method: http.MethodDelete, path: "/v1/hooks/{id}", name: "closeHook", summary: "Close a hook",
		words: "Calls that are under way come to their end first.",
		serve: func(a *api) handler { return a.closeHook }, status: http.StatusNoContent,
		wrong: []int{http.StatusNotFound, http.StatusInternalServerError, http.StatusServiceUnavailable},
	},
	{
		method: http.MethodPost, path: "/v1/sessions", name: "openSession", summary: "Open a session",
		words: "A session is a live Python that runs one step after another and keeps their globals. Only the caller that opened it can use it. " +
			"A session without a step for 30 minutes is closed, and all are when the service ends.",
		serve: func(a *api) handler { return a.openSession },
		body:  reflect.TypeFor[run.SessionOptions](), answer: reflect.TypeFor[OpenedSession](), status: http.StatusCreated,
		wrong: slices.Concat(wrongTurns, wrongBodies),
	},
	{
		method: http.MethodGet, path: "/v1/sessions", name: "sessions", summary: "List the open sessions",
		words:  "Those of the caller, the oldest first.",
		serve:  func(a *api) handler { return a.sessions },
		answer: reflect.TypeFor[SessionList](), status: http.StatusOK,
		wrong: []int{http.StatusNotAcceptable},
	},
	{
		method: http.MethodGet, path: "/v1/sessions/{id}", name: "session", summary: "Describe an open session",
		words:  "This is no use of the session, which stays idle. A session that has ended is answered with 410 and the reason.",
		serve:  func(a *api) handler { return a.session },
		answer: reflect.TypeFor[service.SessionInfo](), status: http.StatusOK,
		wrong: slices.Concat(wrongIDs, []int{http.StatusNotAcceptable}),
	},
	{
		method: http.MethodPost, path: "/v1/sessions/{id}/steps", name: "step", summary: "Run a step of a session",
		words: "A step is a script. The answer is its Result, as for a run, with a step: its number, what it displayed, and whether the session survived it. " +
			"Steps of one session run one after another. A step that reaches a time limit, is interrupted, or loses its client gets a KeyboardInterrupt, and the session goes on if the step then ends. " +
			"With Accept: text/event-stream, the answer is a stream of events, as for a run.",
		serve: func(a *api) handler { return a.step },
		body:  reflect.TypeFor[jsonform.Request](), answer: reflect.TypeFor[run.Result](), status: http.StatusOK,
		keys: true, events: true, wrong: slices.Concat(wrongTurns, wrongBodies, wrongIDs),
	},
	{
		method: http.MethodPost, path: "/v1/sessions/{id}/interrupt", name: "interrupt", summary: "Interrupt the running step of a session",
		words: "The request needs no body. If no step runs, nothing happens.",
		serve: func(a *api) handler { return a.interrupt }, status: http.StatusNoContent,
		wrong: wrongIDs,
	},
	{
		method: http.MethodGet, path: "/v1/sessions/{id}/variables", name: "variables", summary: "List the variables of a session",
		words:  "Its global variables by name, at most 1,000, without those that begin with an underscore. The request waits for a running step.",
		serve:  func(a *api) handler { return a.variables },
		answer: reflect.TypeFor[VariableList](), status: http.StatusOK,
		wrong: slices.Concat(wrongIDs, wrongTurns, []int{http.StatusBadRequest, http.StatusNotAcceptable}),
	},
	{
		method: http.MethodGet, path: "/v1/sessions/{id}/files", name: "files", summary: "List the files of a session",
		words:  "Everything in /work that is not a directory, by name. A session with more than 10,000 names cannot be listed.",
		serve:  func(a *api) handler { return a.files },
		answer: reflect.TypeFor[FileList](), status: http.StatusOK,
		wrong: slices.Concat(wrongIDs, wrongFiles, []int{http.StatusNotAcceptable}),
	},
	{
		method: http.MethodGet, path: "/v1/sessions/{id}/files/{name...}", name: "download", summary: "Download a file of a session",
		words: "The name is the path below /work. A Range gives a part of it. The content is the session's word: treat it as you treat a file from a stranger.",
		serve: func(a *api) handler { return a.download }, kind: "*/*", status: http.StatusOK,
		wrong: slices.Concat(wrongIDs, wrongFiles, []int{http.StatusRequestedRangeNotSatisfiable}),
	},
	{
		method: http.MethodPut, path: "/v1/sessions/{id}/files/{name...}", name: "upload", summary: "Upload a file to a session",
		words: "The body is the content, of any type. The file appears under its name when it is complete, and replaces another one of that name. Steps find it in /work, where they start.",
		serve: func(a *api) handler { return a.upload }, raw: true, answer: reflect.TypeFor[run.FileInfo](), status: http.StatusCreated,
		wrong: slices.Concat(wrongIDs, wrongFiles, []int{http.StatusRequestTimeout, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType}),
	},
	{
		method: http.MethodDelete, path: "/v1/sessions/{id}/files/{name...}", name: "removeFile", summary: "Remove a file of a session",
		words: "A directory is removed with everything in it.",
		serve: func(a *api) handler { return a.removeFile }, status: http.StatusNoContent,
		wrong: slices.Concat(wrongIDs, wrongFiles),
	},
	{
		method: http.MethodDelete, path: "/v1/sessions/{id}", name: "closeSession", summary: "Close a session",
		words: "A running step is interrupted first.",
		serve: func(a *api) handler { return a.closeSession }, status: http.StatusNoContent,
		wrong: slices.Concat(wrongIDs, []int{http.StatusInternalServerError, http.StatusServiceUnavailable}),
	},
	{
		method: http.MethodGet, path: "/v1/info", name: "info", summary: "What is allowed here",
		words:  "Tiers, limits, imports and hosts that the caller may use.",
		serve:  func(a *api) handler { return a.info },
		answer: reflect.TypeFor[service.Info](), status: http.StatusOK,
		wrong: []int{http.StatusNotAcceptable},
	},
	{
		method: http.MethodGet, path: "/healthz", name: "alive", access: forAnybody, summary: "Is the service alive?",
		serve: func(a *api) handler { return a.alive }, answer: reflect.TypeFor[Health](), status: http.StatusOK,
	},
	{
		method: http.MethodGet, path: "/readyz", name: "ready", access: forAnybody, summary: "Does the service take requests?",
		words: "503 while it ends, and while it may run nothing.",
		serve: func(a *api) handler { return a.ready }, answer: reflect.TypeFor[Health](), status: http.StatusOK,
		wrong: []int{http.StatusServiceUnavailable, http.StatusInternalServerError},
	},
	{
		method: http.MethodGet, path: "/metrics", name: "metrics", summary: "Metrics for Prometheus",
		serve: func(a *api) handler { return a.metrics }, kind: "text/plain", status: http.StatusOK,
		wrong: []int{http.StatusNotFound},
	},
	{
		method: http.MethodGet, path: "/openapi.json", name: "openapi", access: forNeighbours, summary: "The OpenAPI document, for programs",
		serve: func(a *api) handler { return a.constant(jsonType, a.document) }, answer: reflect.TypeFor[map[string]any](), status: http.StatusOK,
	},
	{
		method: http.MethodGet, path: "/docs", name: "docs", access: forNeighbours, summary: "The endpoints, for people",
		serve: func(a *api) handler { return a.constant("text/html; charset=utf-8", a.page) }, kind: "text/html", status: http.StatusOK,
	},
}

// Listing shows each endpoint on a line, for help texts.
func Listing() string {
	width := 0
	for _, e := range endpoints {
		width = max(width, len(e.documented()))
	}
	var b strings.Builder
	for _, e := range endpoints {
		fmt.Fprintf(&b, "  %-6s %-*s  %s\n", e.method, width, e.documented(), e.summary)
	}
	return b.String()
}
