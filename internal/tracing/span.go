package tracing

import (
	"context"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

var (
	_ observe.Tracer   = (*Tracer)(nil)
	_ observe.Observer = (*Tracer)(nil)
)

// Begin starts a span for a stage.
func (t *Tracer) Begin(ctx context.Context, s observe.Stage) (context.Context, func(error)) {
	if s != observe.Request {
		ctx, span := t.tracer.Start(ctx, string(s))
		return ctx, func(err error) {
			fail(span, err)
			span.End()
		}
	}
	ctx, span := t.tracer.Start(ctx, string(s), trace.WithSpanKind(trace.SpanKindServer))
	r := &request{span: span}
	return context.WithValue(ctx, requestKey{}, r), func(err error) {
		fail(span, err)
		r.half(func() { r.at = time.Now() })
	}
}

// Ended adds what is known about a request at its end.
func (t *Tracer) Ended(ctx context.Context, seen observe.Run) {
	r, ok := ctx.Value(requestKey{}).(*request)
	if !ok {
		return // of another tracer
	}
	r.half(func() { r.span.SetAttributes(attributes(seen)...) })
}

type requestKey struct{}

// request is a span that ends when its stage is over and Ended was called, in either
// order.
type request struct {
	span trace.Span

	mu   sync.Mutex
	done int
	at   time.Time // the end of its stage
}

// half does one of the two parts, and ends the span after the second.
func (r *request) half(do func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	do()
	if r.done++; r.done == 2 {
		r.span.End(trace.WithTimestamp(r.at))
	}
}

// fail marks a span with the class of an error. The message stays here, since it may
// contain a guest's text.
func fail(span trace.Span, err error) {
	if err == nil {
		return
	}
	class := string(observe.ClassOf(err))
	span.SetAttributes(attribute.String("error.type", class))
	span.SetStatus(codes.Error, class)
}

// attributes returns values of our enumerations only, except the names of callers, which the
// operator chose, and run ids, which we chose.
func attributes(r observe.Run) []attribute.KeyValue {
	all := []attribute.KeyValue{attribute.String("cordon.run", r.ID), attribute.String("cordon.caller", r.Caller)}
	all = known(all, "cordon.frontend", r.Frontend, []observe.Frontend{observe.HTTP, observe.MCP})
	all = known(all, "cordon.kind", r.Kind, []observe.Kind{observe.Script, observe.Command, observe.Hook})
	if r.Err != nil {
		return all
	}
	all = known(all, "cordon.tier", r.Result.Enforcement.Tier, policy.Tiers())
	all = known(all, "cordon.outcome", r.Result.Outcome, run.Outcomes())
	if failed := r.Result.Outcome.ErrorType(); failed != "" {
		all = append(all, attribute.String("error.type", string(failed)))
	}
	return all
}

// known adds a value if it is in its enumeration.
func known[T ~string](all []attribute.KeyValue, name string, value T, of []T) []attribute.KeyValue {
	if !slices.Contains(of, value) {
		return all
	}
	return append(all, attribute.String(name, string(value)))
}
