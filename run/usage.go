package run

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"sync"
	"time"

	"github.com/cordon-sandbox/cordon/policy"
)

// Usage is what a run used. Its fields are named like those of Limits, and JSON shows
// numbers whose keys end in their unit: wall_time_ms, memory_bytes.
type Usage struct {
	WallTime time.Duration `json:"wall_time_ms"`
	CPUTime  time.Duration `json:"cpu_time_ms"`
	Memory   policy.Bytes  `json:"memory_bytes"`
	// Output is the size of stdout and stderr together.
	Output policy.Bytes `json:"output_bytes"`
	// Result is the size of the value and the variables as JSON.
	Result policy.Bytes `json:"result_bytes"`
	// Fuel is counted for modules only.
	Fuel policy.Count `json:"fuel"`
}

// measured has the limits that Usage has a field for, each with the index of its field.
var measured = sync.OnceValue(func() (found []measuredLimit) {
	for _, limit := range policy.LimitTable() {
		if field, has := reflect.TypeFor[Usage]().FieldByName(limit.Field()); has {
			found = append(found, measuredLimit{limit, `"` + limit.NumberKey() + `":`, field.Index[0]})
		}
	}
	return found
})

type measuredLimit struct {
	policy.Limit
	prefix string // its key in JSON
	index  int    // of its field in Usage
}

// MeasuredLimits returns the limits that Usage has a field for.
func MeasuredLimits() (limits []policy.Limit) {
	for _, m := range measured() {
		limits = append(limits, m.Limit)
	}
	return limits
}

// Of returns the amount of a limit that was used: nanoseconds, bytes or a number. It is zero
// for a limit that is not measured.
func (u Usage) Of(limit policy.Limit) int64 {
	for _, m := range measured() {
		if m.Key == limit.Key {
			return reflect.ValueOf(u).Field(m.index).Int()
		}
	}
	return 0
}

// Amounts returns the amounts used as text: "31.2MiB of memory".
func (u Usage) Amounts() (amounts []string) {
	for _, m := range measured() {
		if n := u.Of(m.Limit); n != 0 {
			amounts = append(amounts, amountText(m.Kind, n)+m.Name)
		}
	}
	return amounts
}

// amountText returns a measured amount as text, rounded, because nobody needs every digit.
func amountText(kind policy.LimitKind, n int64) string {
	switch kind {
	case policy.KindDuration:
		return policy.FormatDuration(time.Duration(n).Round(10*time.Microsecond)) + " of "
	case policy.KindBytes:
		return policy.Bytes(n).Rounded() + " of "
	}
	return strconv.FormatInt(n, 10) + " "
}

// MarshalJSON writes every amount, zero or not.
func (u Usage) MarshalJSON() ([]byte, error) {
	fields := reflect.ValueOf(u)
	text := []byte{'{'}
	for i, m := range measured() {
		if i > 0 {
			text = append(text, ',')
		}
		text = m.AppendNumber(append(text, m.prefix...), fields.Field(m.index).Int())
	}
	return append(text, '}'), nil
}

// UnmarshalJSON parses the form that MarshalJSON writes. It ignores unknown keys.
func (u *Usage) UnmarshalJSON(text []byte) error {
	var amounts map[string]json.Number
	if err := json.Unmarshal(text, &amounts); err != nil {
		return err
	}
	*u = Usage{}
	for _, m := range measured() {
		number, set := amounts[m.NumberKey()]
		if !set {
			continue
		}
		amount, err := m.ParseNumber(string(number))
		if err != nil {
			return fmt.Errorf("usage: %s: %w", m.NumberKey(), err)
		}
		reflect.ValueOf(u).Elem().Field(m.index).SetInt(amount)
	}
	return nil
}
