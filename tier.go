package cordon

import (
	"context"
	"sync/atomic"

	"github.com/cordon-sandbox/cordon/internal/backend"
)

// tier is started with the Runner, or by the first request for it. Who comes while
// it starts waits, as long as its context lasts; other tiers go on meanwhile.
type tier[B backend.Backend] struct {
	start   func(context.Context) (B, error)
	turn    chan struct{} // holds one, for whoever changes the rest
	started atomic.Pointer[B]
	closed  bool
}

func newTier[B backend.Backend](start func(context.Context) (B, error)) *tier[B] {
	t := &tier[B]{start: start, turn: make(chan struct{}, 1)}
	t.turn <- struct{}{}
	return t
}

func (t *tier[B]) get(ctx context.Context) (b B, err error) {
	if there := t.started.Load(); there != nil {
		return *there, nil
	}
	select {
	case <-t.turn:
		defer func() { t.turn <- struct{}{} }()
	case <-ctx.Done():
		return b, ctx.Err()
	}
	if there := t.started.Load(); there != nil {
		return *there, nil
	}
	if t.closed {
		return b, backend.ErrClosed()
	}
	if b, err = t.start(ctx); err == nil {
		t.started.Store(&b)
	}
	return b, err
}

// close waits for a start that is under way, and allows no other.
func (t *tier[B]) close() error {
	<-t.turn
	defer func() { t.turn <- struct{}{} }()
	t.closed = true
	if there := t.started.Load(); there != nil {
		return (*there).Close()
	}
	return nil
}
