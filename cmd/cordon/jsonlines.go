package main

import (
	"context"
	"errors"
	"io"
	"runtime"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/internal/jsonlines"
	"github.com/cordon-sandbox/cordon/internal/openhooks"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// maxIdle bounds the workers that wait for a line; each costs about 3 MiB.
const maxIdle = 16

// runLines answers each line of in with a line of out.
func runLines(ctx context.Context, opts runOptions, in io.Reader, out io.Writer) (err error) {
	p, err := opts.Load()
	if err != nil {
		return err
	}
	fixed := jsonlines.Fixed{
		Tier: policy.Tier(opts.tier), Trust: policy.Trust(opts.trust),
		OnOutputLimit: policy.OutputAction(opts.onOutputLimit), Restricted: opts.restricted,
	}
	if p, err = forManyRuns(p, opts.limitOptions, fixed); err != nil {
		return err
	}
	atOnce := opts.concurrent
	if atOnce == 0 {
		atOnce = 2 * runtime.NumCPU()
	}
	runner, err := cordon.NewRunnerContext(ctx, cordon.Options{Policy: p, Idle: min(atOnce, maxIdle), Concurrent: atOnce, Tier: opts.first(), Language: opts.language(p)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, runner.Close()) }()
	return jsonlines.Serve(ctx, in, &tap{ctx: ctx, to: out}, jsonlines.Options{
		Runner: runner, Fixed: fixed, Concurrent: atOnce,
		OpenHook: func(ctx context.Context, h run.HookSpec) (openhooks.Hook, error) { return runner.OpenHook(ctx, h) },
		OpenSession: func(ctx context.Context, o run.SessionOptions) (jsonlines.Session, error) {
			return runner.OpenSession(ctx, o)
		},
	})
}

// forManyRuns makes the limits of the flags the default and the maximum of every request.
func forManyRuns(p policy.Policy, limits limitOptions, fixed jsonlines.Fixed) (policy.Policy, error) {
	narrowed, err := limits.narrow(p)
	if err != nil {
		return p, err
	}
	p.Limits = narrowed
	p.Maxima = limits.Limits.Or(p.Resolved().Maxima)
	// A wrong name is an error now, and not on every line.
	return p, knownNames(fixed.Tier, fixed.Trust, fixed.OnOutputLimit)
}
