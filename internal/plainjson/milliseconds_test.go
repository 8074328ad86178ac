package plainjson

import (
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestMilliseconds(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0", time.Millisecond: "1", 1234567: "1.235", 90 * time.Second: "90000", time.Microsecond: "0.001", 400: "0",
		9999 * time.Hour: "35996400000",
	} {
		if text, err := json.Marshal(Milliseconds(d)); err != nil || string(text) != want {
			t.Errorf("%v is %s, %v; want %s", d, text, err, want)
		}
	}
	var d Milliseconds
	if err := json.Unmarshal([]byte(`"1ms"`), &d); err == nil {
		t.Error("a text was read as milliseconds")
	}
}

func TestMillisecondsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := Milliseconds(rapid.Int64Range(0, 1e12).Draw(t, "µs") * int64(time.Microsecond))
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got Milliseconds
		if err := json.Unmarshal(text, &got); err != nil || got != want {
			t.Fatalf("%v → %s → %v, %v", want, text, got, err)
		}
	})
}
