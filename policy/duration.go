package policy

import (
	"fmt"
	"strings"
	"time"
)

// ParseDuration parses a duration with its unit: "2s", "500ms", "1m30s".
func ParseDuration(text string) (time.Duration, error) {
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
	return d, nil
}

// FormatDuration returns the form that ParseDuration parses, without the zeros that
// time.Duration leaves at the end: "1m", not "1m0s".
func FormatDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
