package plainjson

import (
	"fmt"
	"strconv"
	"time"
)

// Milliseconds is a duration that JSON shows as a number of milliseconds, with the
// microseconds that a clock can tell: 1.234. Its key ends in _ms.
type Milliseconds time.Duration

// String is the form for people.
func (d Milliseconds) String() string { return time.Duration(d).String() }

// AppendMilliseconds adds the JSON form of d to text.
func AppendMilliseconds(text []byte, d time.Duration) []byte {
	ms := float64(d.Round(time.Microsecond)) / float64(time.Millisecond)
	return strconv.AppendFloat(text, ms, 'f', -1, 64)
}

// MarshalJSON writes the milliseconds.
func (d Milliseconds) MarshalJSON() ([]byte, error) {
	return AppendMilliseconds(nil, time.Duration(d)), nil
}

// UnmarshalJSON reads the milliseconds.
func (d *Milliseconds) UnmarshalJSON(text []byte) error {
	ms, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return fmt.Errorf("%q is not a number of milliseconds", text)
	}
	*d = Milliseconds(time.Duration(ms * float64(time.Millisecond)).Round(time.Microsecond))
	return nil
}
