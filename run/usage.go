package run

import (
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/cordon-sandbox/cordon/policy"
)

// Usage is what a run used; its fields are named like those of Limits.
type Usage struct {
	WallTime policy.Duration `json:"wall_time"`
	CPUTime  policy.Duration `json:"cpu_time"`
	Memory   policy.Bytes    `json:"memory"`
	Output   policy.Bytes    `json:"output"`
	// Result is the size of the value and the variables as JSON.
	Result policy.Bytes `json:"result"`
	// Fuel is there for modules alone.
	Fuel policy.Count `json:"fuel,omitempty"`
}

// Of gives the amount of a limit that was used: nanoseconds, bytes or a number. It is zero
// for a limit that is not measured.
func (u Usage) Of(limit policy.Limit) int64 {
	for f, value := range reflect.ValueOf(u).Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name == limit.Key {
			return value.Int()
		}
	}
	return 0
}

// Amounts are what was used in words: "31.2MiB of memory".
func (u Usage) Amounts() (amounts []string) {
	for _, limit := range policy.LimitTable() {
		if n := u.Of(limit); n != 0 {
			amounts = append(amounts, amountText(limit.Kind, n)+limit.Name)
		}
	}
	return amounts
}

// amountText is the form for measured amounts, of which nobody wants every digit.
func amountText(kind policy.LimitKind, n int64) string {
	switch kind {
	case policy.KindDuration:
		return policy.Duration(time.Duration(n).Round(10*time.Microsecond)).String() + " of "
	case policy.KindBytes:
		return policy.Bytes(n).Rounded() + " of "
	}
	return strconv.FormatInt(n, 10) + " "
}
