package observe

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/cordon-sandbox/cordon/policy"
)

// Stats are the figures of a Runner's own machinery, by tier. A tier that nobody has
// asked for yet has none.
type Stats map[policy.Tier]TierStats

// TierStats are those of one tier.
type TierStats struct {
	// Idle is how many places wait for a guest, and Busy how many have one: workers of
	// scripts and hooks, jails of commands, instances of modules.
	Idle, Busy int
	// Forks are the copies made of what was warm: workers of their fork server,
	// instances of an interpreter's image.
	Forks Durations
	// Setups are the walls put up from nothing: a fork server and its interpreter, a
	// jail, the first interpreter of an image.
	Setups Durations
}

// Meter is what a backend counts with. The zero value is ready.
type Meter struct {
	Forks, Setups Histogram
}

// Histogram counts durations. To add one costs three additions and waits for nobody. The
// zero value is empty.
type Histogram struct {
	buckets [len(bounds) + 1]atomic.Uint64
	sum     atomic.Int64 // nanoseconds
}

// bounds are for what takes from a fraction of a millisecond to seconds.
var bounds = [...]time.Duration{
	100 * time.Microsecond, 250 * time.Microsecond, 500 * time.Microsecond,
	time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond,
	10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2500 * time.Millisecond, 5 * time.Second, 10 * time.Second,
}

// Add counts one.
func (h *Histogram) Add(d time.Duration) {
	i, _ := slices.BinarySearch(bounds[:], d)
	h.buckets[i].Add(1)
	h.sum.Add(int64(d))
}

// Since counts one that has just ended.
func (h *Histogram) Since(began time.Time) { h.Add(time.Since(began)) }

// Durations is what a Histogram has counted.
type Durations struct {
	Count uint64
	Sum   time.Duration
	// Within has, for each bound, how many took no longer.
	Within map[time.Duration]uint64
}

// Durations reads the counters. Those that are added meanwhile are in it or not.
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
