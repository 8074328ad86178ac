package wasm

import (
	"context"
	"testing"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// The Runner's end is that of modules, too, and nobody takes it for theirs.
func TestCloseEndsModules(t *testing.T) {
	never := make(chan struct{})
	defer close(never)
	for _, how := range []string{"", "sleep", "input"} {
		b, err := New(Options{Cache: testCache})
		if err != nil {
			t.Fatal(err)
		}
		m := bench{t, b}.open(goGuest(t))
		out := begun{make(chan struct{}, 1)}
		job := jobOf(m, run.Request{
			Module: run.ModuleRun{Args: []string{"forever", how}}, Streams: run.Streams{Out: out, In: blocked{never}},
			Limits: policy.Limits{WallTime: policy.DefaultMaxima().WallTime, CPUTime: policy.DefaultMaxima().CPUTime},
		})
		place, err := b.Open(t.Context(), job)
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() {
			_, err := place.Run(t.Context(), job)
			_ = place.Close() // never fails
			ended <- err
		}()
		<-out.heard
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		if err := <-ended; run.ClassOf(err) != run.Closed {
			t.Errorf("%q: %v, want that the Runner is closed", how, err)
		}
	}
}

// An interpreter that is starting when the Runner is closed did not fail.
func TestCloseEndsAStart(t *testing.T) {
	b, err := New(Options{Idle: 1, Cache: testCache, Policy: policy.Policy{PythonWasm: bundle(t)}})
	if err != nil {
		t.Fatal(err)
	}
	i, err := b.interpreter.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b.gate.Close()
	if _, err := i.boot(t.Context(), nil, nil, 1); run.ClassOf(err) != run.Closed {
		t.Errorf("%v, want that the Runner is closed", err)
	}
	if err := i.backend.closeAll(); err != nil {
		t.Error(err)
	}
}

// A guest is abandoned if the Runner's end was its own: not if its caller went, and not
// if it had ended before.
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
		g := &guest{closed: ended, turn: turn{ctx: test.ctx, outcome: test.outcome}}
		if got := g.abandoned(); got != test.abandoned {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}
