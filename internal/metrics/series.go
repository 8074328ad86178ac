package metrics

import (
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// seconds range from the fastest scripts to the longest runs allowed by default.
var seconds = []float64{
	0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
}

// memory ranges from an empty script to the largest guests, doubling each time.
var memory = prometheus.ExponentialBuckets(4<<20, 2, 11)

// histogram has fixed buckets for every Prometheus, and native ones for those that ask
// for them.
func histogram(name, help string, buckets []float64) prometheus.HistogramOpts {
	return prometheus.HistogramOpts{
		Name: name, Help: help, Buckets: buckets,
		NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 160, NativeHistogramMinResetDuration: time.Hour,
	}
}

func counter(name, help string) prometheus.CounterOpts {
	return prometheus.CounterOpts{Name: name, Help: help}
}

// runs makes the series of runs, all at 0.
func (m *Metrics) runs() {
	durations := prometheus.NewHistogramVec(histogram("sandbox_run_duration_seconds",
		"How long runs took, from their turn to their result.", seconds), []string{"tier", "status"})
	timeouts := prometheus.NewCounterVec(counter("sandbox_timeout_total",
		"Runs that reached their wall time limit."), []string{"tier"})
	failures := prometheus.NewCounterVec(counter("sandbox_error_total",
		"Runs whose guest failed, by type of error."), []string{"tier", "error_type"})
	used := prometheus.NewHistogramVec(histogram("cordon_guest_memory_bytes",
		"Peak memory of guests.", memory), []string{"tier"})
	m.violations = prometheus.NewCounter(counter("sandbox_seccomp_violations_total",
		"System calls that the seccomp filter denied to guests."))
	m.waited = prometheus.NewHistogram(histogram("cordon_queue_wait_seconds",
		"How long requests that ran waited for their turn.", seconds))
	m.registry.MustRegister(durations, timeouts, failures, used, m.violations, m.waited)

	m.tiers = map[policy.Tier]*tier{}
	for _, name := range tiers {
		t := &tier{
			durations: map[run.Status]prometheus.Observer{}, errors: map[run.ErrorType]prometheus.Counter{},
			timeouts: timeouts.WithLabelValues(string(name)), memory: used.WithLabelValues(string(name)),
		}
		for _, s := range statuses {
			t.durations[s] = durations.WithLabelValues(string(name), string(s))
		}
		for _, e := range errorTypes() {
			t.errors[e] = failures.WithLabelValues(string(name), string(e))
		}
		m.tiers[name] = t
	}
}

func (m *Metrics) refusals() {
	all := prometheus.NewCounterVec(counter("cordon_requests_refused_total",
		"Requests for which nothing ran, by frontend and error class."), []string{"frontend", "class"})
	m.registry.MustRegister(all)
	m.refused = map[observe.Frontend]map[run.Class]prometheus.Counter{}
	for _, frontend := range frontends {
		m.refused[frontend] = map[run.Class]prometheus.Counter{}
		for _, class := range classes {
			m.refused[frontend][class] = all.WithLabelValues(string(frontend), string(class))
		}
	}
}

func buildInfo(version string) prometheus.Collector {
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "cordon_build_info", Help: "Always 1; the labels describe the build.",
		ConstLabels: prometheus.Labels{"version": version, "go_version": runtime.Version()},
	})
	info.Set(1)
	return info
}

func (m *Metrics) gauges(o Options) {
	gauge := func(name, help string, f func() float64) {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, f))
	}
	if o.Line != nil {
		gauge("cordon_queue_waiting", "Requests waiting for their turn.", func() float64 { waiting, _ := o.Line(); return float64(waiting) })
		gauge("cordon_queue_running", "Requests running.", func() float64 { _, running := o.Line(); return float64(running) })
	}
	if o.Hooks != nil {
		gauge("cordon_hooks_open", "Open hooks.", func() float64 { return float64(o.Hooks()) })
	}
	if o.Sessions != nil {
		gauge("cordon_sessions_open", "Open sessions.", func() float64 { return float64(o.Sessions()) })
	}
	if o.AuditErrors != nil {
		m.registry.MustRegister(prometheus.NewCounterFunc(counter("cordon_audit_write_errors_total",
			"Failed writes of the audit log."), func() float64 { return float64(o.AuditErrors()) }))
	}
}
