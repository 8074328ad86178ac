package main

import (
	"context"
	"errors"
	"log/slog"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/internal/admission"
	"github.com/cordon-sandbox/cordon/internal/audit"
	"github.com/cordon-sandbox/cordon/internal/cgroup"
	"github.com/cordon-sandbox/cordon/internal/cli"
	"github.com/cordon-sandbox/cordon/internal/mcpserver"
	"github.com/cordon-sandbox/cordon/internal/metrics"
	"github.com/cordon-sandbox/cordon/internal/openhooks"
	"github.com/cordon-sandbox/cordon/internal/service"
	"github.com/cordon-sandbox/cordon/internal/tracing"
	"github.com/cordon-sandbox/cordon/run"
)

// parts are the pieces that the frontends are built from.
type parts struct {
	service *service.Service
	mcp     *mcpserver.Server
	metrics *metrics.Metrics
	version string
	close   func() error
}

// assemble builds the service. The Runner's workers are ready when it returns.
func assemble(ctx context.Context, opts serviceOptions, log *slog.Logger) (p parts, err error) {
	var closers []func() error
	p.close = func() (err error) {
		for _, c := range closers {
			err = errors.Join(c(), err)
		}
		return err
	}
	// Close in the reverse order of opening.
	opened := func(c func() error) { closers = append([]func() error{c}, closers...) }
	defer func() {
		if err != nil {
			err = errors.Join(err, p.close())
		}
	}()

	p.version = cli.ReadVersion().Version
	rules, err := opts.Load()
	if err != nil {
		return p, err
	}
	how := service.Options{
		Policy: rules, Version: p.version, Commands: opts.allowCommands, Workspaces: opts.workspaces, FileRoots: opts.fileRoots,
		Answers: admission.NewAnswers(opts.answers),
	}
	recorded, err := openAudit(opts.audit, log)
	if err != nil {
		return p, err
	}
	if recorded != nil {
		opened(recorded.Close)
		how.Observers, how.Refuse = append(how.Observers, recorded), unrecorded(recorded)
	}
	tracer, err := tracing.Start(ctx, tracing.Options{Version: p.version, Failed: func(err error) { log.Warn("traces cannot be sent", "error", err) }})
	if err != nil {
		return p, err
	}
	if tracer != nil {
		opened(closeTracer(tracer, log))
		how.Observers, how.Tracer = append(how.Observers, tracer), tracer
	}
	// Before the Runner looks for a cgroup to make groups in.
	reunite, err := cgroup.Divide()
	if err != nil {
		log.Warn("cannot create memory cgroups", "error", err)
	}
	opened(func() error { reunite(); return nil })
	runner, err := cordon.NewRunnerContext(ctx, cordon.Options{Policy: rules, Idle: opts.idle, Concurrent: opts.concurrent, Queue: opts.queue, Workspaces: opts.workspaces})
	if err != nil {
		return p, err
	}
	opened(runner.Close)

	how.Runner, how.OpenHook, how.OpenSession = runner, hooksOf(runner), sessionsOf(runner)

	// The service reports to the metrics, and they read from it only when they are
	// scraped.
	shown := metricsOptions(p.version, runner, recorded)
	shown.Hooks = func() int { return p.service.Hooks() }
	shown.Sessions = func() int { return p.service.OpenSessions() }
	shown.Line = func() (waiting, running int) { return p.service.Queue() }
	p.metrics = metrics.New(shown)
	how.Observers = append(how.Observers, p.metrics)
	p.service = service.New(how)
	opened(p.service.Close)

	frontend := mcpserver.Options{Service: p.service, Version: p.version, Logger: log, Commands: opts.allowCommands}
	if len(opts.workspaces) > 0 {
		frontend.Workspace = opts.workspaces[0]
	}
	p.mcp = mcpserver.New(frontend)
	opened(func() error { p.mcp.Close(); return nil })
	return p, nil
}

// metricsOptions name the sources that the metrics read, beside the events that they
// observe.
func metricsOptions(version string, runner *cordon.Runner, recorded *audit.Log) metrics.Options {
	o := metrics.Options{Version: version, Runner: runner}
	if recorded != nil {
		o.AuditErrors = func() uint64 { return recorded.Health().Failures }
	}
	return o
}

// hooksOf opens the Runner's hooks as the interface that the service knows.
func hooksOf(r *cordon.Runner) func(context.Context, run.HookSpec) (openhooks.Hook, error) {
	return func(ctx context.Context, h run.HookSpec) (openhooks.Hook, error) {
		made, err := r.OpenHook(ctx, h)
		if err != nil {
			return nil, err // not an interface that holds a nil pointer
		}
		return made, nil
	}
}

// sessionsOf opens the Runner's sessions, likewise.
func sessionsOf(r *cordon.Runner) func(context.Context, run.SessionOptions) (service.Session, error) {
	return func(ctx context.Context, o run.SessionOptions) (service.Session, error) {
		made, err := r.OpenSession(ctx, o)
		if err != nil {
			return nil, err
		}
		return made, nil
	}
}
