package policy

import (
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
		if err != nil || got.Std() != tt.want || got.String() != tt.text {
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
		want := Duration(rapid.Int64Min(0).Draw(t, "ns"))
		if got, err := ParseDuration(want.String()); err != nil || got != want {
			t.Fatalf("%d → %q → %d, %v", want, want, got, err)
		}
	})
}

// eachField runs f for every field of Limits, so that a new one is covered by
// every test here from its first day.
func eachField(t *testing.T, f func(t *testing.T, name string, set func(*Limits, int64))) {
	typ := reflect.TypeFor[Limits]()
	for i := range typ.NumField() {
		name := jsonName(typ.Field(i))
		t.Run(name, func(t *testing.T) {
			f(t, name, func(l *Limits, n int64) { reflect.ValueOf(l).Elem().Field(i).SetInt(n) })
		})
	}
}

func TestLimitsByField(t *testing.T) {
	eachField(t, func(t *testing.T, name string, set func(*Limits, int64)) {
		var one, two, negative Limits
		set(&one, 1)
		set(&two, 2)
		set(&negative, -1)

		if name == "" {
			t.Error("has no JSON name")
		}
		if one.Or(two) != one || (Limits{}).Or(two) != two {
			t.Error("Or does not fill the zero field alone")
		}
		if field, _, _, above := two.Above(one); !above || field != name {
			t.Errorf("Above = %q, %v", field, above)
		}
		if field, _, _, above := one.Above(one); above {
			t.Errorf("Above of equals = %q", field)
		}
		if field, is := negative.Negative(); !is || field != name {
			t.Errorf("Negative = %q, %v", field, is)
		}
		if two.Capped(one) != one || one.Capped(two) != one {
			t.Error("capped does not lower the field")
		}
		if field, _, _, above := DefaultLimits().Above(DefaultMaxima()); above {
			t.Errorf("the default %s is above its maximum", field)
		}

		asked := DefaultMaxima()
		set(&asked, reflect.ValueOf(DefaultMaxima()).FieldByIndex(indexOf(name)).Int()+1)
		if _, err := (Policy{}).Narrow(asked); err == nil || !strings.Contains(err.Error(), "limits."+name) {
			t.Errorf("Narrow above the maximum: %v", err)
		}
		if _, err := (Policy{}).Narrow(negative); err == nil || !strings.Contains(err.Error(), "limits."+name+" is negative") {
			t.Errorf("Narrow of a negative: %v", err)
		}
	})
	if field, is := DefaultLimits().Negative(); is {
		t.Errorf("Negative = %q", field)
	}
}

func indexOf(name string) []int {
	typ := reflect.TypeFor[Limits]()
	for i := range typ.NumField() {
		if jsonName(typ.Field(i)) == name {
			return []int{i}
		}
	}
	return nil
}

// A Document's limits have the same names in the same order, in JSON and YAML.
func TestDocumentLimitsMirrorLimits(t *testing.T) {
	limits, document := reflect.TypeFor[Limits](), reflect.TypeFor[DocumentLimits]()
	if limits.NumField() != document.NumField() {
		t.Fatalf("%d fields against %d", limits.NumField(), document.NumField())
	}
	for i := range limits.NumField() {
		if a, b := limits.Field(i), document.Field(i); a.Name != b.Name || a.Tag != b.Tag {
			t.Errorf("%s `%s` against %s `%s`", a.Name, a.Tag, b.Name, b.Tag)
		}
	}
}

func TestNarrow(t *testing.T) {
	p := Policy{Limits: Limits{Memory: 100 * MiB}, Maxima: Limits{Memory: 200 * MiB, WallTime: Duration(5 * time.Second)}}
	got, err := p.Narrow(Limits{CPUTime: Duration(time.Second)})
	want := DefaultLimits()
	want.Memory, want.WallTime, want.CPUTime = 100*MiB, Duration(5*time.Second), Duration(time.Second)
	if err != nil || got != want {
		t.Errorf("Narrow = %+v, %v; want %+v", got, err, want)
	}
	for _, tt := range []struct {
		asked Limits
		words string
	}{
		{Limits{Memory: 200*MiB + 1}, "limits.memory is 209715201B, above the policy's maximum of 200MiB"},
		{Limits{WallTime: Duration(6 * time.Second)}, "limits.wall_time is 6s, above the policy's maximum of 5s"},
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
		floor := Limits{OpenFiles: minOpenFiles, Memory: minMemory}
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

// A wall time that a request asks for is CPU time as well.
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
