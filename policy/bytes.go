package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/text"
)

// Bytes is an amount of memory, disk or output. Its text form always has a
// unit ("64MiB"), so that no reader has to guess what 256 means.
type Bytes int64

// Units of sizes.
const (
	Byte Bytes = 1
	KiB        = 1024 * Byte
	MiB        = 1024 * KiB
	GiB        = 1024 * MiB
)

// units are the suffixes that ParseBytes accepts. A bare K, M or G is the
// binary unit, as in the memory flags of container tools.
var units = map[string]Bytes{
	"B":   Byte,
	"KiB": KiB, "MiB": MiB, "GiB": GiB,
	"kB": 1000, "KB": 1000, "MB": 1000 * 1000, "GB": 1000 * 1000 * 1000,
	"K": KiB, "M": MiB, "G": GiB, "k": KiB, "m": MiB, "g": GiB,
}

// binaryUnits are the suffixes that String writes, the largest first.
var binaryUnits = []struct {
	suffix string
	size   Bytes
}{{"GiB", GiB}, {"MiB", MiB}, {"KiB", KiB}}

// ParseBytes parses a size such as "64MiB". The unit is required.
func ParseBytes(text string) (Bytes, error) {
	s := strings.TrimSpace(text)
	positive := strings.TrimPrefix(s, "-")
	unit := strings.TrimLeft(positive, "0123456789.")
	number := strings.TrimSuffix(positive, unit)
	unit = strings.TrimSpace(unit)
	size, known := units[unit]
	switch {
	case !isDecimal(number):
		return 0, fmt.Errorf("%s is not a size: write a number and a unit, like 64MiB", quote(text))
	case unit == "":
		return 0, fmt.Errorf("%s has no unit: write %sB, %[2]sKiB, %[2]sMiB or %[2]sGiB", quote(text), positive)
	case !known:
		return 0, fmt.Errorf("%s has an unknown unit %s: write B, KiB, MiB or GiB", quote(text), quote(unit))
	case positive != s:
		return 0, fmt.Errorf("%s is negative: a size is zero or more", quote(text))
	}
	n, err := wholeMultiple(number, int64(size))
	if err != nil {
		return 0, fmt.Errorf("%s %w", quote(text), err)
	}
	return Bytes(n), nil
}

// wholeMultiple returns a decimal number times a unit, as a whole number.
func wholeMultiple(number string, unit int64) (int64, error) {
	// A rational number, because a float loses bytes above 2^53.
	exact, _ := new(big.Rat).SetString(number)
	exact.Mul(exact, new(big.Rat).SetInt64(unit))
	whole := new(big.Int).Quo(exact.Num(), exact.Denom())
	switch {
	case !whole.IsInt64():
		return 0, errors.New("is too large")
	case whole.Sign() == 0 && exact.Sign() != 0:
		return 0, errors.New("is less than one")
	}
	return whole.Int64(), nil
}

// String returns the shortest exact form ("64MiB", "1.5GiB", "1000B"), which
// ParseBytes parses to the same size.
func (b Bytes) String() string {
	for _, u := range binaryUnits {
		switch {
		case b < u.size:
		case b%u.size == 0:
			return strconv.FormatInt(int64(b/u.size), 10) + u.suffix
		case b%(u.size/2) == 0:
			return strconv.FormatInt(int64(b/u.size), 10) + ".5" + u.suffix
		}
	}
	return strconv.FormatInt(int64(b), 10) + "B"
}

// Rounded returns a form with one decimal, for measured amounts: "31.2MiB".
func (b Bytes) Rounded() string {
	for _, u := range binaryUnits {
		if b >= u.size {
			return strings.TrimSuffix(strconv.FormatFloat(float64(b)/float64(u.size), 'f', 1, 64), ".0") + u.suffix
		}
	}
	return strconv.FormatInt(int64(b), 10) + "B"
}

// MarshalText writes the size with its unit, for JSON and YAML.
func (b Bytes) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalText parses a size. One without a unit is an error.
func (b *Bytes) UnmarshalText(text []byte) error {
	v, err := ParseBytes(string(text))
	if err != nil {
		return err
	}
	*b = v
	return nil
}

// UnmarshalJSON reads a size with its unit, or a number of bytes, as answers have it.
func (b *Bytes) UnmarshalJSON(text []byte) error {
	var number int64
	if json.Unmarshal(text, &number) == nil {
		*b = Bytes(number)
		return nil
	}
	var size string
	if err := json.Unmarshal(text, &size); err != nil {
		return err
	}
	return b.UnmarshalText([]byte(size))
}

// isDecimal accepts numbers such as "64" and "1.5", but no exponents, hexadecimal
// digits, underscores or infinity, which Go would parse too. It bounds the length,
// because the arithmetic on the number has no bound of its own.
func isDecimal(s string) bool {
	whole, fraction, dotted := strings.Cut(s, ".")
	return len(s) <= 40 && isDigits(whole) && (!dotted || isDigits(fraction))
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// quote wraps text.Quote: the parsers here have a parameter named text, which hides
// the package.
func quote(s string) string { return text.Quote(s) }
