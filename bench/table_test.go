package main

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestSamples(t *testing.T) {
	var s samples
	for i := 1000; i > 0; i-- {
		s = append(s, time.Duration(i))
	}
	if s.p50() != 500 || s.p99() != 990 {
		t.Errorf("p50 %d, p99 %d", s.p50(), s.p99())
	}
	if (samples{}).p99() != 0 || (samples{7}).p50() != 7 || (samples{7}).p99() != 7 {
		t.Error("few samples")
	}
}

// The bench must be able to report "MISSES".
func TestVerdict(t *testing.T) {
	must, aim := atMost(1.0/25, "1/25"), atMost(1.0/60, "1/60")
	size := promise{AtMost: 100, Text: "≤ 100", OnValue: true}
	for _, tt := range []struct {
		row  row
		want string
	}{
		{row{Ratio: 1.0 / 70, Must: must, Aim: aim}, "ok"},
		{row{Ratio: 1.0 / 30, Must: must, Aim: aim}, "ok, misses the aim"},
		{row{Ratio: 1.0 / 20, Must: must, Aim: aim}, "MISSES"},
		{row{Ratio: 1.0 / 20}, ""},
		{row{Ratio: 3.9, Must: atLeast(4, "4 ×")}, "MISSES"},
		{row{Ratio: 4, Must: atLeast(4, "4 ×")}, "ok"},
		{row{Number: 101, Ratio: 1, Must: size}, "MISSES"},
		{row{Number: 99, Must: size}, "ok"},
	} {
		judged := table{Judged: true, Rows: []row{tt.row}}
		if got := judged.verdict(tt.row); got != tt.want {
			t.Errorf("%+v: %q; want %q", tt.row, got, tt.want)
		}
		if judged.missed() != (tt.want == "MISSES") {
			t.Errorf("%+v: missed() = %v", tt.row, judged.missed())
		}
		if quick := (table{Rows: []row{tt.row}}); quick.missed() {
			t.Errorf("%+v: a smoke test judges", tt.row)
		}
	}
}

func TestRatioText(t *testing.T) {
	for x, want := range map[float64]string{0: "", 0.04: "1/25", 0.97: "0.97 ×", 8.123: "8.12 ×"} {
		if got := ratioText(x); got != want {
			t.Errorf("%v: %q; want %q", x, got, want)
		}
	}
}

func TestTableIsAligned(t *testing.T) {
	table := table{Judged: true, Rows: []row{
		{Measure: "long words of a measure", Value: "1 ms", Ratio: 0.01, Must: atMost(0.04, "1/25"), position: 2},
		{Measure: "short", Value: "100.000 ms", Ratio: 9, position: 1},
	}}
	table.sort()
	var text strings.Builder
	if err := table.write(&text); err != nil {
		t.Fatal(err)
	}
	var column []int
	for line := range strings.Lines(text.String()) {
		for _, value := range []string{"value", "1 ms", "100.000 ms"} {
			if i := strings.Index(line, value); i > 0 && !strings.Contains(line, "peer") {
				column = append(column, i)
				break
			}
		}
	}
	if fmt.Sprint(column) != "[25 25 25]" || strings.Index(text.String(), "short") > strings.Index(text.String(), "long words") {
		t.Errorf("%v\n%s", column, text.String())
	}
}
