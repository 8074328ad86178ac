// Package millis has the JSON form of durations in answers: a number of milliseconds, with
// the microseconds that a clock can tell. The key of such a number ends in _ms.
package millis

import (
	"fmt"
	"strconv"
	"time"
)

// Duration is a time.Duration that JSON shows as milliseconds: 1.234.
type Duration time.Duration

// String is the form for people.
func (d Duration) String() string { return time.Duration(d).String() }

// Append adds the JSON form of d to text.
func Append(text []byte, d time.Duration) []byte {
	ms := float64(d.Round(time.Microsecond)) / float64(time.Millisecond)
	return strconv.AppendFloat(text, ms, 'f', -1, 64)
}

// Parse reads what Append writes.
func Parse(text []byte) (time.Duration, error) {
	ms, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a number of milliseconds", text)
	}
	return time.Duration(ms * float64(time.Millisecond)).Round(time.Microsecond), nil
}

// MarshalJSON writes the milliseconds.
func (d Duration) MarshalJSON() ([]byte, error) { return Append(nil, time.Duration(d)), nil }

// UnmarshalJSON reads the milliseconds.
func (d *Duration) UnmarshalJSON(text []byte) error {
	parsed, err := Parse(text)
	if err == nil {
		*d = Duration(parsed)
	}
	return err
}
