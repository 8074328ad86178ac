package cordon_test

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// everyKind gives one call of each kind that a Runner has.
func everyKind(t *testing.T, r *cordon.Runner) map[string]func(context.Context) (run.Result, error) {
	t.Helper()
	hook := openHook(t, r, run.HookSpec{Script: "result['output'] = 1"})
	shared := openHook(t, r, run.HookSpec{Script: "result['output'] = 1", Trust: policy.TrustPlatform})
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

// Options.Concurrent bounds all that is under way, whatever it is: while one guest has the
// only turn, nothing else begins.
func TestConcurrentBoundsEveryKind(t *testing.T) {
	r := newRunner(t, cordon.Options{Concurrent: 1, Policy: policy.Policy{Trust: policy.TrustPlatform}})
	kinds := everyKind(t, r)
	for name, call := range kinds { // each tier is started, and works
		if _, err := call(t.Context()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	in, out := io.Pipe()
	begun, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		_, err := r.Run(t.Context(), run.Request{Script: run.Script{Source: "print('x', flush=True)\ninput()"}, Streams: run.Streams{In: in, Out: told(begun)}})
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

// told closes a channel when a guest writes.
type told chan struct{}

func (c told) Write(p []byte) (int, error) {
	close(c)
	return len(p), nil
}

// Calls of every kind at once, with two turns: none is lost, and nobody waits for ever.
func TestConcurrentHammer(t *testing.T) {
	const turns = 2
	r := newRunner(t, cordon.Options{Concurrent: turns, Policy: policy.Policy{Trust: policy.TrustPlatform}})
	var callers sync.WaitGroup
	over := make(chan struct{})
	for name, call := range everyKind(t, r) {
		for range 3 {
			callers.Go(func() {
				for range 10 {
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
			if tier != policy.TierHook { // whose workers are counted, and not its calls
				busy += s.Busy
			}
		}
		// The gates are asked one after the other: a turn can be seen twice on its way.
		if busy > 2*turns {
			t.Errorf("%d are under way", busy)
		}
		select {
		case <-over:
			return
		case <-time.After(time.Millisecond):
		}
	}
}
