package wasm

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// long is a started run that does not end by itself.
type long struct {
	ended chan struct{} // closed when the other two are set
	run.Result
	err error
}

func busyIn(t *testing.T, s *Session) *long {
	t.Helper()
	out := firstWrite{make(chan struct{}, 1)}
	l := &long{ended: make(chan struct{})}
	go func() {
		defer close(l.ended)
		l.Result, l.err = s.Run(t.Context(), backend.Job{
			Request: run.Request{Script: run.Script{Source: "print('begun', flush=True)\nwhile True: pass"}, Streams: run.Streams{Out: out}},
			Limits:  policy.Limits{WallTime: policy.DefaultMaxima().WallTime, CPUTime: policy.DefaultMaxima().CPUTime}.Or(policy.DefaultLimits()),
		})
	}()
	select {
	case <-out.written:
	case <-l.ended:
		t.Fatalf("it did not begin: %s %v", l.Error, l.err)
	}
	return l
}

// goesOn checks that the run has not ended.
func (l *long) goesOn(t *testing.T) {
	t.Helper()
	select {
	case <-l.ended:
		t.Fatalf("the run was over: %s %v", l.Error, l.err)
	default:
	}
}

// Scripts that wait for a session can be canceled, and do not block other runs.
func TestWaitingInASession(t *testing.T) {
	b := pythonBench(t, Options{Idle: 1})
	s, other := b.session(false), b.session(false)
	first := busyIn(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	job := backend.Job{Request: run.Request{Script: run.Script{Source: "pass"}}, Limits: policy.DefaultLimits()}
	var waiting sync.WaitGroup
	for range 5 {
		waiting.Go(func() {
			if r, err := s.Run(ctx, job); !errors.Is(err, context.Canceled) {
				t.Errorf("%s %v", r.Outcome, err)
			}
		})
	}
	for range 3 {
		gives(t, other, "result = 1", "1")
	}
	brief, end := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer end()
	if r, err := s.Run(brief, job); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%s %v", r.Outcome, err)
	}
	cancel()
	waiting.Wait()
	first.goesOn(t)
}

// Closing a session does not wait until its script has ended.
func TestCloseEndsARunInTheSession(t *testing.T) {
	b := pythonBench(t, Options{Idle: 1})
	s := b.session(false)
	running := busyIn(t, s)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	<-running.ended
	if running.err != nil || running.Outcome != run.Canceled {
		t.Errorf("%s %s %v", running.Outcome, running.Error, running.err)
	}
}

// A tool may end the session that it is called from.
func TestCloseInATool(t *testing.T) {
	b := pythonBench(t, Options{Idle: 1})
	s := b.session(false)
	closed := make(chan error, 1)
	r, err := s.Run(t.Context(), backend.Job{
		Request: run.Request{Script: run.Script{Source: "tools.close()", Tools: map[string]run.Tool{"close": {Call: func(context.Context, run.ToolCall) (any, error) {
			closed <- s.Close()
			return nil, nil
		}}}}},
		Limits: policy.DefaultLimits(),
	})
	if err != nil || r.Outcome != run.Canceled {
		t.Errorf("%s %s %v", r.Outcome, r.Error, err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

// Closing the Runner ends guests, whatever they do, and their error says so.
func TestCloseEndsRuns(t *testing.T) {
	never := make(chan struct{})
	defer close(never)
	for name, job := range map[string]backend.Job{
		"a script that computes": {Request: run.Request{Script: run.Script{Source: "print(1, flush=True)\nwhile True: pass"}}},
		"a script that sleeps":   {Request: run.Request{Script: run.Script{Source: "print(1, flush=True)\nimport time\ntime.sleep(1000)"}}},
		"a script that reads":    {Request: run.Request{Script: run.Script{Source: "print(1, flush=True)\ninput()"}, Streams: run.Streams{In: blocked{never}}}},
		"a script that waits for a tool": {Request: run.Request{Script: run.Script{Source: "print(1, flush=True)\ntools.wait()", Tools: map[string]run.Tool{
			"wait": {Call: func(context.Context, run.ToolCall) (any, error) { <-never; return nil, nil }},
		}}}},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := New(Options{Idle: 1, Cache: testCache, Policy: policy.Policy{PythonWasm: bundle(t)}})
			if err != nil {
				t.Fatal(err)
			}
			out := firstWrite{make(chan struct{}, 1)}
			job.Streams.Out = out
			job.Limits = policy.Limits{WallTime: policy.DefaultMaxima().WallTime, CPUTime: policy.DefaultMaxima().CPUTime}.Or(policy.DefaultLimits())
			place, err := b.Open(t.Context(), job)
			if err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() {
				r, err := place.Run(t.Context(), job)
				if err == nil {
					err = errors.New(r.Error)
				}
				ended <- errors.Join(err, place.Close())
			}()
			select {
			case <-out.written:
			case err := <-ended:
				t.Fatalf("it did not begin: %v", err)
			}
			if err := b.Close(); err != nil {
				t.Error(err)
			}
			if err := <-ended; run.ClassOf(err) != run.Closed {
				t.Errorf("%v, want that the Runner is closed", err)
			}
		})
	}
}

// The language rules apply to all scripts of a session, or to none.
func TestSessionsKeepTheirRules(t *testing.T) {
	b := pythonBench(t, Options{Idle: 1})
	for _, restricted := range []bool{false, true} {
		_, err := b.session(restricted).Run(t.Context(), backend.Job{Request: run.Request{Script: run.Script{Source: "pass", Restricted: !restricted}}, Limits: policy.DefaultLimits()})
		if run.ClassOf(err) != run.Invalid {
			t.Errorf("restricted %v: %v", restricted, err)
		}
	}
}
