package admission

import (
	"fmt"
	"time"

	"github.com/cordon-sandbox/cordon/run"
)

// The bounds of RetryAfter: a second is the unit of the Retry-After header, and an estimate
// of more than a minute is not reliable.
const (
	shortestRetry = time.Second
	longestRetry  = time.Minute
)

// Busy is the error of a request that is refused because of a bound.
type Busy struct {
	// RetryAfter is how long to wait before a retry, in whole seconds.
	RetryAfter time.Duration
	// Reason names the bound that was reached.
	Reason string
}

// NewBusy returns the error of a request that reached a bound outside the line.
func NewBusy(reason string) error { return run.Wrap(run.Busy, newBusy(shortestRetry, "%s", reason)) }

func newBusy(after time.Duration, format string, args ...any) *Busy {
	after = min(max(after, shortestRetry), longestRetry)
	return &Busy{
		RetryAfter: (after + time.Second - 1).Truncate(time.Second),
		Reason:     fmt.Sprintf(format, args...),
	}
}

func (b *Busy) Error() string {
	words := "too many requests"
	if b.Reason != "" {
		words += ": " + b.Reason
	}
	return words + ": try again in " + b.RetryAfter.String()
}
