package main

import (
	"slices"
	"testing"
)

func TestValuesDouble(t *testing.T) {
	for _, tt := range []struct {
		q    quantity
		want []int
	}{
		{quantity{first: 1, apiece: true}, []int{0, 1, 2, 4, 8, 16, 32, 64}},
		{quantity{first: 4}, []int{4, 8, 16, 32, 64, 128, 256}},
	} {
		if got := tt.q.values(doublings); !slices.Equal(got, tt.want) {
			t.Errorf("from %d: %v; want %v", tt.q.first, got, tt.want)
		}
	}
}

// The mode must see a cost that grows, and must not blame the fixed cost of a run.
func TestGrowthIsJudged(t *testing.T) {
	for _, tt := range []struct {
		name   string
		apiece bool
		total  func(n int) float64
		want   string
	}{
		{"linear, with a fixed cost", true, func(n int) float64 { return 5 + 2*float64(n) }, "ok"},
		{"a little more than linear", true, func(n int) float64 { return float64(n) * (1 + float64(n)/400) }, "ok"},
		{"quadratic", true, func(n int) float64 { return 5 + float64(n*n) }, "MISSES"},
		{"nothing to compare with", true, func(int) float64 { return 5 }, "MISSES"},
		{"the same for each run", false, func(int) float64 { return 5 }, "ok"},
		{"slower with each client", false, func(n int) float64 { return 5 + float64(n)/10 }, "MISSES"},
	} {
		q := quantity{first: 1, apiece: tt.apiece}
		values := q.values(doublings)
		totals := make([]float64, len(values))
		for i, n := range values {
			totals[i] = tt.total(n)
		}
		judged := table{Judged: true}
		q.addRows(&judged, values, totals)
		if n := len(judged.Rows); n != doublings+2 {
			t.Fatalf("%s: %d rows", tt.name, n)
		}
		if got := judged.verdict(judged.Rows[doublings+1]); got != tt.want {
			t.Errorf("%s: %q; want %q: %+v", tt.name, got, tt.want, judged.Rows)
		}
	}
}

func TestMedian(t *testing.T) {
	for _, tt := range []struct {
		values []float64
		want   float64
	}{{[]float64{3, 1, 2}, 2}, {[]float64{4, 1, 2, 3}, 2}, {[]float64{7}, 7}} {
		if got := median(tt.values); got != tt.want {
			t.Errorf("%v: %v; want %v", tt.values, got, tt.want)
		}
	}
}
