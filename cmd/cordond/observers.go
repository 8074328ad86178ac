package main

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/cordon-sandbox/cordon/internal/audit"
	"github.com/cordon-sandbox/cordon/internal/observe"
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

// recorder has each run in the audit log. What cannot be recorded is told by the log
// itself, to OnError.
type recorder struct{ *audit.Log }

func (r recorder) Ended(_ context.Context, seen observe.Run) {
	_ = r.Record(audit.RecordOf(recordable(seen)))
}

// recordable gives a run as the log wants it.
func recordable(seen observe.Run) audit.Run {
	known := audit.Run{
		Door: audit.Door(seen.Door), Caller: seen.Caller, Result: seen.Result, Err: seen.Err,
		Arrived: seen.Arrived, Started: seen.Started, Ended: seen.Ended,
	}
	known.Request.ID = seen.ID
	switch seen.Kind {
	case observe.Hook:
		known.Hook.Script = seen.Code
	case observe.Command:
		known.Request.Command = strings.Split(seen.Code, "\x00")
	default:
		known.Request.Script = seen.Code
	}
	return known
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
