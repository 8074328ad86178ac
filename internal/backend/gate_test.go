package backend

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/cordon-sandbox/cordon/run"
)

func TestGateCloseWaitsForRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(nil)
		first, err := g.Enter(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		second, err := g.Enter(t.Context())
		if err != nil || g.Running() != 2 || g.Busy() != 2 {
			t.Fatalf("%d are inside: %v", g.Running(), err)
		}
		first.Leave()
		first.Leave() // once is enough, and more does no harm
		closed := make(chan struct{})
		go func() {
			g.Close()
			close(closed)
		}()
		<-g.Closed()
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := g.Enter(ended); !errors.Is(err, context.Canceled) {
			t.Errorf("a run whose context has ended: %v", err)
		}
		if _, err := g.Enter(t.Context()); !errors.Is(err, run.ErrClosed) || g.IsOpen() {
			t.Errorf("a run that comes to a closed gate: %v", err)
		}
		synctest.Wait()
		select {
		case <-closed:
			t.Error("closed before the last run has left")
		default:
		}
		if g.Running() != 1 || g.Busy() != 0 {
			t.Errorf("%d are inside, and %d are busy", g.Running(), g.Busy())
		}
		second.Leave()
		<-closed
	})
}

func TestGatesShareLoad(t *testing.T) {
	load := &Load{}
	scripts, modules := NewGate(load), NewGate(load)
	one, err := scripts.Enter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	alone := scripts.Patience() // none on a host with one processor
	other, err := modules.Enter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if scripts.Running() != 1 || scripts.Patience() != 0 {
		t.Errorf("beside a run of another tier: %v", scripts.Patience())
	}
	other.Leave()
	if scripts.Patience() != alone {
		t.Errorf("alone: %v", scripts.Patience())
	}
	one.Leave()
}
