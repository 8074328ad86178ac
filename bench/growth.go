package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/cordon-sandbox/cordon/policy"
)

// growthPhases are the parts of -growth. They look for costs that grow faster than what they
// are paid for.
var growthPhases = []phase{
	{"context", policy.TierProcess, (*bench).growContext},
	{"output", policy.TierProcess, (*bench).growOutput},
	{"result", policy.TierProcess, (*bench).growResult},
	{"granted", policy.TierProcess, (*bench).growGrants},
	{"guests", policy.TierProcess, (*bench).growGuests},
	{"clients", policy.TierProcess, (*bench).growClients},
}

const (
	doublings = 6
	// maxGrowth bounds the cost for each unit after all doublings, to that at the first
	// point.
	maxGrowth = 1.2
)

// quantity is what is doubled, and what it costs.
type quantity struct {
	name  string // with its unit, such as "MB of context"
	first int    // its value at the first point
	// cost is the cost for each unit, in words that begin with its unit.
	cost string
	// measure measures the whole cost at a value.
	measure func(ctx context.Context, n int) (float64, error)
	// apiece divides the cost by the value, after subtracting the cost at zero: a run
	// costs something without any. Otherwise, the cost is of one run at that value.
	apiece bool
	// each is how often a turn measures.
	each int
}

// values are the points to measure. Zero is first if its cost is subtracted.
func (q quantity) values(doublings int) []int {
	var values []int
	if q.apiece {
		values = append(values, 0)
	}
	for i := range doublings + 1 {
		values = append(values, q.first<<i)
	}
	return values
}

// grow measures all values of a quantity in alternating turns, and adds their rows.
func (b *bench) grow(ctx context.Context, t *table, q quantity) error {
	values := q.values(b.few(doublings, 1))
	measured := make([][]float64, len(values))
	for range b.few(7, 1) {
		for i, n := range values {
			waitForRefill()
			turn, err := q.turn(ctx, n, b.few(q.each, 1))
			if err != nil {
				return fmt.Errorf("%d %s: %w", n, q.name, err)
			}
			measured[i] = append(measured[i], turn...)
		}
	}
	totals := make([]float64, len(values))
	for i, m := range measured {
		totals[i] = median(m)
	}
	q.addRows(t, values, totals)
	return nil
}

// turn measures one value. The first measurement does not count: it warms the caches after
// the other values.
func (q quantity) turn(ctx context.Context, n, each int) ([]float64, error) {
	var costs []float64
	for range each + 1 {
		cost, err := q.measure(ctx, n)
		if err != nil {
			return nil, err
		}
		costs = append(costs, cost)
	}
	return costs[1:], nil
}

// addRows adds a row for each point, and the verdict.
func (q quantity) addRows(t *table, values []int, totals []float64) {
	costs := totals
	if q.apiece {
		values, costs = values[1:], perUnit(values, totals)
	}
	for i, n := range values {
		t.add(row{
			Measure: fmt.Sprintf("%d %s", n, q.name), Value: fmt.Sprintf("%.4f", costs[i]), Number: costs[i],
			Ratio: growthRatio(costs[0], costs[i]), Note: q.cost,
		})
	}
	last := len(values) - 1
	t.add(row{
		Measure: fmt.Sprintf("growth: %d to %d %s", values[0], values[last], q.name), Value: fmt.Sprintf("%.4f to %.4f", costs[0], costs[last]),
		Number: costs[last], Ratio: growthRatio(costs[0], costs[last]), Must: atMost(maxGrowth, fmt.Sprintf("%v ×", maxGrowth)), Note: q.cost,
	})
}

// perUnit subtracts the cost at the first value, which is zero, and divides by the others.
func perUnit(values []int, totals []float64) []float64 {
	var costs []float64
	for i, n := range values[1:] {
		costs = append(costs, (totals[i+1]-totals[0])/float64(n))
	}
	return costs
}

// growthRatio compares the cost for each unit with that at the first point. A first cost that
// is not above the noise counts as missed: nothing can be compared with it.
func growthRatio(first, cost float64) float64 {
	const unknown = 99
	if first <= 0 {
		return unknown
	}
	return min(max(cost, 0)/first, unknown)
}

// median returns a measured value, or the lower one of the two in the middle.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(len(sorted)-1)/2]
}
