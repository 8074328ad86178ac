package backend

import (
	"context"
	"io"
	"sync/atomic"
)

// Lazy starts a value on first use; concurrent callers wait until it is ready or their
// context ends. After a failed start the next caller tries again.
type Lazy[T io.Closer] struct {
	start   func(context.Context) (T, error)
	turn    chan struct{} // has one token: its holder may change the rest
	started atomic.Pointer[T]
	closed  bool
}

// NewLazy says how it is started.
func NewLazy[T io.Closer](start func(context.Context) (T, error)) *Lazy[T] {
	l := &Lazy[T]{start: start, turn: make(chan struct{}, 1)}
	l.turn <- struct{}{}
	return l
}

// Get gives what was started.
func (l *Lazy[T]) Get(ctx context.Context) (value T, err error) {
	if there := l.started.Load(); there != nil {
		return *there, nil
	}
	select {
	case <-l.turn:
		defer func() { l.turn <- struct{}{} }()
	case <-ctx.Done():
		return value, ctx.Err()
	}
	if there := l.started.Load(); there != nil {
		return *there, nil
	}
	if l.closed {
		return value, ErrClosed()
	}
	if value, err = l.start(ctx); err == nil {
		l.started.Store(&value)
	}
	return value, err
}

// Started gives what was started, if it was. It waits for nobody.
func (l *Lazy[T]) Started() (value T, was bool) {
	if there := l.started.Load(); there != nil {
		return *there, true
	}
	return value, false
}

// Close waits for a start that is under way, allows no other, and closes what was
// started.
func (l *Lazy[T]) Close() error {
	<-l.turn
	defer func() { l.turn <- struct{}{} }()
	l.closed = true
	if there := l.started.Load(); there != nil {
		return (*there).Close()
	}
	return nil
}
