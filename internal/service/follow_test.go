package service

import (
	"context"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/run"
)

// A frontend knows the id of a run in advance, and begins is called before the guest starts.
func TestFollow(t *testing.T) {
	var seen watcher
	begun := false
	s := newService(t, Options{
		Observers: []observe.Observer{&seen},
		Runner: &fake{guest: func(context.Context, run.Request) (run.Result, error) {
			if !begun {
				t.Error("the guest started before begins was called")
			}
			return run.Result{Outcome: run.Succeeded}, nil
		}},
	})
	if _, err := s.Run(Follow(t.Context(), "mine", func() { begun = true }), alice, observe.HTTP, script); err != nil {
		t.Fatal(err)
	}
	if got := seen.runs(); len(got) != 1 || got[0].ID != "mine" {
		t.Errorf("%+v", got)
	}
}

func TestFollowWithoutATurn(t *testing.T) {
	s := newService(t, Options{Runner: &fake{line: fullLine(t)}})
	if _, err := s.Run(Follow(t.Context(), "mine", func() { t.Error("begins was called") }), alice, observe.HTTP, script); run.ClassOf(err) != run.Busy {
		t.Error(err)
	}
}
