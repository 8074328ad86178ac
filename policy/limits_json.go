package policy

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/cordon-sandbox/cordon/internal/plainjson"
)

// NumberKey returns the key for the amount as a plain number, which ends in the unit, like
// wall_time_ms and memory_bytes.
func (l Limit) NumberKey() string {
	switch l.Kind {
	case KindDuration:
		return l.Key + "_ms"
	case KindBytes:
		return l.Key + "_bytes"
	}
	return l.Key
}

// AppendNumber adds an amount to text, as a JSON number in the unit of NumberKey.
func (l Limit) AppendNumber(text []byte, amount int64) []byte {
	if l.Kind == KindDuration {
		return plainjson.AppendMilliseconds(text, time.Duration(amount))
	}
	return strconv.AppendInt(text, amount, 10)
}

// ParseNumber parses the form that AppendNumber writes.
func (l Limit) ParseNumber(text string) (int64, error) {
	unit := 1.0
	if l.Kind == KindDuration {
		unit = float64(time.Millisecond)
	} else if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, nil // exact also above 2^53
	}
	n, err := strconv.ParseFloat(text, 64)
	if amount := n * unit; err == nil && math.Abs(amount) < math.MaxInt64 && (amount == 0 || math.Abs(amount) >= 1) {
		return int64(math.Round(amount)), nil
	}
	return 0, fmt.Errorf("%s is not a number in range", quote(text))
}

// MarshalJSON writes the limits that are set, as numbers: {"memory_bytes": 67108864}.
func (l Limits) MarshalJSON() ([]byte, error) {
	text := []byte{'{'}
	for _, row := range limitTable {
		amount := row.Of(l)
		if amount == 0 {
			continue
		}
		if len(text) > 1 {
			text = append(text, ',')
		}
		text = row.AppendNumber(fmt.Appendf(text, "%q:", row.NumberKey()), amount)
	}
	return append(text, '}'), nil
}

// UnmarshalJSON reads what MarshalJSON writes. It ignores keys that it does not know.
func (l *Limits) UnmarshalJSON(text []byte) error {
	var amounts map[string]json.Number
	if err := json.Unmarshal(text, &amounts); err != nil {
		return err
	}
	*l = Limits{}
	for _, row := range limitTable {
		number, set := amounts[row.NumberKey()]
		if !set {
			continue
		}
		amount, err := row.ParseNumber(string(number))
		if err != nil {
			return fmt.Errorf("%s: %w", row.NumberKey(), err)
		}
		row.Set(l, amount)
	}
	return nil
}
