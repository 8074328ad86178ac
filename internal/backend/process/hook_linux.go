package process

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/hook"
	"github.com/cordon-sandbox/cordon/internal/egress"
	"github.com/cordon-sandbox/cordon/internal/report"
	"github.com/cordon-sandbox/cordon/internal/zygote"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// callPatience is how long a caller polls for the answer. Most calls of hooks take less;
// waking up would take longer than the call.
const callPatience = 250 * time.Microsecond

// OpenHook compiles a hook in a worker and keeps both. The limits are those of a call,
// and complete. A script that does not compile or that the rules refuse is a *run.Refusal
// with all findings.
func (b *Backend) OpenHook(ctx context.Context, h run.HookSpec, limits policy.Limits) (*hook.Hook, error) {
	return b.hooks.Open(ctx, h, b.ahead, func(ctx context.Context, once bool) (hook.Worker, error) {
		return b.startHook(ctx, h, limits, once)
	})
}

// startHook leases a worker that compiles the hook.
func (b *Backend) startHook(ctx context.Context, h run.HookSpec, limits policy.Limits, once bool) (*hookWorker, error) {
	pass, err := b.gate.Enter(ctx)
	if err != nil {
		return nil, err
	}
	defer pass.Leave()
	p, err := b.workersFor(ctx, policy.LanguageHook)
	if err != nil {
		return nil, err
	}
	m, err := p.take(ctx, limits.Scratch)
	if err != nil {
		return nil, err
	}
	m.replace() // it is busy from now on
	enforcement := b.Enforcement()
	if !once {
		enforcement.Tier = policy.TierHook
	}
	enforcement.Walls[policy.WallLanguage] = b.enforcedRules(policy.LanguageHook)
	if b.proxied() { // only scripts have a network
		enforcement.Walls[policy.WallEgress] = egress.Words(policy.EgressStrict, nil)
	}
	w := &hookWorker{
		backend: b, member: m, enforcement: enforcement, once: once,
		guest: zygote.Guest{Script: h.Script, Name: cmp.Or(h.Name, "<hook>"), Limits: limits, OnOutputLimit: b.options.Policy.OnOutputLimit},
	}
	if err := w.open(ctx); err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

// hookWorker serves the calls of one hook.
type hookWorker struct {
	backend     *Backend
	member      *member
	guest       zygote.Guest    // what all calls share
	enforcement run.Enforcement // of all its results
	once        bool            // it serves one call
	calls       int
}

// open makes the worker compile the hook, within the limits of a call.
func (w *hookWorker) open(ctx context.Context) error {
	m := w.member
	if m.group != nil {
		if err := m.group.SetLimit(groupLimit(w.guest.Limits)); err != nil {
			return run.Errorf(run.Internal, "cgroup: %w", err)
		}
	}
	// The worker keeps the limits that it gets now. Its CPU time is for all its calls.
	guest := w.guest
	guest.Limits.CPUTime = hook.Lifetime
	ending, err := m.Open(ctx, guest)
	if err == nil && ending.Orphaned {
		return backend.ErrNotStarted // it died while it compiled
	}
	result, err := w.backend.conclude(m, report.Run{Limits: w.guest.Limits, Restricted: true}, ending, err)
	if err != nil {
		return err
	}
	switch result.Outcome {
	case run.Succeeded:
		return nil
	case run.Refused:
		findings, err := report.Findings(ending.Report)
		if err != nil {
			return err
		}
		return run.Wrap(run.Invalid, &run.Refusal{Findings: findings})
	default:
		return run.Errorf(run.Invalid, "the hook cannot be opened: %s", result.Error)
	}
}

func (w *hookWorker) Call(ctx context.Context, call hook.Call) (run.Result, bool, error) {
	pass, err := w.backend.gate.Enter(ctx)
	if err != nil {
		return run.Result{}, true, err
	}
	defer pass.Leave()
	w.calls++
	calling := &w.backend.calling
	defer calling.Add(-1)
	guest := w.guest
	if calling.Add(1) == 1 && runtime.NumCPU() > 1 {
		guest.Patience = callPatience
	}
	ending, err := w.member.Call(ctx, guest, zygote.Call(call))
	result, err := w.backend.conclude(w.member, report.Run{Limits: guest.Limits, Restricted: true, Modules: w.backend.watchesModules()}, ending, err)
	if err != nil {
		// A request that could not be sent did not reach the worker.
		return result, errors.Is(err, run.ErrInvalid), err
	}
	result.Enforcement = w.enforcement
	return result, w.reusable(result, ending), nil
}

// reusable reports whether the worker can serve another call: it answered within its
// limits, and nothing of the call is left in it.
func (w *hookWorker) reusable(result run.Result, ending zygote.Ending) bool {
	answered := ending.Report != nil && ending.Killed == "" && result.Outcome != run.OutOfMemory
	return answered && !ending.Last && !w.once && w.calls < hook.MaxCalls
}

func (w *hookWorker) Close() { w.member.Close() }
