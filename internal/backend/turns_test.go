package backend

import (
	"context"
	"errors"
	"testing"

	"github.com/cordon-sandbox/cordon/run"
)

func TestTurns(t *testing.T) {
	gate := NewGate(nil)
	turns := NewTurns()
	leave, err := turns.Enter(t.Context(), gate)
	if err != nil {
		t.Fatal(err)
	}
	if turns.Try() {
		t.Error("two have the turn")
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := turns.Enter(ended, gate); !errors.Is(err, context.Canceled) {
		t.Errorf("a use whose context ended waits: %v", err)
	}
	leave()

	// A use that the gate refuses does not keep the turn.
	closed := NewGate(nil)
	closed.Close()
	if _, err := turns.Enter(t.Context(), closed); !errors.Is(err, run.ErrClosed) {
		t.Errorf("%v", err)
	}
	if !turns.Try() {
		t.Fatal("nobody has the turn, and it is not free")
	}

	// The end is for those who come later, and for those who wait.
	over := errors.New("over")
	refused := make(chan error)
	go func() {
		_, err := turns.Enter(t.Context(), gate)
		refused <- err
	}()
	turns.End(over)
	turns.Leave()
	if err := <-refused; !errors.Is(err, over) {
		t.Errorf("who waited: %v", err)
	}
	if err := turns.Take(); !errors.Is(err, over) {
		t.Errorf("%v", err)
	}
	if turns.Try() {
		t.Error("a turn after the end")
	}
	if _, err := turns.Enter(t.Context(), gate); !errors.Is(err, over) {
		t.Errorf("%v", err)
	}
}
