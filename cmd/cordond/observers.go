package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/cordon-sandbox/cordon/internal/audit"
	"github.com/cordon-sandbox/cordon/internal/tracing"
	"github.com/cordon-sandbox/cordon/run"
)

// openAudit opens the audit log; nil if there is to be none.
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
		return nil, run.Errorf(run.Invalid, "--audit: %w", err)
	}
	return opened, nil
}

// unrecorded refuses what could not be recorded. Why not is in our own log: it names files
// of this machine, and callers can do nothing about it but wait.
func unrecorded(l *audit.Log) func() error {
	return func() error {
		if l.Admit() == nil {
			return nil
		}
		return run.Errorf(run.Closed, "what cannot be recorded is not run, and the audit log cannot be written now: try again later")
	}
}

// closeTracer sends what is left to a collector, which may not be there.
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
