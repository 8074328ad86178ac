package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/cordon-sandbox/cordon/policy"
)

var errZero = errors.New(`is zero: leave it out for the default (there is no "no limit")`)

// Measured gives a flag whose value carries a unit.
func Measured[T policy.Duration | policy.Bytes | policy.Count](value *T, parse func(string) (T, error)) pflag.Value {
	return &measure[T]{value, parse}
}

// Counted gives a flag that is a plain number, above zero.
func Counted(value *int) pflag.Value { return &count{value} }

// measure is a flag whose value carries a unit.
type measure[T policy.Duration | policy.Bytes | policy.Count] struct {
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
	return fmt.Sprint(*m.value)
}

func (m *measure[T]) Type() string {
	switch any(*new(T)).(type) {
	case policy.Bytes:
		return "SIZE"
	case policy.Count:
		return "N"
	}
	return "TIME"
}

// count is a flag that is a plain number.
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
