package admission

import (
	"fmt"
	"time"
)

// The bounds of what is said to who is sent away: a second is the unit of Retry-After, and
// after a minute nothing is known.
const (
	shortestRetry = time.Second
	longestRetry  = time.Minute
)

// Busy is the error of who is sent away.
type Busy struct {
	// RetryAfter is when it is worth trying again, in whole seconds.
	RetryAfter time.Duration
	// Reason says which bound was reached.
	Reason string
}

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
