package service

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/cordon-sandbox/cordon/internal/admission"
	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/internal/token"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a Runner whose guests are functions of the test. It validates a request and takes
// a turn, as a real Runner does.
type fake struct {
	line  *admission.Line                                                // nil: one with room for all
	guest func(ctx context.Context, req run.Request) (run.Result, error) // nil: succeeds at once
	check func(ctx context.Context, c run.Check) ([]run.Finding, error)
	runs  atomic.Int64
}

func (f *fake) Run(ctx context.Context, req run.Request) (run.Result, error) {
	if err := req.Validate(); err != nil {
		return run.Result{}, err
	}
	turn, err := f.line.Enter(ctx, nil)
	if err != nil {
		return run.Result{}, err
	}
	defer turn.Leave()
	f.runs.Add(1)
	result := run.Result{Outcome: run.Succeeded}
	if f.guest != nil {
		result, err = f.guest(ctx, req)
	}
	result.ID = req.ID
	return result, err
}

func (f *fake) Check(ctx context.Context, c run.Check) ([]run.Finding, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	turn, err := f.line.Enter(ctx, nil)
	if err != nil || f.check == nil {
		turn.Leave()
		return nil, err
	}
	defer turn.Leave()
	return f.check(ctx, c)
}

func (f *fake) Tiers() []policy.Tier {
	return []policy.Tier{policy.TierProcess, policy.TierWasm, policy.TierJail}
}

func (f *fake) Enforcement() run.Enforcement { return run.Enforcement{Tier: policy.TierProcess} }

// untilCanceled is a guest that runs until it is canceled, like a real one.
func untilCanceled(ctx context.Context, _ run.Request) (run.Result, error) {
	<-ctx.Done()
	return run.Result{Outcome: run.Canceled}, nil
}

// watcher is an observer that keeps the runs it gets.
type watcher struct {
	mu   sync.Mutex
	seen []observe.Run
}

func (w *watcher) Ended(_ context.Context, r observe.Run) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, r)
}

func (w *watcher) runs() []observe.Run {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen
}

// fakeHook counts its calls and closes.
type fakeHook struct {
	run.HookSpec
	call          func(ctx context.Context) (run.Result, error)
	calls, closed atomic.Int64
	closing       error
}

func (h *fakeHook) Call(ctx context.Context, state, config any) (run.Result, error) {
	return h.CallFunction(ctx, "", state, config)
}

func (h *fakeHook) CallFunction(ctx context.Context, name string, args ...any) (run.Result, error) {
	h.calls.Add(1)
	if h.call != nil {
		return h.call(ctx)
	}
	value, err := json.Marshal(append([]any{name}, args...))
	return run.Result{Outcome: run.Succeeded, Value: value}, err
}

func (h *fakeHook) Close() error {
	h.closed.Add(1)
	return h.closing
}

var (
	alice = token.Caller{Name: "alice"}
	bob   = token.Caller{Name: "bob"}
)

// fullLine returns a line whose only turn is taken until the end of the test.
func fullLine(t *testing.T) *admission.Line {
	t.Helper()
	line := admission.NewLine(admission.Options{Concurrent: 1})
	turn, err := line.Enter(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(turn.Leave)
	return line
}

// newService returns a service that is closed at the end of the test.
func newService(t *testing.T, o Options) *Service {
	t.Helper()
	if o.Runner == nil {
		o.Runner = &fake{}
	}
	if f, ok := o.Runner.(*fake); ok && f.line == nil {
		f.line = admission.NewLine(admission.Options{Concurrent: 4, Queue: 4})
	}
	s := New(o)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

var script = run.Request{ID: "r1", Script: run.Script{Source: "result = 1"}}
