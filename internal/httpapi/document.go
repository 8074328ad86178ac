package httpapi

import (
	"net/http"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cordon-sandbox/cordon/run"
)

const schemaPrefix = "#/components/schemas/"

// namePart ends the path of an endpoint about one file, whose name may have slashes.
const namePart = "{name...}"

// newDocument describes the endpoints, with the schemas of their requests and answers.
func newDocument(version string) *huma.OpenAPI {
	schemas := huma.NewMapRegistry(schemaPrefix, huma.DefaultSchemaNamer)
	document := &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title: "cordon", Version: version,
			Description: "Runs code that you do not trust, and says in plain words what was blocked and why.",
			License:     &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"},
		},
		Components: &huma.Components{
			Schemas: schemas,
			SecuritySchemes: map[string]*huma.SecurityScheme{
				"token": {Type: "http", Scheme: "bearer", Description: "A token of the operator's. A service on loopback or a Unix socket may have none."},
			},
		},
		// A service without tokens requires none.
		Security: []map[string][]string{{"token": {}}, {}},
		Servers:  []*huma.Server{{URL: "http://127.0.0.1:8734", Description: "the default address of cordon serve"}},
	}
	for _, e := range endpoints {
		document.AddOperation(e.operation(schemas))
	}
	completeSchemas(schemas)
	return document
}

// operation describes an endpoint.
func (e endpoint) operation(schemas huma.Registry) *huma.Operation {
	op := &huma.Operation{
		OperationID: e.name, Method: e.method, Path: e.documented(), Summary: e.summary, Description: e.words,
		Responses: map[string]*huma.Response{},
	}
	if e.access != forCallers {
		op.Security = []map[string][]string{{}}
	}
	if before, _, found := strings.Cut(e.path, "s/{id}"); found { // /v1/hooks/{id}
		op.Parameters = append(op.Parameters, &huma.Param{Name: "id", In: "path", Required: true, Description: "The id of a " + path.Base(before), Schema: &huma.Schema{Type: huma.TypeString}})
	}
	if e.keys {
		op.Parameters = append(op.Parameters, &huma.Param{
			Name: keyHeader, In: "header",
			Description: "The same key with the same body within 10 minutes gives the same Result, without a second run. Not for streams.",
			Schema:      &huma.Schema{Type: huma.TypeString, Pattern: "^[ -~]+$", MinLength: new(1), MaxLength: new(maxKey)},
		})
	}
	if e.async {
		op.Parameters = append(op.Parameters, preferParameter("respond-async answers with 202 as soon as the run is accepted. respond-async, wait=10 waits up to 10 seconds, at most 60, and answers as usual if the run is done by then."))
		op.Responses[strconv.Itoa(http.StatusAccepted)] = e.accepted(schemas)
	}
	if e.waits != "" {
		op.Parameters = append(op.Parameters, preferParameter(e.waits+"."))
	}
	if e.body != nil {
		op.RequestBody = &huma.RequestBody{Required: true, Content: content(schemas, jsonType, e.body)}
	}
	if e.raw {
		op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/octet-stream": {Schema: &huma.Schema{Type: huma.TypeString}}}}
	}
	if e.documented() != e.path {
		op.Parameters = append(op.Parameters, &huma.Param{Name: "name", In: "path", Required: true, Description: "The path of a file below /work", Schema: &huma.Schema{Type: huma.TypeString}})
	}
	op.Responses[strconv.Itoa(e.status)] = e.success(schemas)
	wrong := slices.Clone(e.wrong)
	if e.access != forAnybody {
		wrong = append(wrong, http.StatusForbidden)
	}
	if e.access == forCallers {
		wrong = append(wrong, http.StatusUnauthorized)
	}
	if e.keys {
		wrong = append(wrong, http.StatusUnprocessableEntity)
	}
	for _, status := range wrong {
		op.Responses[strconv.Itoa(status)] = problemResponse(schemas, status)
	}
	return op
}

func preferParameter(words string) *huma.Param {
	return &huma.Param{Name: preferHeader, In: "header", Description: words, Schema: &huma.Schema{Type: huma.TypeString}}
}

// documented is the path in the document, which has no form for a name with slashes.
func (e endpoint) documented() string { return strings.Replace(e.path, namePart, "{name}", 1) }

func (e endpoint) success(schemas huma.Registry) *huma.Response {
	r := &huma.Response{Description: e.summary, Headers: map[string]*huma.Param{}}
	switch {
	case e.answer != nil:
		r.Content = content(schemas, jsonType, e.answer)
	case e.kind != "":
		r.Content = map[string]*huma.MediaType{e.kind: {Schema: &huma.Schema{Type: huma.TypeString}}}
	}
	if e.answer == reflect.TypeFor[run.Result]() {
		r.Headers[runIDHeader] = header("The id of this run in the audit log")
	}
	if e.keys {
		r.Headers[replayedHeader] = header("\"true\" if the Result is that of an earlier request with the same key")
	}
	if e.events {
		r.Content[eventsType] = &huma.MediaType{Schema: eventsSchema(schemas)}
	}
	if e.status == http.StatusCreated && e.method == http.MethodPost {
		r.Headers["Location"] = header("Where the new one is")
	}
	return r
}

// accepted is the answer about an asynchronous run.
func (e endpoint) accepted(schemas huma.Registry) *huma.Response {
	r := e.success(schemas)
	r.Description, r.Content = "The run is accepted, and goes on without its client", content(schemas, jsonType, reflect.TypeFor[RunInfo]())
	r.Headers["Location"], r.Headers[appliedHeader] = header("Where the run is"), header(respondAsync)
	return r
}

func header(words string) *huma.Header {
	return &huma.Header{Description: words, Schema: &huma.Schema{Type: huma.TypeString}}
}

func content(schemas huma.Registry, kind string, of reflect.Type) map[string]*huma.MediaType {
	return map[string]*huma.MediaType{kind: {Schema: schemas.Schema(of, true, "")}}
}

func problemResponse(schemas huma.Registry, status int) *huma.Response {
	r := &huma.Response{
		Description: http.StatusText(status), Headers: map[string]*huma.Param{},
		Content: content(schemas, "application/problem+json", reflect.TypeFor[Problem]()),
	}
	switch status {
	case http.StatusUnauthorized:
		r.Headers["WWW-Authenticate"] = header("Bearer")
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		r.Headers["Retry-After"] = header("Seconds to wait before the next try")
	}
	return r
}

// eventsSchema describes a stream as the list of its events.
func eventsSchema(schemas huma.Registry) *huma.Schema {
	events := &huma.Schema{Type: huma.TypeArray, Description: "Each item is an event: its name and its data, which is JSON.", Items: &huma.Schema{}}
	for _, event := range []struct {
		name string
		data reflect.Type
	}{
		{eventStarted, reflect.TypeFor[Started]()},
		{eventStdout, reflect.TypeFor[string]()},
		{eventStderr, reflect.TypeFor[string]()},
		{eventProgress, reflect.TypeFor[Progress]()},
		{eventResult, reflect.TypeFor[run.Result]()},
		{eventError, reflect.TypeFor[Problem]()},
	} {
		events.Items.OneOf = append(events.Items.OneOf, &huma.Schema{
			Type: huma.TypeObject, Title: event.name, Required: []string{"event", "data"},
			Properties: map[string]*huma.Schema{
				"event": {Type: huma.TypeString, Enum: []any{event.name}},
				"data":  schemas.Schema(event.data, true, ""),
			},
		})
	}
	return events
}
