package observe

import (
	"sync"
	"testing"
	"time"
)

func TestHistogramCountsDurationInEachBound(t *testing.T) {
	var h Histogram
	for _, d := range []time.Duration{0, 100 * time.Microsecond, 101 * time.Microsecond, 10 * time.Second, time.Hour} {
		h.Add(d)
	}
	got := h.Durations()
	if want := time.Hour + 10*time.Second + 201*time.Microsecond; got.Count != 5 || got.Sum != want {
		t.Errorf("%d durations of %v, not 5 of %v", got.Count, got.Sum, want)
	}
	for bound, want := range map[time.Duration]uint64{100 * time.Microsecond: 2, 250 * time.Microsecond: 3, 5 * time.Second: 3, 10 * time.Second: 4} {
		if got.Within[bound] != want {
			t.Errorf("%d took no longer than %v, not %d", got.Within[bound], bound, want)
		}
	}
}

func TestHammerHistogram(t *testing.T) {
	var h Histogram
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 1000 {
				h.Add(time.Millisecond)
			}
		})
	}
	all.Wait()
	if got := h.Durations(); got.Count != 8000 || got.Sum != 8*time.Second {
		t.Errorf("%d durations of %v", got.Count, got.Sum)
	}
}

func BenchmarkHistogramAdd(b *testing.B) {
	var h Histogram
	b.ReportAllocs()
	for b.Loop() {
		h.Add(3 * time.Millisecond)
	}
}
