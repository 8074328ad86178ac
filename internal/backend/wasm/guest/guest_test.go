package guest

import (
	"context"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// A guest gets no more than its fuel, and ends at the next check.
func TestFuelEndsAtItsBudget(t *testing.T) {
	g := New(nil)
	g.Adopt(t.Context(), backend.Job{Limits: policy.Limits{Fuel: 100}.Or(policy.DefaultLimits())})
	g.started = time.Now()
	if got := g.refill(0); got != 100 {
		t.Errorf("it got %d of 100", got)
	}
	if got := g.refill(0); got != 0 || g.outcome != "" {
		t.Errorf("it got %d, and %q, when it had used just that", got, g.outcome)
	}
	defer func() {
		if stopped := recover(); stopped == nil || g.outcome != run.OutOfFuel {
			t.Errorf("%v %q, when it had used one more", stopped, g.outcome)
		}
	}()
	g.refill(-1)
}

// A guest is abandoned if closing the Runner ended it, but not if its caller canceled it or if
// it had ended before.
func TestAbandoned(t *testing.T) {
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, test := range []struct {
		name      string
		ctx       context.Context
		outcome   run.Outcome
		closed    bool
		abandoned bool
	}{
		{"the Runner was closed", t.Context(), run.Canceled, true, true},
		{"the caller went", gone, run.Canceled, false, false},
		{"the caller went, and the Runner was closed", gone, run.Canceled, true, false},
		{"it was out of time", t.Context(), run.TimedOut, true, false},
		{"it came to its end", t.Context(), "", true, false},
	} {
		ended := make(chan struct{})
		if test.closed {
			close(ended)
		}
		g := &Guest{closed: ended, turn: turn{ctx: test.ctx, outcome: test.outcome}}
		if got := g.Abandoned(); got != test.abandoned {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}
