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

// fake is a Runner whose guests do what the test says.
type fake struct {
	guest func(ctx context.Context, req run.Request) (run.Result, error) // nil: ends well at once
	check func(ctx context.Context, c run.Check) ([]run.Finding, error)
	runs  atomic.Int64
}

func (f *fake) Run(ctx context.Context, req run.Request) (run.Result, error) {
	f.runs.Add(1)
	result, err := run.Result{Outcome: run.Succeeded}, error(nil)
	if f.guest != nil {
		result, err = f.guest(ctx, req)
	}
	result.ID = req.ID
	return result, err
}

func (f *fake) Check(ctx context.Context, c run.Check) ([]run.Finding, error) {
	if f.check != nil {
		return f.check(ctx, c)
	}
	return nil, nil
}

func (f *fake) Tiers() []policy.Tier {
	return []policy.Tier{policy.TierProcess, policy.TierWasm, policy.TierJail}
}

func (f *fake) Enforcement() run.Enforcement { return run.Enforcement{Tier: policy.TierProcess} }

// untilCanceled is a guest that runs until somebody ends it, as a real one would.
func untilCanceled(ctx context.Context, _ run.Request) (run.Result, error) {
	<-ctx.Done()
	return run.Result{Outcome: run.Canceled}, nil
}

// watcher keeps the runs that an observer gets.
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

// fakeHook counts what is done with it.
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

// newService gives a service that is closed at the end of the test.
func newService(t *testing.T, o Options) *Service {
	t.Helper()
	if o.Line == nil {
		o.Line = admission.NewLine(admission.Options{Concurrent: 4, Queue: 4})
	}
	if o.Runner == nil {
		o.Runner = &fake{}
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
