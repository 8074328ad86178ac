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
	lock    chan struct{} // holds one token, which its receiver returns after a start
	started atomic.Pointer[T]
	closed  bool
}

// NewLazy returns a Lazy that calls start on first use.
func NewLazy[T io.Closer](start func(context.Context) (T, error)) *Lazy[T] {
	l := &Lazy[T]{start: start, lock: make(chan struct{}, 1)}
	l.lock <- struct{}{}
	return l
}

// Get returns the value, and starts it if necessary.
func (l *Lazy[T]) Get(ctx context.Context) (value T, err error) {
	if started := l.started.Load(); started != nil {
		return *started, nil
	}
	select {
	case <-l.lock:
		defer func() { l.lock <- struct{}{} }()
	case <-ctx.Done():
		return value, ctx.Err()
	}
	if started := l.started.Load(); started != nil {
		return *started, nil
	}
	if l.closed {
		return value, ErrClosed()
	}
	if value, err = l.start(ctx); err == nil {
		l.started.Store(&value)
	}
	return value, err
}

// Started returns the value if it was started. It does not wait.
func (l *Lazy[T]) Started() (value T, ok bool) {
	if started := l.started.Load(); started != nil {
		return *started, true
	}
	return value, false
}

// Close waits for a start in progress, closes the value, and refuses all later uses.
func (l *Lazy[T]) Close() error {
	<-l.lock
	defer func() { l.lock <- struct{}{} }()
	l.closed = true
	if started := l.started.Swap(nil); started != nil {
		return (*started).Close()
	}
	return nil
}
