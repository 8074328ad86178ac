// Package tracing tells an OpenTelemetry collector where the time of a request goes:
// request, queue, lease, guest. It is off unless the environment names a collector, and
// one that is slow or dead costs a run nothing.
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

// Options say what is told beside the spans.
type Options struct {
	// Version is that of cordon.
	Version string
	// Failed is told when the collector cannot be reached, once until it can be again;
	// nil means nobody.
	Failed func(error)
}

const (
	// mostWaiting bounds the spans that wait for the collector. What comes above it is
	// dropped.
	mostWaiting = 4096
	mostAtOnce  = 512
	// sendEvery is how long a span waits for others, and sendWithin how long the collector
	// may take for all of them.
	sendEvery  = 2 * time.Second
	sendWithin = 10 * time.Second
)

// Tracer tells a collector of spans. It is an observe.Tracer and an observe.Observer, and
// has to be registered as both: what a request was is known at its end.
type Tracer struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
}

// Start gives a Tracer to the collector that the environment names by the variables of
// OpenTelemetry, and nil if it names none: then nobody is to be registered.
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
		resource.WithFromEnv()) // OTEL_SERVICE_NAME has the last word
	if err != nil {
		return nil, run.Errorf(run.Invalid, "traces: OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	provider := sdk.NewTracerProvider(sdk.WithResource(about), sdk.WithBatcher(&reporting{SpanExporter: exporter, failed: o.Failed},
		sdk.WithMaxQueueSize(mostWaiting), sdk.WithMaxExportBatchSize(mostAtOnce),
		sdk.WithBatchTimeout(sendEvery), sdk.WithExportTimeout(sendWithin)))
	return &Tracer{provider, provider.Tracer("github.com/cordon-sandbox/cordon", trace.WithInstrumentationVersion(o.Version))}, nil
}

// configured reads the variables that say whether, where and how. The exporter would go on
// with its own default where one is wrong.
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
			return false, run.Errorf(run.Invalid, "%s is %q: say a URL such as http://collector:4318", name, value)
		}
	}
	if !on {
		return false, nil
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"} {
		if value := os.Getenv(name); value != "" && value != "http/protobuf" {
			return false, run.Errorf(run.Invalid, "%s is %q: cordon speaks http/protobuf, on port 4318 as a rule", name, value)
		}
	}
	return true, nil
}

// Close sends what is left, until ctx ends.
func (t *Tracer) Close(ctx context.Context) error { return t.provider.Shutdown(ctx) }

// FromHeader gives a context in which a request belongs to the trace that its caller names
// by a W3C traceparent. Without a good one it begins its own.
func FromHeader(ctx context.Context, h http.Header) context.Context {
	return propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(h))
}

// reporting tells of failures by a function of ours, and not by the one that all users of
// the library in a process share.
type reporting struct {
	sdk.SpanExporter
	failed  func(error)
	failing bool // since the last time that it worked; one goroutine exports
}

// ExportSpans sends, and says whether it failed when it did not before.
func (r *reporting) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	err := r.SpanExporter.ExportSpans(ctx, spans)
	if err != nil && !r.failing && r.failed != nil {
		r.failed(err)
	}
	r.failing = err != nil
	return nil
}
