package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/policy"
)

// machinery reads a Runner's statistics at each scrape. A tier that has not started has
// zeros.
type machinery struct {
	runner interface{ Stats() observe.Stats }
}

var (
	workers = prometheus.NewDesc("cordon_pool_workers",
		"Sandboxes for guests, idle and busy.", []string{"tier", "state"}, nil)
	forks = prometheus.NewDesc("cordon_forks_total",
		"Sandboxes forked from a warm one.", []string{"tier"}, nil)
	forkDurations = prometheus.NewDesc("cordon_fork_duration_seconds",
		"How long a fork took.", []string{"tier"}, nil)
	setupDurations = prometheus.NewDesc("cordon_wall_setup_duration_seconds",
		"How long a setup from nothing took.", []string{"tier"}, nil)
)

// Describe lists the metrics of Collect.
func (machinery) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{workers, forks, forkDurations, setupDurations} {
		to <- d
	}
}

// Collect reads the statistics once.
func (m machinery) Collect(to chan<- prometheus.Metric) {
	stats := m.runner.Stats()
	for _, tier := range policy.Tiers() { // labels only come from our enumeration
		s, name := stats[tier], string(tier)
		to <- prometheus.MustNewConstMetric(workers, prometheus.GaugeValue, float64(s.Idle), name, "idle")
		to <- prometheus.MustNewConstMetric(workers, prometheus.GaugeValue, float64(s.Busy), name, "busy")
		to <- prometheus.MustNewConstMetric(forks, prometheus.CounterValue, float64(s.Forks.Count), name)
		to <- constant(forkDurations, s.Forks, name)
		to <- constant(setupDurations, s.Setups, name)
	}
}

func constant(desc *prometheus.Desc, d observe.Durations, tier string) prometheus.Metric {
	if d.Within == nil { // the same buckets before and after the start of the tier
		d = new(observe.Histogram).Durations()
	}
	within := make(map[float64]uint64, len(d.Within))
	for bound, count := range d.Within {
		within[bound.Seconds()] = count
	}
	return prometheus.MustNewConstHistogram(desc, d.Count, d.Sum.Seconds(), within, tier)
}
