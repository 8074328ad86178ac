package audit

import (
	"cmp"
	"maps"
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/cordon-sandbox/cordon/internal/plainjson"
)

// Stats counts runs, in memory that does not grow with their number.
type Stats struct {
	Runs     uint64    `json:"runs"`    // requests that ran
	NotRun   uint64    `json:"not_run"` // requests that did not
	From     time.Time `json:"from,omitzero"`
	To       time.Time `json:"to,omitzero"`
	groups   map[groupKey]*group
	byCaller int // how many callers have a group
}

// maxCallers is how many callers are counted by name; the rest are "(others)".
const maxCallers = 1000

type groupKey struct{ by, name string }

type group struct {
	runs, notRun, failed uint64
	wall                 histogram
}

// Group is one line of the statistics.
type Group struct {
	By     string                 `json:"by"` // tier, outcome, error_class, caller, or all
	Name   string                 `json:"name"`
	Count  uint64                 `json:"count"`
	Failed uint64                 `json:"failed"`           // ran and did not succeed
	NotRun uint64                 `json:"not_run"`          // did not run
	P50    plainjson.Milliseconds `json:"wall_time_p50_ms"` // of those that ran, within 2 %
	P99    plainjson.Milliseconds `json:"wall_time_p99_ms"`
}

// Add counts one record. Notes are not runs.
func (s *Stats) Add(r Record) {
	if r.Note != nil {
		return
	}
	if s.From.IsZero() || r.Time.Before(s.From) {
		s.From = r.Time
	}
	if r.Time.After(s.To) {
		s.To = r.Time
	}
	ran := r.Outcome != ""
	if ran {
		s.Runs++
		s.add("outcome", string(r.Outcome), r)
	} else {
		s.NotRun += r.requests()
		s.add("error_class", string(r.ErrorClass), r)
	}
	s.add("all", "", r)
	s.add("tier", string(r.Tier), r)
	caller := r.Caller
	if _, known := s.groups[groupKey{"caller", caller}]; !known {
		if s.byCaller >= maxCallers {
			caller = "(others)"
		} else {
			s.byCaller++
		}
	}
	s.add("caller", caller, r)
}

// requests is the number of requests that a line counts.
func (r Record) requests() uint64 { return max(1, r.Count) }

func (s *Stats) add(by, name string, r Record) {
	if s.groups == nil {
		s.groups = map[groupKey]*group{}
	}
	g := s.groups[groupKey{by, name}]
	if g == nil {
		g = &group{}
		s.groups[groupKey{by, name}] = g
	}
	if r.Outcome == "" {
		g.notRun += r.requests()
		return
	}
	g.runs++
	if r.ErrorType != "" {
		g.failed++
	}
	if r.Usage != nil {
		g.wall.add(r.Usage.WallTime)
	}
}

// Groups returns the counts by group, the most frequent first within each kind.
func (s *Stats) Groups() []Group {
	order := []string{"all", "tier", "outcome", "error_class", "caller"}
	all := []Group{}
	for _, k := range slices.Collect(maps.Keys(s.groups)) {
		g := s.groups[k]
		all = append(all, Group{
			By: k.by, Name: k.name, Count: g.runs + g.notRun, Failed: g.failed, NotRun: g.notRun,
			P50: plainjson.Milliseconds(g.wall.quantile(0.50)), P99: plainjson.Milliseconds(g.wall.quantile(0.99)),
		})
	}
	slices.SortFunc(all, func(a, b Group) int {
		return cmp.Or(
			cmp.Compare(slices.Index(order, a.By), slices.Index(order, b.By)),
			cmp.Compare(b.Count, a.Count),
			cmp.Compare(a.Name, b.Name))
	})
	return all
}

// histogram counts similar durations together: each power of two has 32 steps, so that a
// quantile is off by 2 % at most.
type histogram struct {
	counts map[int]uint64
	total  uint64
}

const stepBits = 5

func step(d time.Duration) int {
	n := uint64(max(d, 0))
	power := bits.Len64(n)
	if power <= stepBits {
		return int(n)
	}
	return power<<stepBits + int(n>>(power-1-stepBits)) - 1<<stepBits
}

// middle is the duration that represents a step.
func middle(step int) time.Duration {
	power := step >> stepBits
	if power <= stepBits && step < 1<<stepBits {
		return time.Duration(step)
	}
	low := float64(uint64(1)<<stepBits+uint64(step&(1<<stepBits-1))) * math.Pow(2, float64(power-1-stepBits))
	width := math.Pow(2, float64(power-1-stepBits))
	return time.Duration(min(low+(width-1)/2, math.MaxInt64/2))
}

func (h *histogram) add(d time.Duration) {
	if h.counts == nil {
		h.counts = map[int]uint64{}
	}
	h.counts[step(d)]++
	h.total++
}

func (h *histogram) quantile(q float64) time.Duration {
	rank := uint64(math.Ceil(q * float64(h.total)))
	for _, s := range slices.Sorted(maps.Keys(h.counts)) {
		if n := h.counts[s]; n >= rank {
			return middle(s)
		} else {
			rank -= n
		}
	}
	return 0
}
