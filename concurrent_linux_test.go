package cordon_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/internal/admission"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

const hookWorkers = 2

// everyKind returns one call of each kind that a Runner has.
func everyKind(t *testing.T, r *cordon.Runner) map[string]func(context.Context) (run.Result, error) {
	t.Helper()
	hook := openHook(t, r, run.HookSpec{Script: "result['output'] = 1", Workers: hookWorkers})
	shared := openHook(t, r, run.HookSpec{Script: "result['output'] = 1", Workers: hookWorkers, Trust: policy.TrustPlatform})
	module := openModule(t, r, scorer(t))
	return map[string]func(context.Context) (run.Result, error){
		"script": func(ctx context.Context) (run.Result, error) {
			return r.Run(ctx, run.Request{Script: run.Script{Source: "result = 1"}})
		},
		"restricted": func(ctx context.Context) (run.Result, error) {
			return r.Run(ctx, run.Request{Script: run.Script{Source: "result = 1", Restricted: true}})
		},
		"command": func(ctx context.Context) (run.Result, error) {
			return r.Run(ctx, run.Request{Command: run.Command{Args: []string{"true"}}})
		},
		"hook": func(ctx context.Context) (run.Result, error) { return hook.Call(ctx, nil, nil) },
		"shared hook": func(ctx context.Context) (run.Result, error) {
			return shared.Call(ctx, nil, nil)
		},
		"module": func(ctx context.Context) (run.Result, error) {
			return module.Call(ctx, "score", []any{})
		},
	}
}

// Options.Concurrent bounds guests of all kinds together: while one guest has the only
// turn, no other starts.
func TestConcurrentBoundsEveryKind(t *testing.T) {
	r := newRunner(t, cordon.Options{Concurrent: 1, Policy: policy.Policy{Trust: policy.TrustPlatform}})
	kinds := everyKind(t, r)
	for name, call := range kinds { // start each tier
		if _, err := call(t.Context()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	in, out := io.Pipe()
	begun, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		_, err := r.Run(t.Context(), run.Request{Script: run.Script{Source: "print('x', flush=True)\ninput()"}, Streams: run.Streams{In: in, Out: closedByWrite(begun)}})
		ended <- err
	}()
	<-begun
	for name, call := range kinds {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		if res, err := call(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s did not wait for its turn: %s, %v", name, res.Outcome, err)
		}
		cancel()
	}
	out.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	for name, call := range kinds {
		if _, err := call(t.Context()); err != nil {
			t.Errorf("%s, afterwards: %v", name, err)
		}
	}
}

// Calls that no worker of their hook could serve wait in the queue, which is bounded, and
// leave their turns to others.
func TestHookCallsWaitInQueue(t *testing.T) {
	r := newRunner(t, cordon.Options{Concurrent: 2, Queue: 1})
	h := openHook(t, r, run.HookSpec{Script: "while game_state:\n    pass\nresult['output'] = 1", Workers: 1, Limits: policy.Limits{WallTime: policy.DefaultMaxima().WallTime, CPUTime: policy.DefaultMaxima().CPUTime}})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	begun, ended := make(chan struct{}), make(chan error, 3)
	call := func(ctx context.Context) {
		_, err := h.Call(ctx, 1, nil)
		ended <- err
	}
	go call(admission.WithCaller(ctx, &admission.Caller{Begins: func() { close(begun) }}))
	<-begun
	go call(ctx)
	go call(ctx)
	if err := <-ended; !errors.Is(err, run.ErrBusy) {
		t.Errorf("one of the two that do not run: %v", err)
	}
	if res, err := r.Run(t.Context(), run.Request{Script: run.Script{Source: "result = 1"}}); err != nil || !res.OK() {
		t.Errorf("a script beside them: %s %v", res.Error, err)
	}
	cancel()
	for range 2 {
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	if res, err := h.Call(t.Context(), 0, nil); err != nil || !res.OK() {
		t.Errorf("afterwards: %s %v", res.Error, err)
	}
}

func TestRunnerRefusesUnknownNames(t *testing.T) {
	for _, o := range []cordon.Options{{Language: "moon"}, {Tier: "moon"}} {
		if r, err := cordon.NewRunner(o); !errors.Is(err, run.ErrInvalid) {
			t.Errorf("%+v: %v, %v", o, r, err)
		}
	}
}

// A request that waits holds no data of its files: they are read at its turn.
func TestFilesAreReadAtTheirTurn(t *testing.T) {
	r := newRunner(t, cordon.Options{Concurrent: 1})
	name := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(name, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	end := occupy(t, r.Run)
	change := func() {
		if err := os.WriteFile(name, []byte("later"), 0o600); err != nil {
			t.Error(err)
		}
		go end()
	}
	ctx := admission.WithCaller(t.Context(), &admission.Caller{Waits: change})
	res, err := r.Run(ctx, run.Request{Script: run.Script{Source: "result = open('f').read()", Files: []run.File{{Name: "f", Path: name}}}})
	if err != nil || string(res.Value) != `"later"` {
		t.Errorf("%v %s %v", res.Value, res.Error, err)
	}
}

// Close refuses requests that wait for their turn.
func TestCloseRefusesWaitingRequests(t *testing.T) {
	r := newRunner(t, cordon.Options{Concurrent: 1})
	begun, ended, refused := make(chan struct{}), make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := r.Run(t.Context(), run.Request{Script: run.Script{Source: "print('x', flush=True)\nwhile True: pass"}, Streams: run.Streams{Out: closedByWrite(begun)}})
		ended <- err
	}()
	<-begun
	go func() {
		_, err := r.Run(t.Context(), run.Request{Script: run.Script{Source: "pass"}})
		refused <- err
	}()
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	for _, err := range []error{<-ended, <-refused} {
		if !errors.Is(err, run.ErrClosed) {
			t.Error(err)
		}
	}
	if _, err := r.Run(t.Context(), run.Request{}); !errors.Is(err, run.ErrInvalid) {
		t.Errorf("what is wrong, afterwards: %v", err)
	}
}

// Calls of every kind at once share two turns: no call is lost or waits forever.
func TestConcurrentHammer(t *testing.T) {
	const turns, gates = 2, 3
	r := newRunner(t, cordon.Options{Concurrent: turns, Policy: policy.Policy{Trust: policy.TrustPlatform}})
	var callers sync.WaitGroup
	over := make(chan struct{})
	for name, call := range everyKind(t, r) {
		for range 10 {
			callers.Go(func() {
				for range 3 {
					if _, err := call(t.Context()); err != nil {
						t.Errorf("%s: %v", name, err)
					}
				}
			})
		}
	}
	go func() {
		callers.Wait()
		close(over)
	}()
	for {
		busy := 0
		for tier, s := range r.Stats() {
			if tier != policy.TierHook { // its count is of workers, not of calls
				busy += s.Busy
			}
		}
		// The gates are read one after the other, so a turn may be counted in each. Workers
		// that open one of the two hooks have no turn.
		if busy > gates*turns+2*hookWorkers {
			t.Errorf("%d are under way", busy)
		}
		select {
		case <-over:
			return
		case <-time.After(time.Millisecond):
		}
	}
}
