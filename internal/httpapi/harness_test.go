package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"go.uber.org/goleak"

	"github.com/cordon-sandbox/cordon/internal/admission"
	"github.com/cordon-sandbox/cordon/internal/service"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// fake is a Runner whose run and check are functions of a test. Like a Runner, it validates
// a request and waits for its turn.
type fake struct {
	line  *admission.Line // nil: open makes a large one
	run   func(ctx context.Context, req run.Request) (run.Result, error)
	check func(ctx context.Context, c run.Check) ([]run.Finding, error)
}

func (f *fake) Run(ctx context.Context, req run.Request) (run.Result, error) {
	if err := req.Validate(); err != nil {
		return run.Result{}, err
	}
	turn, err := f.line.Enter(ctx, nil)
	if err != nil {
		return run.Result{}, err
	}
	defer turn.Leave()
	return f.run(ctx, req)
}

func (f *fake) Check(ctx context.Context, c run.Check) ([]run.Finding, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	turn, err := f.line.Enter(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer turn.Leave()
	return f.check(ctx, c)
}

func (f *fake) Tiers() []policy.Tier { return []policy.Tier{policy.TierProcess} }

func (f *fake) Enforcement() run.Enforcement { return run.Enforcement{Tier: policy.TierProcess} }

// good returns the Result of a guest that succeeded.
func good(value string) run.Result {
	return run.Result{
		Status: run.StatusOK, Outcome: run.Succeeded, Value: json.RawMessage(value), ExitCode: new(0),
		Enforcement: run.Enforcement{Tier: policy.TierProcess},
	}
}

// canceled returns the Result of a guest that was canceled.
func canceled() run.Result {
	return run.Result{
		Status: run.StatusError, Outcome: run.Canceled, ErrorType: run.Canceled.ErrorType(),
		Enforcement: run.Enforcement{Tier: policy.TierProcess},
	}
}

// echo returns the script as the value of the Result.
func echo(_ context.Context, req run.Request) (run.Result, error) {
	text, err := json.Marshal(req.Script.Source)
	result := good(string(text))
	result.ID = req.ID
	return result, err
}

// frontend is a server under test.
type frontend struct {
	t       testing.TB
	api     *api
	at      string // host and port
	service *service.Service
	server  *http.Server
	client  *http.Client
	spec    *openapi3.T
	log     *lines
}

// lines is a log that is safe for concurrent use.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// open starts a server. change, if not nil, may change its options.
func open(t testing.TB, runner service.Runner, change func(*service.Options, *Options)) *frontend {
	t.Helper()
	if f, ours := runner.(*fake); ours {
		watchLeaks(t)
		if f.line == nil {
			f.line = admission.NewLine(admission.Options{Concurrent: 64, Queue: 64})
		}
	}
	so := service.Options{Runner: runner, Version: "test"}
	log := new(lines)
	o := Options{Version: "test", Logger: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	if change != nil {
		change(&so, &o)
	}
	if o.Service == nil {
		o.Service = service.New(so)
	}
	a, h, err := build(o)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := &frontend{t: t, api: a, at: listener.Addr().String(), service: o.Service, server: NewServer(h, o.Logger), spec: specification(t), log: log}
	d.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1000}, Timeout: time.Minute}
	if o.BodyTimeout > 0 {
		d.server.ReadHeaderTimeout = o.BodyTimeout // tests of slow bodies also test slow headers
	}
	wait := serve(t, d.server, listener)
	t.Cleanup(func() {
		d.client.CloseIdleConnections()
		if err := d.service.Close(); err != nil {
			t.Error(err)
		}
		if err := d.server.Close(); err != nil {
			t.Error(err)
		}
		wait()
	})
	return d
}

// serve starts a server. The function that it returns waits until the test has closed it.
func serve(t testing.TB, server *http.Server, l net.Listener) (wait func()) {
	var served sync.WaitGroup
	served.Go(func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return served.Wait
}

// watchLeaks reports goroutines that are still there after all later cleanups.
func watchLeaks(t testing.TB) {
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() {
		err := goleak.Find(before)
		for range 10 { // a connection that the server ends early stays open for half a second
			if err == nil {
				return
			}
			err = goleak.Find(before)
		}
		t.Error(err)
	})
}

// answer is an HTTP response.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// request returns a request. Headers have the form "Name: value".
func (d *frontend) request(method, path, body string, headers ...string) *http.Request {
	d.t.Helper()
	r, err := http.NewRequestWithContext(d.t.Context(), method, "http://"+d.at+path, strings.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if strings.EqualFold(name, "Host") {
			r.Host = value
			continue
		}
		r.Header.Set(name, value)
	}
	return r
}

// ask sends a request and validates the answer against the document.
func (d *frontend) ask(method, path, body string, headers ...string) answer {
	d.t.Helper()
	return d.do(d.request(method, path, body, headers...))
}

func (d *frontend) do(r *http.Request) answer {
	d.t.Helper()
	a := d.fetch(r)
	d.validate(r.Method, r.URL.Path, a)
	return a
}

// fetch is do without the validation, which takes longer than the request. It is for tests
// with many requests.
func (d *frontend) fetch(r *http.Request) answer {
	d.t.Helper()
	response, err := d.client.Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, body}
}

// validate checks that the document has such an answer, and that its headers are set.
func (d *frontend) validate(method, path string, a answer) {
	d.t.Helper()
	if a.header.Get("Cache-Control") != "no-store" || a.header.Get("X-Content-Type-Options") != "nosniff" {
		d.t.Errorf("%s %s: headers are missing: %v", method, path, a.header)
	}
	kind, _, _ := strings.Cut(a.header.Get("Content-Type"), ";")
	schema := d.spec.Components.Schemas["Problem"].Value
	if item := d.item(path); item != nil && item.GetOperation(method) != nil {
		declared := item.GetOperation(method).Responses.Value(strconv.Itoa(a.status))
		if declared == nil {
			d.t.Errorf("%s %s: the document has no status %d: %s", method, path, a.status, a.body)
			return
		}
		if len(declared.Value.Content) == 0 {
			if len(a.body) > 0 {
				d.t.Errorf("%s %s: %d has a body: %s", method, path, a.status, a.body)
			}
			return
		}
		media := declared.Value.Content[kind]
		if media == nil {
			d.t.Errorf("%s %s: the document has no %q for %d", method, path, kind, a.status)
			return
		}
		schema = media.Schema.Value
	}
	if a.status >= 400 && kind != "application/problem+json" {
		d.t.Errorf("%s %s: %d has the content type %q", method, path, a.status, kind)
	}
	if method == http.MethodHead || !strings.HasSuffix(kind, "json") {
		return
	}
	d.conforms(schema, a.body)
}

func (d *frontend) conforms(schema *openapi3.Schema, body []byte) {
	d.t.Helper()
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		d.t.Errorf("%v in %s", err, body)
		return
	}
	if err := schema.VisitJSON(value, openapi3.EnableJSONSchema2020(), openapi3.MultiErrors()); err != nil {
		d.t.Errorf("the answer is not as documented: %v: %s", err, body)
	}
}

// item returns the entry of a path in the document.
func (d *frontend) item(path string) *openapi3.PathItem {
	for template, item := range d.spec.Paths.Map() {
		want, got := strings.Split(template, "/"), strings.Split(path, "/")
		if last := len(want) - 1; want[last] == "{name}" && len(got) > last {
			got = got[:last+1] // the name of a file may have slashes
		}
		same := len(want) == len(got)
		for i := range want {
			same = same && (strings.HasPrefix(want[i], "{") || want[i] == got[i])
		}
		if same {
			return item
		}
	}
	return nil
}

// problem decodes a Problem.
func (d *frontend) problem(a answer) Problem {
	d.t.Helper()
	var p Problem
	if err := json.Unmarshal(a.body, &p); err != nil {
		d.t.Fatalf("%v in %s", err, a.body)
	}
	if p.Status != a.status || p.Type != "urn:cordon:error:"+string(p.Class) || p.Title == "" || p.Detail == "" {
		d.t.Errorf("%d: %+v", a.status, p)
	}
	return p
}

// result decodes a Result.
func (d *frontend) result(a answer) (result struct {
	ID      string          `json:"id"`
	Status  run.Status      `json:"status"`
	Outcome run.Outcome     `json:"outcome"`
	Value   json.RawMessage `json:"result"`
	Error   string          `json:"error"`
	Stdout  string          `json:"stdout"`
}) {
	d.t.Helper()
	if a.status != http.StatusOK {
		d.t.Fatalf("%d: %s", a.status, a.body)
	}
	if err := json.Unmarshal(a.body, &result); err != nil {
		d.t.Fatalf("%v in %s", err, a.body)
	}
	return result
}

var specification = func() func(t testing.TB) *openapi3.T {
	load := sync.OnceValues(func() (*openapi3.T, error) {
		text, err := encode(newDocument("test"))
		if err != nil {
			return nil, err
		}
		return openapi3.NewLoader().LoadFromData(text)
	})
	return func(t testing.TB) *openapi3.T {
		t.Helper()
		spec, err := load()
		if err != nil {
			t.Fatal(err)
		}
		return spec
	}
}()
