package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/cordon-sandbox/cordon/policy"
)

var errZero = errors.New(`is zero: leave it out for the default (there is no "no limit")`)

// Measured returns a flag whose value carries a unit.
func Measured[T time.Duration | policy.Bytes](value *T, parse func(string) (T, error)) pflag.Value {
	return &measure[T]{value, parse}
}

// Counted returns a flag for a positive whole number.
func Counted(value *int) pflag.Value { return &count{value} }

// Limited gives the flag of a limit, which sets it in limits.
func Limited(limits *policy.Limits, limit policy.Limit) pflag.Value {
	return &limitValue{limits, limit}
}

type limitValue struct {
	limits *policy.Limits
	limit  policy.Limit
}

func (v *limitValue) Set(text string) error {
	amount, err := v.limit.Parse(text)
	switch {
	case err != nil:
		return err
	case amount == 0:
		return errZero
	case amount < 0:
		return fmt.Errorf("%d is negative", amount)
	}
	v.limit.Set(v.limits, amount)
	return nil
}

func (v *limitValue) String() string {
	if v.limits == nil || v.limit.Of(*v.limits) == 0 {
		return ""
	}
	return v.limit.Text(v.limit.Of(*v.limits))
}

func (v *limitValue) Type() string {
	switch v.limit.Kind {
	case policy.KindDuration:
		return "TIME"
	case policy.KindBytes:
		return "SIZE"
	}
	return "N"
}

// measure is a flag whose value carries a unit.
type measure[T time.Duration | policy.Bytes] struct {
	value *T
	parse func(string) (T, error)
}

func (m *measure[T]) Set(text string) error {
	v, err := m.parse(text)
	if err == nil && v == 0 {
		err = errZero
	}
	*m.value = v
	return err
}

func (m *measure[T]) String() string {
	if m.value == nil || *m.value == 0 {
		return ""
	}
	if d, is := any(*m.value).(time.Duration); is {
		return policy.FormatDuration(d)
	}
	return fmt.Sprint(*m.value)
}

func (m *measure[T]) Type() string {
	if _, size := any(*new(T)).(policy.Bytes); size {
		return "SIZE"
	}
	return "TIME"
}

// count is a flag for a positive whole number.
type count struct{ value *int }

func (c *count) Set(text string) error {
	var n int
	if _, err := fmt.Sscanf(text, "%d", &n); err != nil || fmt.Sprint(n) != text {
		return fmt.Errorf("%q is not a whole number", text)
	}
	switch {
	case n == 0:
		return errZero
	case n < 0:
		return fmt.Errorf("%d is negative", n)
	}
	*c.value = n
	return nil
}

func (c *count) String() string {
	if c.value == nil || *c.value == 0 {
		return ""
	}
	return fmt.Sprint(*c.value)
}

func (c *count) Type() string { return "N" }
