// Package admission says whose turn it is.
package admission

import (
	"context"
	"time"

	"github.com/cordon-sandbox/cordon/run"
)

// Quota bounds one caller; zero fields mean no bound of its own.
type Quota struct {
	// Concurrent bounds the runs under way.
	Concurrent int
	// Rate is how many runs may begin in a second, and Burst how many at once.
	Rate  float64
	Burst int
}

// Options bound all callers together.
type Options struct {
	Concurrent int // runs under way
	Queue      int // requests that wait
}

// Line bounds what is under way and what waits, fairly between callers.
type Line struct {
	slots chan struct{}
	queue chan struct{}
}

// NewLine gives an empty one.
func NewLine(o Options) *Line {
	return &Line{slots: make(chan struct{}, o.Concurrent), queue: make(chan struct{}, o.Concurrent+o.Queue)}
}

// Busy is the error of who is sent away.
type Busy struct{ RetryAfter time.Duration }

func (b *Busy) Error() string { return "too many requests: try again in " + b.RetryAfter.String() }

// Enter waits for a turn. Whoever has one calls leave.
func (l *Line) Enter(ctx context.Context, _ string, _ Quota) (leave func(), err error) {
	select {
	case l.queue <- struct{}{}:
	default:
		return nil, run.Wrap(run.Busy, &Busy{RetryAfter: time.Second})
	}
	select {
	case l.slots <- struct{}{}:
		return func() { <-l.slots; <-l.queue }, nil
	case <-ctx.Done():
		<-l.queue
		return nil, ctx.Err()
	}
}
