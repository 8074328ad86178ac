package policy

import (
	"fmt"
	"strings"
	"time"
)

// Duration is a span of time whose text form carries its unit ("2s").
type Duration time.Duration

// ParseDuration reads a span with its unit.
func ParseDuration(text string) (Duration, error) {
	s := strings.TrimSpace(text)
	if positive := strings.TrimPrefix(s, "-"); isDecimal(positive) {
		return 0, fmt.Errorf("%s has no unit: write %ss, %[2]sms or %[2]sm", quote(text), positive)
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, fmt.Errorf("%s is not a duration: write a number and a unit, like 500ms, 2s or 1m30s", quote(text))
	}
	if d < 0 {
		return 0, fmt.Errorf("%s is negative: a duration is zero or more", quote(text))
	}
	return Duration(d), nil
}

// Std is the standard library's view of it.
func (d Duration) Std() time.Duration { return time.Duration(d) }

// String is the form that ParseDuration reads, without the zeros that
// time.Duration leaves at the end: "1m", not "1m0s".
func (d Duration) String() string {
	s := time.Duration(d).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// MarshalText lets a span stand in JSON and YAML with its unit.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText refuses a span without a unit.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := ParseDuration(string(text))
	if err != nil {
		return err
	}
	*d = v
	return nil
}
