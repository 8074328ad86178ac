package cordon

import (
	"context"
	"fmt"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/hook"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Hook is a script that is compiled ahead and called many times, by many
// goroutines. Each call runs in globals of its own, and gets its arguments as
// JSON: nothing that it changes reaches the caller or the next call.
type Hook struct{ hook *hook.Hook }

// OpenHook checks and compiles a hook. What the language rules refuse, or
// Python cannot read, is an error of class run.Invalid with a *run.Refusal in
// it, which has all findings.
//
// An empty Trust means policy.TrustUser: each call runs in a process of its own,
// which opened the hook before the call came. Calls of a hook with
// policy.TrustPlatform are several times as fast, because they share processes;
// the kernel does not isolate them from each other, the language rules alone do.
// The policy's Trust bounds what a Request claims, and not this: who can call
// OpenHook is the operator. A program that opens hooks for others decides for
// them, as cordond does by its policy.
func (r *Runner) OpenHook(ctx context.Context, h run.HookSpec) (*Hook, error) {
	if err := h.Validate(); err != nil {
		return nil, err
	}
	if h.Trust == policy.TrustThirdParty || r.policy.Trust == policy.TrustThirdParty {
		return nil, run.Errorf(run.Unsupported, "third-party code cannot be a hook: it needs a jail for each run")
	}
	limits, err := r.callLimits(h.Limits)
	if err != nil {
		return nil, err
	}
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
	return &Hook{opened}, nil
}

// callLimits are those of a call: the hook's, else those for calls within what
// the policy allows, else the policy's own.
func (r *Runner) callLimits(asked policy.Limits) (policy.Limits, error) {
	limits, err := r.policy.Narrow(asked.Fill(policy.DefaultCallLimits().Capped(r.policy.Limits), r.policy.Maxima))
	if err != nil {
		return limits, run.Wrap(run.Invalid, err)
	}
	return limits, nil
}

// Call runs the hook's script with game_state and mod_config, and gives what it
// left in result["output"] as the Result's value. State and config are what
// encoding/json can write. Whatever the hook does is a Result, as with Run; the
// Results of a hook share their Enforcement, which is to be read alone.
func (h *Hook) Call(ctx context.Context, state, config any) (run.Result, error) {
	return h.call(ctx, hook.Call{Arguments: []hook.Argument{{Name: "state", Value: state}, {Name: "config", Value: config}}})
}

// CallFunction calls a function that the hook's script defines, and gives what
// it returned as the Result's value.
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

func (h *Hook) call(ctx context.Context, call hook.Call) (run.Result, error) {
	result, err := h.hook.Call(ctx, call)
	return withCause(ctx, result), err
}

// Close waits for the calls under way and lets go of the workers.
func (h *Hook) Close() error {
	h.hook.Close()
	return nil
}
