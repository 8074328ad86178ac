package policy

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Bytes is an amount of memory, disk or output. Its text form always carries
// a unit ("64MiB"), so that nobody has to guess what 256 meant.
type Bytes int64

// The units that a size may be written in.
const (
	Byte Bytes = 1
	KiB        = 1024 * Byte
	MiB        = 1024 * KiB
	GiB        = 1024 * MiB
)

// units in the order in which suffixes are tried: the longest first, so that
// "MiB" is not read as "B". A bare K, M or G means the binary unit, as in the
// memory flags of every container tool.
var units = []struct {
	suffix string
	size   Bytes
}{
	{"KiB", KiB}, {"MiB", MiB}, {"GiB", GiB},
	{"kB", 1000}, {"KB", 1000}, {"MB", 1000 * 1000}, {"GB", 1000 * 1000 * 1000},
	{"K", KiB}, {"M", MiB}, {"G", GiB}, {"k", KiB}, {"m", MiB}, {"g", GiB},
	{"B", Byte},
}

// ParseBytes reads a size with its unit.
func ParseBytes(text string) (Bytes, error) {
	s := strings.TrimSpace(text)
	for _, u := range units {
		number, ok := strings.CutSuffix(s, u.suffix)
		if !ok {
			continue
		}
		f, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			return 0, fmt.Errorf("%q is not a size: write a number and a unit, like 64MiB", text)
		}
		if f < 0 {
			return 0, fmt.Errorf("%q is negative: a size is zero or more", text)
		}
		if f*float64(u.size) >= math.MaxInt64 {
			return 0, fmt.Errorf("%q is too large for a size", text)
		}
		return Bytes(f * float64(u.size)), nil
	}
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return 0, fmt.Errorf("%q has no unit: write %sB, %sKiB, %sMiB or %sGiB", text, s, s, s, s)
	}
	return 0, fmt.Errorf("%q is not a size: write a number and a unit, like 64MiB", text)
}

// String gives the shortest exact or nearly exact form: "64MiB", "1.5GiB".
func (b Bytes) String() string {
	for _, u := range []struct {
		suffix string
		size   Bytes
	}{{"GiB", GiB}, {"MiB", MiB}, {"KiB", KiB}} {
		if b >= u.size {
			return strings.TrimSuffix(strconv.FormatFloat(float64(b)/float64(u.size), 'f', 1, 64), ".0") + u.suffix
		}
	}
	return strconv.FormatInt(int64(b), 10) + "B"
}

// MarshalText lets a size stand in JSON and YAML with its unit.
func (b Bytes) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalText refuses a size without a unit.
func (b *Bytes) UnmarshalText(text []byte) error {
	v, err := ParseBytes(string(text))
	if err != nil {
		return err
	}
	*b = v
	return nil
}
