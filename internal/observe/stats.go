package observe

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/cordon-sandbox/cordon/run"
)

// The statistics of a Runner are part of the public API.
type (
	Stats     = run.Stats
	TierStats = run.TierStats
	Durations = run.Durations
	Abilities = run.Abilities
)

// Meter counts for a backend. The zero value is ready to use.
type Meter struct {
	Forks, Setups Histogram
}

// Histogram counts durations. Adding one takes three atomic additions and never blocks.
// The zero value is empty.
type Histogram struct {
	buckets [len(bounds) + 1]atomic.Uint64
	sum     atomic.Int64 // nanoseconds
}

// bounds range from fractions of a millisecond to seconds.
var bounds = [...]time.Duration{
	100 * time.Microsecond, 250 * time.Microsecond, 500 * time.Microsecond,
	time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond,
	10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2500 * time.Millisecond, 5 * time.Second, 10 * time.Second,
}

// Add counts one duration.
func (h *Histogram) Add(d time.Duration) {
	i, _ := slices.BinarySearch(bounds[:], d)
	h.buckets[i].Add(1)
	h.sum.Add(int64(d))
}

// Since counts the time since began.
func (h *Histogram) Since(began time.Time) { h.Add(time.Since(began)) }

// Durations reads the counters. Concurrent additions may or may not be included.
func (h *Histogram) Durations() Durations {
	d := Durations{Sum: time.Duration(h.sum.Load()), Within: make(map[time.Duration]uint64, len(bounds))}
	for i := range h.buckets {
		d.Count += h.buckets[i].Load()
		if i < len(bounds) {
			d.Within[bounds[i]] = d.Count
		}
	}
	return d
}

// Plus adds the metrics of two parts of one tier.
func Plus(a, b TierStats) TierStats {
	return TierStats{Idle: a.Idle + b.Idle, Busy: a.Busy + b.Busy, Forks: plus(a.Forks, b.Forks), Setups: plus(a.Setups, b.Setups)}
}

func plus(a, b Durations) Durations {
	sum := Durations{Count: a.Count + b.Count, Sum: a.Sum + b.Sum, Within: map[time.Duration]uint64{}}
	for _, part := range []Durations{a, b} {
		for bound, count := range part.Within {
			sum.Within[bound] += count
		}
	}
	return sum
}
