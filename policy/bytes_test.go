package policy

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseBytes(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want Bytes
	}{
		{"0B", 0}, {"1B", 1}, {"64KiB", 64 * KiB}, {"256MiB", 256 * MiB}, {"4GiB", 4 * GiB},
		{"1.5GiB", 1536 * MiB}, {" 64 MiB ", 64 * MiB}, {"1kB", 1000}, {"1KB", 1000}, {"2MB", 2e6}, {"1GB", 1e9},
		{"1K", KiB}, {"1k", KiB}, {"512M", 512 * MiB}, {"512m", 512 * MiB}, {"2G", 2 * GiB}, {"2g", 2 * GiB},
		{"0.3KiB", 307}, {"007B", 7},
		{"9223372036854775807B", math.MaxInt64}, // a float would round it to 2^63
		{"8589934591GiB", 8589934591 * GiB},
	} {
		if got, err := ParseBytes(tt.in); err != nil || got != tt.want {
			t.Errorf("ParseBytes(%q) = %d, %v; want %d", tt.in, got, err, tt.want)
		}
	}
}

func TestParseBytesRefuses(t *testing.T) {
	for _, tt := range []struct{ in, words string }{
		{"", "is not a size"}, {" ", "is not a size"}, {"MiB", "is not a size"}, {"lots", "is not a size"},
		{"256", "has no unit: write 256B, 256KiB, 256MiB or 256GiB"}, {"1.5", "has no unit"}, {"-1", "has no unit"},
		{"64Mb", `has an unknown unit "Mb"`}, {"64mib", "unknown unit"}, {"1TiB", "unknown unit"}, {"1e3B", "unknown unit"},
		{"-1MiB", "is negative"}, {"--1MiB", "is not a size"}, {"+1MiB", "is not a size"},
		{"9223372036854775808B", "too large"}, {"8589934592GiB", "too large"},
		{"0.5B", "is less than one"}, {"1.2.3MiB", "is not a size"}, {".5MiB", "is not a size"}, {"5.MiB", "is not a size"},
		{"0x10MiB", "unknown unit"}, {"1_000B", "unknown unit"}, {"InfMiB", "is not a size"}, {"NaNB", "is not a size"},
		{strings.Repeat("9", 1<<20) + "B", "is not a size"},
	} {
		_, err := ParseBytes(tt.in)
		if err == nil || !strings.Contains(err.Error(), tt.words) {
			t.Errorf("ParseBytes(%.20q): error %v; want %q", tt.in, err, tt.words)
		}
		if err != nil && len(err.Error()) > 300 {
			t.Errorf("ParseBytes(%.20q): the message has %d bytes", tt.in, len(err.Error()))
		}
	}
}

func TestBytesString(t *testing.T) {
	for _, tt := range []struct {
		b              Bytes
		exact, rounded string
	}{
		{0, "0B", "0B"}, {-3, "-3B", "-3B"}, {1000, "1000B", "1000B"}, {KiB, "1KiB", "1KiB"}, {1536, "1.5KiB", "1.5KiB"},
		{1537, "1537B", "1.5KiB"}, {256 * MiB, "256MiB", "256MiB"}, {1536 * MiB, "1.5GiB", "1.5GiB"},
		{256*MiB + 1, "268435457B", "256MiB"}, {31*MiB + 200*KiB, "31944KiB", "31.2MiB"},
	} {
		if tt.b.String() != tt.exact || tt.b.Rounded() != tt.rounded {
			t.Errorf("%d: String %q, Rounded %q; want %q, %q", int64(tt.b), tt.b, tt.b.Rounded(), tt.exact, tt.rounded)
		}
	}
}

func TestBytesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := Bytes(rapid.Int64Min(0).Draw(t, "bytes"))
		if got, err := ParseBytes(want.String()); err != nil || got != want {
			t.Fatalf("%d → %q → %d, %v", int64(want), want, int64(got), err)
		}
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got Bytes
		if err := json.Unmarshal(text, &got); err != nil || got != want {
			t.Fatalf("%d → %s → %d, %v", int64(want), text, int64(got), err)
		}
	})
}

func FuzzParseBytes(f *testing.F) {
	for _, seed := range []string{"64MiB", "1.5GiB", "256", "-1B", "", "1e9B", "٣MiB"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		b, err := ParseBytes(text)
		if err != nil {
			return
		}
		if b < 0 {
			t.Errorf("%q gave %d", text, int64(b))
		}
		if again, err := ParseBytes(b.String()); err != nil || again != b {
			t.Errorf("%q → %d → %q → %d, %v", text, int64(b), b, int64(again), err)
		}
	})
}
