// Package metrics exports the service's metrics to Prometheus. All label values are from
// our own enumerations: nothing that a guest or a caller sends becomes a label.
package metrics

import (
	"context"
	"net/http"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Options name the sources of metrics. A nil source has none.
type Options struct {
	// Version is cordon's.
	Version string
	// Runner is a *cordon.Runner.
	Runner interface{ Stats() observe.Stats }
	// Line returns how many requests wait for their turn, and how many run.
	Line func() (waiting, running int)
	// Hooks returns how many hooks are open.
	Hooks func() int
	// Sessions returns how many sessions are open.
	Sessions func() int
	// AuditErrors returns how many writes of the audit log have failed.
	AuditErrors func() uint64
}

// Metrics is an observer. It is safe for concurrent use.
type Metrics struct {
	registry   *prometheus.Registry
	handler    http.Handler
	tiers      map[policy.Tier]*tier
	violations prometheus.Counter
	waited     prometheus.Histogram
	refused    map[observe.Frontend]map[run.Class]prometheus.Counter
}

var _ observe.Observer = (*Metrics)(nil)

// tier has the series of one tier, looked up once.
type tier struct {
	durations map[run.Status]prometheus.Observer
	timeouts  prometheus.Counter
	errors    map[run.ErrorType]prometheus.Counter
	memory    prometheus.Observer
}

// unknown replaces every value that is not in its enumeration. It should not occur, and
// is visible if it does.
const unknown = "unknown"

// The values of the labels.
var (
	frontends = []observe.Frontend{observe.HTTP, observe.MCP, unknown}
	tiers     = append(slices.Clone(policy.Tiers()), unknown)
	statuses  = []run.Status{run.StatusOK, run.StatusError}
	classes   = append(slices.Clone(run.Classes()), observe.Gone)
)

// errorTypes are the error types of all outcomes.
func errorTypes() []run.ErrorType {
	var all []run.ErrorType
	for _, o := range run.Outcomes() {
		if t := o.ErrorType(); t != "" && !slices.Contains(all, t) {
			all = append(all, t)
		}
	}
	return append(all, unknown)
}

// New returns metrics in their own registry, in which every series starts at 0, so that
// the first event of its kind is a visible change.
func New(o Options) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry()}
	m.runs()
	m.refusals()
	m.registry.MustRegister(
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		buildInfo(o.Version),
	)
	m.gauges(o)
	if o.Runner != nil {
		m.registry.MustRegister(machinery{o.Runner})
	}
	m.handler = promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		EnableOpenMetrics: true, MaxRequestsInFlight: mostScrapes, ErrorHandling: promhttp.ContinueOnError,
	})
	return m
}

// Handler answers a scrape, in the format that it asks for. All calls return the same
// handler, since its bound is on all scrapes.
func (m *Metrics) Handler() http.Handler { return m.handler }

// mostScrapes bounds concurrent scrapes, so that scraping cannot stop the service.
const mostScrapes = 8

// Ended counts a request at its end.
func (m *Metrics) Ended(_ context.Context, r observe.Run) {
	if !r.Started.IsZero() {
		m.waited.Observe(r.Started.Sub(r.Arrived).Seconds())
	}
	if r.Err != nil {
		m.Refused(r.Frontend, observe.ClassOf(r.Err))
		return
	}
	t, ok := m.tiers[r.Result.Enforcement.Tier]
	if !ok {
		t = m.tiers[unknown]
	}
	began := r.Started
	if began.IsZero() {
		began = r.Arrived
	}
	outcome := r.Result.Outcome
	t.durations[outcome.Status()].Observe(r.Ended.Sub(began).Seconds())
	if r.Result.Usage.Memory > 0 {
		t.memory.Observe(float64(r.Result.Usage.Memory))
	}
	for _, v := range r.Result.Violations {
		// A counter that decreases would panic.
		if v.Wall == policy.WallSeccomp && v.Count > 0 {
			m.violations.Add(float64(v.Count))
		}
	}
	if outcome == run.Succeeded {
		return
	}
	if outcome == run.TimedOut {
		t.timeouts.Inc()
	}
	failed, ok := t.errors[outcome.ErrorType()]
	if !ok {
		failed = t.errors[unknown]
	}
	failed.Inc()
}

// Refused counts a request that a frontend refused. Those that reached the service are
// counted by Ended.
func (m *Metrics) Refused(frontend observe.Frontend, class run.Class) {
	at, ok := m.refused[frontend]
	if !ok {
		at = m.refused[unknown]
	}
	counter, ok := at[class]
	if !ok {
		counter = at[run.Internal] // as run.ClassOf has it
	}
	counter.Inc()
}
