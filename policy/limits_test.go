package policy

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestDuration(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want time.Duration
		text string
	}{
		{"0s", 0, "0s"}, {"2s", 2 * time.Second, "2s"}, {"500ms", time.Second / 2, "500ms"}, {" 1m30s ", 90 * time.Second, "1m30s"},
		{"60s", time.Minute, "1m"}, {"600s", 10 * time.Minute, "10m"}, {"60m", time.Hour, "1h"}, {"70m", 70 * time.Minute, "1h10m"},
		{"1h0m5s", time.Hour + 5*time.Second, "1h0m5s"}, {"0.5s", time.Second / 2, "500ms"}, {"1µs", time.Microsecond, "1µs"},
	} {
		got, err := ParseDuration(tt.in)
		if err != nil || got != tt.want || FormatDuration(got) != tt.text {
			t.Errorf("ParseDuration(%q) = %v, %v; want %v", tt.in, got, err, tt.text)
		}
	}
	for _, tt := range []struct{ in, words string }{
		{"", "is not a duration"}, {"soon", "is not a duration"}, {"2 s", "is not a duration"}, {"1d", "is not a duration"},
		{"2", "has no unit: write 2s"}, {"0", "has no unit"}, {"-2", "has no unit"}, {"0.5", "has no unit: write 0.5s"},
		{"-2s", "is negative"}, {"9999999h", "is not a duration"},
	} {
		if _, err := ParseDuration(tt.in); err == nil || !strings.Contains(err.Error(), tt.words) {
			t.Errorf("ParseDuration(%q): error %v; want %q", tt.in, err, tt.words)
		}
	}
}

func TestDurationRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := time.Duration(rapid.Int64Min(0).Draw(t, "ns"))
		if got, err := ParseDuration(FormatDuration(want)); err != nil || got != want {
			t.Fatalf("%d → %q → %d, %v", want, want, got, err)
		}
	})
}

// eachField runs f for every limit, so that a new one is covered by every test here from
// its first day.
func eachField(t *testing.T, f func(t *testing.T, row Limit)) {
	for _, row := range LimitTable() {
		t.Run(row.Key, func(t *testing.T) { f(t, row) })
	}
}

// Each row of the table is about the field of the same index, and has everything that other
// packages derive from it.
func TestLimitTable(t *testing.T) {
	fields := reflect.TypeFor[Limits]()
	if len(limitTable) != fields.NumField() {
		t.Fatalf("%d rows for %d fields", len(limitTable), fields.NumField())
	}
	kinds := map[reflect.Type]LimitKind{
		reflect.TypeFor[time.Duration](): KindDuration, reflect.TypeFor[Bytes](): KindBytes, reflect.TypeFor[int](): KindNumber, reflect.TypeFor[Count](): KindCount,
	}
	eachField(t, func(t *testing.T, row Limit) {
		field := fields.Field(row.index)
		if name := jsonName(field); name != row.Key {
			t.Errorf("the row is for the field %s", name)
		}
		if kinds[field.Type] != row.Kind {
			t.Errorf("a %s for a %s", row.Kind, field.Type)
		}
		if row.Name == "" || row.Help == "" || row.About == "" || len(row.For) == 0 {
			t.Errorf("something is missing in %+v", row)
		}
		if row.Default <= 0 || row.Maximum < row.Default || row.Least > row.Default || row.Most > 0 && row.Most < row.Maximum {
			t.Errorf("least %d, default %d, maximum %d, most %d", row.Least, row.Default, row.Maximum, row.Most)
		}
		ends := row.Outcome != ""
		if ends != (row.ErrorType != "") || ends != strings.Contains(row.Reached, "%v") || ends != (row.Advice != "") {
			t.Errorf("half an outcome: %+v", row)
		}
		if (row.Least > 0) != (row.TooLittle != "") {
			t.Errorf("half of something: %+v", row)
		}
		if amount, err := row.Parse(row.Text(row.Default)); err != nil || amount != row.Default {
			t.Errorf("%d → %q → %d, %v", row.Default, row.Text(row.Default), amount, err)
		}
		if named, ok := LimitNamed(row.Key); !ok || !reflect.DeepEqual(named, row) {
			t.Errorf("LimitNamed gives %+v", named)
		}
		if document := FromPolicy(Policy{}); document.Limits[row.Key] == "" || document.Maxima[row.Key] == "" {
			t.Error("a document does not say it")
		}
	})
}

func TestLimitsByField(t *testing.T) {
	eachField(t, func(t *testing.T, row Limit) {
		var one, two, negative Limits
		row.Set(&one, 1)
		row.Set(&two, 2)
		row.Set(&negative, -1)

		if one.Or(two) != one || (Limits{}).Or(two) != two {
			t.Error("Or does not fill the zero field alone")
		}
		if field, _, _, above := two.Above(one); !above || field != row.Key {
			t.Errorf("Above = %q, %v", field, above)
		}
		if field, _, _, above := one.Above(one); above {
			t.Errorf("Above of equals = %q", field)
		}
		if field, is := negative.Negative(); !is || field != row.Key {
			t.Errorf("Negative = %q, %v", field, is)
		}
		if two.Capped(one) != one || one.Capped(two) != one {
			t.Error("capped does not lower the field")
		}
		if field, _, _, above := DefaultLimits().Above(DefaultMaxima()); above {
			t.Errorf("the default %s is above its maximum", field)
		}

		asked := DefaultMaxima()
		row.Set(&asked, row.Maximum+1)
		if _, err := (Policy{}).Narrow(asked); err == nil || !strings.Contains(err.Error(), "limits."+row.Key) {
			t.Errorf("Narrow above the maximum: %v", err)
		}
		if _, err := (Policy{}).Narrow(negative); err == nil || !strings.Contains(err.Error(), "limits."+row.Key+": a negative limit") {
			t.Errorf("Narrow of a negative: %v", err)
		}
	})
	if field, is := DefaultLimits().Negative(); is {
		t.Errorf("Negative = %q", field)
	}
}

func TestNarrow(t *testing.T) {
	p := Policy{Limits: Limits{Memory: 100 * MiB}, Maxima: Limits{Memory: 200 * MiB, WallTime: 5 * time.Second}}
	got, err := p.Narrow(Limits{CPUTime: time.Second})
	want := DefaultLimits()
	want.Memory, want.WallTime, want.CPUTime = 100*MiB, 5*time.Second, time.Second
	if err != nil || got != want {
		t.Errorf("Narrow = %+v, %v; want %+v", got, err, want)
	}
	for _, tt := range []struct {
		asked Limits
		words string
	}{
		{Limits{Memory: 200*MiB + 1}, "limits.memory: 209715201B is above the policy's maximum of 200MiB"},
		{Limits{WallTime: 6 * time.Second}, "limits.wall_time: 6s is above the policy's maximum of 5s"},
		{Limits{OpenFiles: 3}, "limits.open_files: 3 is too few for an interpreter: give at least 8"},
		{Limits{Memory: KiB}, "limits.memory: 1KiB is too little for any script: give at least 1MiB"},
	} {
		if _, err := p.Narrow(tt.asked); err == nil || err.Error() != tt.words {
			t.Errorf("Narrow(%+v): %v; want %q", tt.asked, err, tt.words)
		}
	}
}

func TestNarrowNeverWidens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(label string, least, most Limits) (l Limits) {
			v := reflect.ValueOf(&l).Elem()
			for i := range v.NumField() {
				if rapid.Bool().Draw(t, label) {
					lo, hi := reflect.ValueOf(least).Field(i).Int(), reflect.ValueOf(most).Field(i).Int()
					v.Field(i).SetInt(rapid.Int64Range(lo, hi).Draw(t, label))
				}
			}
			return l
		}
		floor := Limits{}
		for _, row := range limitTable {
			row.Set(&floor, row.Least)
		}
		p := Policy{Limits: draw("limits", floor, DefaultLimits()), Maxima: draw("maxima", floor, DefaultMaxima())}
		if p.Validate() != nil {
			t.Skip("a default above its maximum")
		}
		got, err := p.Narrow(draw("asked", Limits{}, DefaultMaxima()))
		if err != nil {
			return
		}
		if field, v, limit, above := got.Above(p.Resolved().Maxima); above {
			t.Fatalf("%s of %v is above %v", field, v, limit)
		}
		if reflect.ValueOf(got).IsZero() || got.Or(DefaultLimits()) != got {
			t.Fatalf("a field is zero: %+v", got)
		}
	})
}

// The wall time that a request sets is also its CPU time.
func TestFill(t *testing.T) {
	defaults, maxima := Limits{WallTime: 30, CPUTime: 10, Memory: 5}, Limits{WallTime: 90, CPUTime: 60, Memory: 9}
	for name, tt := range map[string]struct{ asked, want Limits }{
		"nothing":                  {Limits{}, Limits{WallTime: 30, CPUTime: 10, Memory: 5}},
		"less than the CPU time":   {Limits{WallTime: 5}, Limits{WallTime: 5, CPUTime: 10, Memory: 5}},
		"more than the CPU time":   {Limits{WallTime: 20}, Limits{WallTime: 20, CPUTime: 20, Memory: 5}},
		"more than it may compute": {Limits{WallTime: 90}, Limits{WallTime: 90, CPUTime: 60, Memory: 5}},
		"a CPU time of its own":    {Limits{WallTime: 90, CPUTime: 3, Memory: 9}, Limits{WallTime: 90, CPUTime: 3, Memory: 9}},
	} {
		if got := tt.asked.Fill(defaults, maxima); got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// Limits in an answer can be parsed again, and their keys are valid in a request.
func TestLimitsJSON(t *testing.T) {
	text, err := json.Marshal(Limits{WallTime: 1500 * time.Millisecond, Memory: 64 * MiB, Threads: 3})
	if want := `{"wall_time_ms":1500,"memory_bytes":67108864,"threads":3}`; err != nil || string(text) != want {
		t.Errorf("%s, %v; want %s", text, err, want)
	}
	want := DefaultMaxima()
	text, err = json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Limits
	if err := json.Unmarshal(text, &got); err != nil || got != want {
		t.Errorf("%s: %+v, %v; want %+v", text, got, err, want)
	}
	if err := json.Unmarshal([]byte(`{"memory_bytes": 1e99}`), &got); err == nil {
		t.Error("a size beyond all memory was read")
	}
}
