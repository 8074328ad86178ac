package main

import (
	"cmp"
	"context"
	"errors"
	"os"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/internal/cli"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// runSingle runs one script or command in a Runner of its own, shows the Result, and
// returns its exit code.
func runSingle(ctx context.Context, options cordon.Options, req run.Request, window view, how presentation) error {
	return doSingle(ctx, options, req, window, how, func(ctx context.Context, r *cordon.Runner, req run.Request) (run.Result, error) {
		return r.Run(ctx, req)
	})
}

// doSingle is runSingle for work that takes more than a request.
func doSingle(ctx context.Context, options cordon.Options, req run.Request, window view, how presentation,
	do func(context.Context, *cordon.Runner, run.Request) (run.Result, error),
) (err error) {
	stdout, stderr := &tap{ctx: ctx, to: os.Stdout}, &tap{ctx: ctx, to: os.Stderr}
	if !how.json {
		// What is shown need not be kept.
		req.Streams.Out, req.Streams.Err, req.Streams.CaptureLimit = stdout, stderr, policy.KiB
	}
	options.OneShot = true
	runner, err := cordon.NewRunnerContext(ctx, options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, runner.Close()) }()
	res, err := runIn(ctx, window, req, func(ctx context.Context, req run.Request) (run.Result, error) { return do(ctx, runner, req) })
	if err != nil {
		return explainHidden(err, how.hidden)
	}
	saved := how.artifacts.save(res)
	if errors.Is(context.Cause(ctx), cli.ErrPipe) { // nobody would read the Result
		return cmp.Or(saved.show(stderr, how), cli.ErrPipe)
	}
	if window.terminal {
		stderr.open = stdout.open // they are the same stream
	}
	code := resultCode(ctx, res)
	if how.command {
		code = commandCode(ctx, res)
	}
	err = present(stdout, stderr, res, how)
	err = cmp.Or(err, saved.show(stderr, how))
	if lost := cmp.Or(err, stdout.err, stderr.err); lost != nil || saved.err == nil {
		return conclude(code, lost)
	}
	return saved.err
}

// conclude returns the exit code of a Result that has been shown, unless output was lost
// while the guest ran.
func conclude(code int, lost error) error {
	switch {
	case lost != nil:
		return outputLost(lost)
	case code != 0:
		return cli.ExitCode(code)
	}
	return nil
}

func outputLost(err error) error { return run.Errorf(run.Internal, "the output is lost: %w", err) }
