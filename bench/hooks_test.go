package main

import (
	"encoding/json"
	"testing"
)

// The rows say 1 KiB.
func TestSizeOfTheState(t *testing.T) {
	text, err := json.Marshal(hookState)
	if err != nil {
		t.Fatal(err)
	}
	if len(text) < 1000 || len(text) > 1048 {
		t.Errorf("%d bytes", len(text))
	}
}

func TestPromiseForEachCore(t *testing.T) {
	b := bench{cores: 4}
	for calls, want := range map[float64]string{29_999: "MISSES", 30_000: "ok, misses the aim", 80_000: "ok"} {
		judged := table{Judged: true}
		if got := judged.verdict(row{Number: calls, Must: b.eachCore(7_500), Aim: b.eachCore(20_000)}); got != want {
			t.Errorf("%v calls a second: %q; want %q", calls, got, want)
		}
	}
}
