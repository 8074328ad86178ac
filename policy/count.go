package policy

import (
	"fmt"
	"strconv"
	"strings"
)

// Count is a number of instructions. Its text form may have a multiplier: "50M" is
// fifty million.
type Count int64

// multipliers are decimal, because instructions are not counted in powers of two. The
// largest comes first.
var multipliers = []struct {
	suffix string
	size   Count
}{{"T", 1e12}, {"G", 1e9}, {"M", 1e6}, {"k", 1e3}}

// ParseCount parses a number such as "50M". The multiplier is optional.
func ParseCount(text string) (Count, error) {
	s := strings.TrimSpace(text)
	positive := strings.TrimPrefix(s, "-")
	suffix := strings.TrimLeft(positive, "0123456789.")
	number := strings.TrimSuffix(positive, suffix)
	size := Count(1)
	for _, m := range multipliers {
		if strings.EqualFold(suffix, m.suffix) {
			size, suffix = m.size, ""
		}
	}
	switch {
	case !isDecimal(number), suffix != "":
		return 0, fmt.Errorf("%s is not a number of instructions: write a number, optionally with k, M, G or T, like 50M", quote(text))
	case positive != s:
		return 0, fmt.Errorf("%s is negative: a number of instructions is zero or more", quote(text))
	}
	n, err := wholeMultiple(number, int64(size))
	if err != nil {
		return 0, fmt.Errorf("%s %w", quote(text), err)
	}
	return Count(n), nil
}

// String returns the shortest exact form.
func (c Count) String() string {
	for _, m := range multipliers {
		if c >= m.size && c%m.size == 0 {
			return strconv.FormatInt(int64(c/m.size), 10) + m.suffix
		}
	}
	return strconv.FormatInt(int64(c), 10)
}

// MarshalText writes the number with its multiplier, for JSON and YAML.
func (c Count) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText parses a number with or without a multiplier.
func (c *Count) UnmarshalText(text []byte) error {
	v, err := ParseCount(string(text))
	if err != nil {
		return err
	}
	*c = v
	return nil
}
