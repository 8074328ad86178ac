package admission

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/run"
)

// Many requests arrive, wait, give up, are refused and end concurrently: the bounds always
// hold, and at the end nothing is left.
func TestHammer(t *testing.T) {
	const callers, each, concurrent, own = 8, 300, 5, 2
	l := NewLine(Options{Concurrent: concurrent, Queue: 16})
	bound := NewBound(concurrent - 1)
	var running, turns, sent, gone atomic.Int64
	var runningOf [callers]atomic.Int64
	var all sync.WaitGroup
	for who := range callers {
		for range 4 {
			all.Go(func() {
				for i := range each {
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%7)*time.Millisecond)
					caller := &Caller{Name: fmt.Sprint(who), Quota: Quota{Concurrent: own, Rate: 100_000, Burst: 1 + i%9}, Patience: 20 * time.Millisecond}
					resource := []*Bound{nil, bound}[who%2]
					turn, err := l.Enter(WithCaller(ctx, caller), resource)
					switch {
					case err == nil:
						turns.Add(1)
						if n := running.Add(1); n > concurrent {
							t.Errorf("%d at once", n)
						}
						if n := runningOf[who].Add(1); n > own {
							t.Errorf("%d of one caller at once", n)
						}
						<-time.After(time.Duration(i%3) * 100 * time.Microsecond)
						runningOf[who].Add(-1)
						running.Add(-1)
						turn.Leave()
					case errors.Is(err, run.ErrBusy):
						sent.Add(1)
					case errors.Is(err, context.DeadlineExceeded):
						gone.Add(1)
					default:
						t.Error(err)
					}
					cancel()
				}
			})
		}
	}
	all.Wait()
	if got := l.Stats(); got.Running != 0 || got.Waiting != 0 || got.Refused != uint64(sent.Load()) {
		t.Errorf("%+v at the end, with %d refused", got, sent.Load())
	}
	if bound.running != 0 {
		t.Errorf("%d turns of the resource are left", bound.running)
	}
	if l.ring.Len() != 0 {
		t.Errorf("%d still in the ring", l.ring.Len())
	}
	if turns.Load() == 0 || sent.Load() == 0 || gone.Load() == 0 {
		t.Errorf("%d turns, %d refused, %d gave up: too little was tested", turns.Load(), sent.Load(), gone.Load())
	}
}

// A caller that floods the line hardly delays another with few requests.
func TestHammerByOneCaller(t *testing.T) {
	l := NewLine(Options{Concurrent: 2, Queue: 8})
	ctx, stop := context.WithCancel(t.Context())
	var flood sync.WaitGroup
	for range 32 {
		flood.Go(func() {
			for ctx.Err() == nil {
				if turn, err := l.Enter(callerContext(ctx, "flood", Quota{}), nil); err == nil {
					<-time.After(time.Millisecond)
					turn.Leave()
				}
			}
		})
	}
	for range 100 {
		turn, err := l.Enter(callerContext(t.Context(), "quiet", Quota{}), nil)
		if err != nil {
			t.Fatalf("shut out: %v", err)
		}
		turn.Leave()
	}
	stop()
	flood.Wait()
}
