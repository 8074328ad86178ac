package cordon

import (
	"context"
	"fmt"

	"github.com/cordon-sandbox/cordon/internal/admission"
	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/hook"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Hook is a script that is compiled once and called many times. Several goroutines may
// call it at once. Each call has its own globals and gets its arguments as JSON, so
// that its changes affect neither the caller nor the next call.
type Hook struct {
	runner  *Runner
	hook    *hook.Hook
	allowed policy.Tier      // the policy's third_party, if it opened the hook only because of that
	workers *admission.Bound // calls that no worker could serve do not get a turn
}

// OpenHook checks and compiles a hook. If the language rules refuse the script, or it
// is not valid Python, the error has class run.Invalid and wraps a *run.Refusal with
// all findings.
//
// An empty Trust means policy.TrustUser: each call runs in its own process, which
// opened the hook before the call arrived. Calls of a hook with policy.TrustPlatform
// are several times as fast, because they share processes: only the language rules
// isolate them from each other, not the kernel. A policy for third-party code bounds this
// field; any other does not, because the caller of OpenHook is the operator. A program
// that opens hooks for others must check it, as cordond does.
func (r *Runner) OpenHook(ctx context.Context, h run.HookSpec) (*Hook, error) {
	if err := h.Validate(); err != nil {
		return nil, err
	}
	chosen, err := r.choose(policy.GuestCall, "", h.Trust)
	if err != nil {
		return nil, err
	}
	limits, err := r.callLimits(h.Limits)
	if err != nil {
		return nil, err
	}
	turn, err := r.line.Enter(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer turn.Leave()
	hooks, err := offering[interface {
		OpenHook(ctx context.Context, h run.HookSpec, limits policy.Limits) (*hook.Hook, error)
	}](ctx, r, backend.Hooks)
	if err != nil {
		return nil, err
	}
	opened, err := hooks.OpenHook(ctx, h, limits)
	if err != nil {
		return nil, err
	}
	return &Hook{r, opened, chosen.ThirdParty, admission.NewBound(opened.MaxWorkers)}, nil
}

// callLimits returns the limits of a call: the hook's, else the defaults for calls
// within the policy's maxima, else the policy's.
func (r *Runner) callLimits(asked policy.Limits) (policy.Limits, error) {
	limits, err := r.policy.Narrow(asked.Fill(policy.DefaultCallLimits().Capped(r.policy.Limits), r.policy.Maxima))
	if err != nil {
		return limits, run.Wrap(run.Invalid, err)
	}
	return limits, nil
}

// CallFunction calls a function that the hook's script defines. Its return value is the
// Result's value. The arguments are encoded with encoding/json. Whatever the hook does
// gives a Result, as with Run. The Results of a hook share their Enforcement: do not
// change it.
func (h *Hook) CallFunction(ctx context.Context, name string, args ...any) (run.Result, error) {
	if name == "" {
		return run.Result{}, run.Errorf(run.Invalid, "the name of the function is empty")
	}
	call := hook.Call{Function: name, Arguments: make([]hook.Argument, len(args))}
	for i, arg := range args {
		call.Arguments[i] = hook.Argument{Name: fmt.Sprintf("argument %d", i+1), Value: arg}
	}
	return h.call(ctx, call)
}

// Call runs the hook's script from its first line, with state as game_state and config as
// mod_config, and returns its result["output"] as the Result's value. It is for scripts
// that were written in this form; new hooks define functions: see CallFunction.
func (h *Hook) Call(ctx context.Context, state, config any) (run.Result, error) {
	return h.call(ctx, hook.Call{Arguments: []hook.Argument{{Name: "state", Value: state}, {Name: "config", Value: config}}})
}

func (h *Hook) call(ctx context.Context, call hook.Call) (run.Result, error) {
	turn, err := h.runner.line.Enter(ctx, h.workers)
	if err != nil {
		return run.Result{}, err
	}
	defer turn.Leave()
	result, err := h.hook.Call(ctx, call)
	result.Enforcement.ThirdParty = h.allowed
	return withCause(ctx, result), err
}

// Close waits for running calls and ends the workers.
func (h *Hook) Close() error {
	h.hook.Close()
	return nil
}
