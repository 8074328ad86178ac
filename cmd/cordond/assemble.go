package main

import (
	"context"
	"errors"
	"log/slog"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/internal/admission"
	"github.com/cordon-sandbox/cordon/internal/cli"
	"github.com/cordon-sandbox/cordon/internal/mcpserver"
	"github.com/cordon-sandbox/cordon/internal/service"
	"github.com/cordon-sandbox/cordon/run"
)

// parts are what the doors are built of.
type parts struct {
	service *service.Service
	mcp     *mcpserver.Server
	version string
	close   func() error
}

// assemble puts the service together. The Runner's workers are there when it returns.
func assemble(ctx context.Context, opts serviceOptions, log *slog.Logger) (p parts, err error) {
	var closers []func() error
	p.close = func() (err error) {
		for _, c := range closers {
			err = errors.Join(c(), err)
		}
		return err
	}
	// What was opened last is closed first.
	opened := func(c func() error) { closers = append([]func() error{c}, closers...) }
	defer func() {
		if err != nil {
			err = errors.Join(err, p.close())
		}
	}()

	rules, err := opts.Load(ctx)
	if err != nil {
		return p, err
	}
	runner, err := cordon.NewRunnerContext(ctx, cordon.Options{Policy: rules, Idle: opts.idle, Concurrent: opts.concurrent})
	if err != nil {
		return p, err
	}
	opened(runner.Close)

	p.version = cli.ReadVersion().Version
	p.service = service.New(service.Options{
		Runner: runner, OpenHook: hooksOf(runner), Policy: rules, Version: p.version,
		Line:     admission.NewLine(admission.Options{Concurrent: opts.concurrent, Queue: opts.queue}),
		Commands: opts.allowCommands, Workspaces: opts.workspaces,
	})
	opened(p.service.Close)

	door := mcpserver.Options{Service: p.service, Version: p.version, Logger: log, Commands: opts.allowCommands}
	if len(opts.workspaces) > 0 {
		door.Workspace = opts.workspaces[0]
	}
	p.mcp = mcpserver.New(door)
	return p, nil
}

// hooksOf gives the Runner's hooks as the service knows them.
func hooksOf(r *cordon.Runner) func(context.Context, run.Hook) (service.Hook, error) {
	return func(ctx context.Context, h run.Hook) (service.Hook, error) {
		made, err := r.OpenHook(ctx, h)
		if err != nil {
			return nil, err // and no Hook that is a nil pointer
		}
		return made, nil
	}
}
