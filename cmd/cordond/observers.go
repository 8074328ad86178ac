package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/cordon-sandbox/cordon/internal/audit"
	"github.com/cordon-sandbox/cordon/internal/tracing"
	"github.com/cordon-sandbox/cordon/run"
)

// openAudit opens the audit log; nil if none is configured.
func openAudit(o auditOptions, log *slog.Logger) (*audit.Log, error) {
	if o.file == "" {
		return nil, nil
	}
	how := audit.Options{
		Path: o.file, FailClosed: o.required,
		OnError: func(err error) { log.Error("the audit log has a problem", "error", err) },
	}
	if o.key != "" {
		key, err := audit.ReadKey(o.key)
		if err != nil {
			return nil, run.Errorf(run.Invalid, "--audit-key: %w", err)
		}
		how.Key = key
	}
	opened, err := audit.Open(how)
	if err != nil {
		return nil, run.Errorf(run.Invalid, "--audit-file: %w", err)
	}
	return opened, nil
}

// unrecorded refuses requests that cannot be recorded. Only our own log says why: the
// reason names files of this machine, and callers can do nothing but wait.
func unrecorded(l *audit.Log) func() error {
	return func() error {
		if l.Admit() == nil {
			return nil
		}
		return run.Errorf(run.Closed, "the audit log cannot be written, and the service runs nothing that it cannot record: try again later")
	}
}

// closeTracer sends the remaining traces to a collector, which may be down.
func closeTracer(t *tracing.Tracer, log *slog.Logger) func() error {
	return func() error {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := t.Close(ctx); err != nil {
			log.Warn("the last traces are lost", "error", err)
		}
		return nil
	}
}
