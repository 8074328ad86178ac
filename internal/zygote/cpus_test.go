package zygote

import (
	"slices"
	"testing"
)

func TestLeastGiven(t *testing.T) {
	for name, tt := range map[string]struct {
		usable    []int
		given     map[int]int
		offset, n int
		want      []int
	}{
		"the first":               {[]int{0, 1, 2, 3}, nil, 0, 1, []int{0}},
		"the next":                {[]int{0, 1, 2, 3}, nil, 1, 1, []int{1}},
		"around the end":          {[]int{0, 1, 2, 3}, nil, 7, 2, []int{3, 0}},
		"not a busy one":          {[]int{0, 1, 2, 3}, map[int]int{0: 1, 1: 2}, 0, 2, []int{2, 3}},
		"the less busy ones":      {[]int{0, 1, 2, 3}, map[int]int{0: 3, 1: 1, 2: 2, 3: 2}, 0, 3, []int{1, 2, 3}},
		"only the usable ones":    {[]int{4, 6}, map[int]int{4: 1}, 0, 1, []int{6}},
		"no more than are usable": {[]int{4, 6}, nil, 0, 8, []int{4, 6}},
	} {
		if got := leastGiven(tt.usable, tt.given, tt.offset, tt.n); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

// What ended guests had can be given to others.
func TestCPUsAreGivenBack(t *testing.T) {
	var c CPUs
	usable := []int{0, 1, 2}
	first, second := &holding{}, c.take(usable, 1)
	first.cpus = c.take(usable, 1)
	if slices.Equal(first.cpus, second) {
		t.Errorf("two guests on CPU %v", second)
	}
	freed := slices.Clone(first.cpus)
	c.take(usable, 1)
	first.release(&c)
	first.release(&c)
	if got := c.take(usable, 1); !slices.Equal(got, freed) {
		t.Errorf("CPU %v, want %v, which is free", got, freed)
	}
}
