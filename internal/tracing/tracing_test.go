package tracing_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	pb "go.opentelemetry.io/proto/otlp/trace/v1"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/internal/service"
	"github.com/cordon-sandbox/cordon/internal/token"
	"github.com/cordon-sandbox/cordon/internal/tracing"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a collector.
type fake struct {
	*httptest.Server
	mu    sync.Mutex
	spans []*pb.Span
	about map[string]string // the resource
}

func newFake(t *testing.T) *fake {
	t.Helper()
	f := &fake{about: map[string]string{}}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := f.take(r); err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	t.Cleanup(f.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f.URL)
	return f
}

func (f *fake) take(r *http.Request) error {
	if r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" {
		return fmt.Errorf("%s with %s", r.URL, r.Header.Get("Content-Type"))
	}
	body, err := io.ReadAll(r.Body)
	if err == nil && r.Header.Get("Content-Encoding") == "gzip" {
		var unpacked *gzip.Reader
		if unpacked, err = gzip.NewReader(bytes.NewReader(body)); err == nil {
			body, err = io.ReadAll(unpacked)
		}
	}
	var told collector.ExportTraceServiceRequest
	if err := errors.Join(err, proto.Unmarshal(body, &told)); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, of := range told.GetResourceSpans() {
		for _, a := range of.GetResource().GetAttributes() {
			f.about[a.GetKey()] = a.GetValue().GetStringValue()
		}
		for _, scope := range of.GetScopeSpans() {
			f.spans = append(f.spans, scope.GetSpans()...)
		}
	}
	return nil
}

// byName returns the spans by name, which must be unique.
func (f *fake) byName(t *testing.T) map[string]*pb.Span {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	all := map[string]*pb.Span{}
	for _, s := range f.spans {
		if all[s.GetName()] != nil {
			t.Errorf("two spans are named %s", s.GetName())
		}
		all[s.GetName()] = s
	}
	return all
}

func start(t *testing.T) *tracing.Tracer {
	t.Helper()
	tracer, err := tracing.Start(t.Context(), tracing.Options{Version: "1.2.3", Failed: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	if tracer == nil {
		t.Fatal("tracing is off")
	}
	return tracer
}

func flush(t *testing.T, tracer *tracing.Tracer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 5*time.Minute)
	defer cancel()
	if err := tracer.Close(ctx); err != nil {
		t.Error(err)
	}
}

// runner reports its stages as a Runner does.
type runner struct {
	result run.Result
	err    error
}

func (r runner) Run(ctx context.Context, _ run.Request) (run.Result, error) {
	_, end := observe.Begin(ctx, observe.Queue)
	end(nil)
	_, end = observe.Begin(ctx, observe.Lease)
	end(nil)
	_, end = observe.Begin(ctx, observe.Guest)
	end(r.err)
	return r.result, r.err
}
func (runner) Check(context.Context, run.Check) ([]run.Finding, error) { return nil, nil }
func (runner) Tiers() []policy.Tier                                    { return nil }
func (runner) Enforcement() run.Enforcement                            { return run.Enforcement{} }

func serve(r runner, tracer *tracing.Tracer) *service.Service {
	return service.New(service.Options{
		Runner: r,
		Tracer: tracer, Observers: []observe.Observer{tracer},
	})
}

func attributesOf(s *pb.Span) map[string]string {
	all := map[string]string{}
	for _, a := range s.GetAttributes() {
		all[a.GetKey()] = a.GetValue().GetStringValue()
	}
	return all
}

const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

func TestRequestIsATraceOfItsStages(t *testing.T) {
	f := newFake(t)
	tracer := start(t)
	s := serve(runner{result: run.Result{Outcome: run.TimedOut, Enforcement: run.Enforcement{Tier: policy.TierProcess}}}, tracer)
	ctx := tracing.FromHeader(t.Context(), http.Header{"Traceparent": {parent}})
	if _, err := s.Run(ctx, token.Caller{Name: "ci"}, observe.HTTP, run.Request{Script: run.Script{Source: "secret = 1"}}); err != nil {
		t.Fatal(err)
	}
	flush(t, tracer)

	spans := f.byName(t)
	request := spans["request"]
	if len(spans) != 4 || request == nil {
		t.Fatalf("%d spans, not 4: %v", len(spans), spans)
	}
	if got := fmt.Sprintf("%x %x", request.GetTraceId(), request.GetParentSpanId()); got != "4bf92f3577b34da6a3ce929d0e0e4736 00f067aa0ba902b7" {
		t.Errorf("the request is not the caller's: %s", got)
	}
	var before uint64
	for _, name := range []string{"queue", "lease", "guest"} {
		stage := spans[name]
		switch {
		case stage == nil:
			t.Fatalf("no span %s", name)
		case !bytes.Equal(stage.GetParentSpanId(), request.GetSpanId()) || !bytes.Equal(stage.GetTraceId(), request.GetTraceId()):
			t.Errorf("%s is not a part of the request", name)
		case stage.GetStartTimeUnixNano() < max(before, request.GetStartTimeUnixNano()), stage.GetEndTimeUnixNano() < stage.GetStartTimeUnixNano(),
			stage.GetEndTimeUnixNano() > request.GetEndTimeUnixNano():
			t.Errorf("%s lies outside of its time", name)
		}
		before = stage.GetEndTimeUnixNano()
	}
	got := attributesOf(request)
	for name, want := range map[string]string{
		"cordon.tier": "process", "cordon.outcome": "timed_out", "cordon.frontend": "http", "cordon.kind": "script", "cordon.caller": "ci", "error.type": "timeout",
	} {
		if got[name] != want {
			t.Errorf("%s is %q, not %q", name, got[name], want)
		}
	}
	if len(got["cordon.run"]) < 10 || len(got) != 7 {
		t.Errorf("attributes %v", got)
	}
	if request.GetStatus().GetCode() == pb.Status_STATUS_CODE_ERROR {
		t.Error("a guest's failure is shown as ours")
	}
	if f.about["service.name"] != "cordon" || f.about["service.version"] != "1.2.3" {
		t.Errorf("the resource is %v", f.about)
	}
}

func TestFailureIsReportedByClassOnly(t *testing.T) {
	f := newFake(t)
	tracer := start(t)
	s := serve(runner{err: run.Errorf(run.Unsupported, "what a guest said")}, tracer)
	if _, err := s.Run(t.Context(), token.Local, "made up", run.Request{Script: run.Script{Source: "result = 1"}}); err == nil {
		t.Fatal("no error")
	}
	flush(t, tracer)
	for _, name := range []string{"request", "guest"} {
		span := f.byName(t)[name]
		if span.GetStatus().GetCode() != pb.Status_STATUS_CODE_ERROR || attributesOf(span)["error.type"] != "unsupported" {
			t.Errorf("%s: %v %v", name, span.GetStatus(), attributesOf(span))
		}
		if text := span.String(); strings.Contains(text, "a guest said") || strings.Contains(text, "made up") {
			t.Errorf("a stranger's words are in %s", text)
		}
	}
	if len(f.byName(t)["request"].GetParentSpanId()) != 0 {
		t.Error("a request without a traceparent has a parent")
	}
}

func TestInvalidTraceparentIsIgnored(t *testing.T) {
	for _, bad := range []string{"", "rubbish", "00-" + strings.Repeat("0", 32) + "-00f067aa0ba902b7-01", strings.Repeat(parent, 1000), parent + "\x00"} {
		ctx := t.Context()
		if got := tracing.FromHeader(ctx, http.Header{"Traceparent": {bad}}); got != ctx {
			t.Errorf("%.60q was taken", bad)
		}
	}
}

func TestTracingIsOffUnlessTheEnvironmentNamesACollector(t *testing.T) {
	for name, environment := range map[string]map[string]string{
		"nothing is set":     {},
		"only headers":       {"OTEL_EXPORTER_OTLP_HEADERS": "a=b"},
		"the SDK is off":     {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_SDK_DISABLED": "true"},
		"no exporter at all": {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_TRACES_EXPORTER": "none"},
	} {
		t.Run(name, func(t *testing.T) {
			for name, value := range environment {
				t.Setenv(name, value)
			}
			tracer, err := tracing.Start(t.Context(), tracing.Options{})
			if tracer != nil || err != nil {
				t.Errorf("there is a tracer (%v), or %v", tracer, err)
			}
		})
	}
}

func TestInvalidEnvironmentIsAnError(t *testing.T) {
	for name, environment := range map[string][2]string{
		"no scheme":        {"OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318"},
		"no host":          {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://"},
		"another protocol": {"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
			t.Setenv(environment[0], environment[1])
			_, err := tracing.Start(t.Context(), tracing.Options{})
			if run.ClassOf(err) != run.Invalid || !strings.Contains(err.Error(), environment[0]) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// The collector accepts connections and never answers.
func TestDeadCollectorDoesNotDelayRuns(t *testing.T) {
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://"+listener.Addr().String()+"/v1/traces")
	var failures atomic.Int32
	tracer, err := tracing.Start(t.Context(), tracing.Options{Failed: func(error) { failures.Add(1) }})
	if err != nil {
		t.Fatal(err)
	}
	s := serve(runner{result: run.Result{Outcome: run.Succeeded}}, tracer)
	began := time.Now()
	for range 2000 { // more spans than the queue holds
		if _, err := s.Run(t.Context(), token.Local, observe.HTTP, run.Request{Script: run.Script{Source: "result = 1"}}); err != nil {
			t.Fatal(err)
		}
	}
	// A run that waited for the collector would wait ten seconds for each batch.
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("the runs took %v", took)
	}
	began = time.Now()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 200*time.Millisecond)
	defer cancel()
	if err := tracer.Close(ctx); err == nil {
		t.Error("nothing was sent, and Close says nothing")
	}
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("Close took %v", took)
	}
	if failures := failures.Load(); failures > 1 {
		t.Errorf("it was said %d times", failures)
	}
}

// A collector that refuses is reported once, and again after it has accepted something.
func TestFailingCollectorIsReportedOnce(t *testing.T) {
	var batches, failures atomic.Int32
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-protobuf")
		if batches.Add(1) != 3 {
			w.WriteHeader(http.StatusBadRequest) // not retried
		}
	}))
	t.Cleanup(collector.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	tracer, err := tracing.Start(t.Context(), tracing.Options{Failed: func(error) { failures.Add(1) }})
	if err != nil {
		t.Fatal(err)
	}
	s := serve(runner{result: run.Result{Outcome: run.Succeeded}}, tracer)
	for range 1000 {
		if _, err := s.Run(t.Context(), token.Local, observe.HTTP, run.Request{Script: run.Script{Source: "result = 1"}}); err != nil {
			t.Fatal(err)
		}
	}
	flush(t, tracer)
	if batches.Load() < 5 || failures.Load() != 2 {
		t.Errorf("%d batches, told of %d times", batches.Load(), failures.Load())
	}
}
