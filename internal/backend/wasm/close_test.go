package wasm

import (
	"testing"

	"github.com/cordon-sandbox/cordon/internal/backend/wasm/python"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Closing the Runner ends its modules, and their error says so.
func TestCloseEndsModules(t *testing.T) {
	never := make(chan struct{})
	defer close(never)
	for _, how := range []string{"", "sleep", "input"} {
		b, err := New(Options{Cache: testCache})
		if err != nil {
			t.Fatal(err)
		}
		m := bench{t, b}.open(goGuest(t))
		out := firstWrite{make(chan struct{}, 1)}
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
		<-out.written
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		if err := <-ended; run.ClassOf(err) != run.Closed {
			t.Errorf("%q: %v, want that the Runner is closed", how, err)
		}
	}
}

// If the Runner is closed while an interpreter starts, the error says so.
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
	if _, err := python.NewPool(t.Context(), i, nil, nil, 1); run.ClassOf(err) != run.Closed {
		t.Errorf("%v, want that the Runner is closed", err)
	}
	if err := b.closeAll(); err != nil {
		t.Error(err)
	}
}
