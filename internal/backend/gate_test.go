package backend

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/cordon-sandbox/cordon/run"
)

func TestGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(1, 1)
		if err := g.Enter(t.Context()); err != nil {
			t.Fatal(err)
		}
		second := make(chan error, 1)
		go func() { second <- g.Enter(t.Context()) }()
		synctest.Wait() // it waits for its turn
		if err := g.Enter(t.Context()); !errors.Is(err, run.ErrBusy) {
			t.Errorf("a third, with room for one to wait: %v", err)
		}
		g.Leave()
		if err := <-second; err != nil {
			t.Errorf("the second has its turn: %v", err)
		}

		ctx, cancel := context.WithCancel(t.Context())
		third := make(chan error, 1)
		go func() { third <- g.Enter(ctx) }()
		synctest.Wait()
		cancel()
		if err := <-third; !errors.Is(err, context.Canceled) {
			t.Errorf("one that gives up: %v", err)
		}

		waiting, closed := make(chan error, 1), make(chan struct{})
		go func() { waiting <- g.Enter(t.Context()) }()
		synctest.Wait()
		go func() {
			g.Close()
			close(closed)
		}()
		if err := <-waiting; !errors.Is(err, run.ErrClosed) {
			t.Errorf("one that waits when it closes: %v", err)
		}
		g.Leave() // the last run
		<-closed
		if err := g.Enter(t.Context()); !errors.Is(err, run.ErrClosed) {
			t.Errorf("one that comes after: %v", err)
		}
	})
}
