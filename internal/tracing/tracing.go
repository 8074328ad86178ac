// Package tracing sends an OpenTelemetry collector the stages of each request: request,
// queue, lease, guest. It is off unless the environment names a collector, and a slow or
// dead collector does not delay a run.
package tracing

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/cordon-sandbox/cordon/run"
)

// Options configure a Tracer.
type Options struct {
	// Version is cordon's.
	Version string
	// Failed is called when the collector cannot be reached, once until it can be reached
	// again; it may be nil.
	Failed func(error)
}

const (
	// mostWaiting bounds the spans that wait for the collector. Further spans are
	// dropped.
	mostWaiting = 4096
	mostAtOnce  = 512
	// sendEvery is how long a span waits for others, and sendWithin how long sending a
	// batch may take.
	sendEvery  = 2 * time.Second
	sendWithin = 10 * time.Second
)

// Tracer sends spans to a collector. It is an observe.Tracer and an observe.Observer, and
// must be registered as both: the details of a request are known only at its end.
type Tracer struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
}

// Start returns a Tracer for the collector in OpenTelemetry's environment variables, or
// nil if they name none.
func Start(ctx context.Context, o Options) (*Tracer, error) {
	on, err := configured()
	if err != nil || !on {
		return nil, err
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithTimeout(sendWithin))
	if err != nil {
		return nil, run.Errorf(run.Invalid, "traces: %w", err)
	}
	about, err := resource.New(ctx,
		resource.WithTelemetrySDK(), resource.WithHost(),
		resource.WithAttributes(attribute.String("service.name", "cordon"), attribute.String("service.version", o.Version)),
		resource.WithFromEnv()) // OTEL_SERVICE_NAME wins
	if err != nil {
		return nil, run.Errorf(run.Invalid, "traces: OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	provider := sdk.NewTracerProvider(sdk.WithResource(about), sdk.WithBatcher(&reporting{SpanExporter: exporter, failed: o.Failed},
		sdk.WithMaxQueueSize(mostWaiting), sdk.WithMaxExportBatchSize(mostAtOnce),
		sdk.WithBatchTimeout(sendEvery), sdk.WithExportTimeout(sendWithin)))
	return &Tracer{provider, provider.Tracer("github.com/cordon-sandbox/cordon", trace.WithInstrumentationVersion(o.Version))}, nil
}

// configured checks these variables. The exporter would silently use its own default for
// an invalid one.
func configured() (bool, error) {
	if strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") || os.Getenv("OTEL_TRACES_EXPORTER") == "none" {
		return false, nil
	}
	on := false
	for _, name := range []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"} {
		value := os.Getenv(name)
		if value == "" {
			continue
		}
		on = true
		if u, err := url.Parse(value); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return false, run.Errorf(run.Invalid, "%s is %q: write a URL such as http://collector:4318", name, value)
		}
	}
	if !on {
		return false, nil
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"} {
		if value := os.Getenv(name); value != "" && value != "http/protobuf" {
			return false, run.Errorf(run.Invalid, "%s is %q: cordon only supports http/protobuf, usually on port 4318", name, value)
		}
	}
	return true, nil
}

// Close sends the remaining spans, until ctx ends.
func (t *Tracer) Close(ctx context.Context) error { return t.provider.Shutdown(ctx) }

// FromHeader returns a context in which a request belongs to the trace that its caller
// names in a W3C traceparent. Without a valid one the request starts its own trace.
func FromHeader(ctx context.Context, h http.Header) context.Context {
	return propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(h))
}

// reporting reports failures through our own function, not through the library's global
// handler.
type reporting struct {
	sdk.SpanExporter
	failed  func(error)
	failing bool // since the last success; one goroutine exports
}

// ExportSpans sends spans, and reports the first failure after a success.
func (r *reporting) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	err := r.SpanExporter.ExportSpans(ctx, spans)
	if err != nil && !r.failing && r.failed != nil {
		r.failed(err)
	}
	r.failing = err != nil
	return nil
}
