package mcpserver

import (
	"context"
	"log/slog"
)

// quieter has the SDK's log come one level lower: what it calls information is there with
// every request, and most of its errors are mistakes of clients.
type quieter struct{ slog.Handler }

const lower = slog.LevelInfo - slog.LevelDebug

func (q quieter) Enabled(ctx context.Context, l slog.Level) bool {
	return q.Handler.Enabled(ctx, l-lower)
}

func (q quieter) Handle(ctx context.Context, r slog.Record) error {
	r.Level -= lower
	return q.Handler.Handle(ctx, r)
}

func (q quieter) WithAttrs(attrs []slog.Attr) slog.Handler {
	return quieter{q.Handler.WithAttrs(attrs)}
}
func (q quieter) WithGroup(name string) slog.Handler { return quieter{q.Handler.WithGroup(name)} }

// sdkLogger is the operator's logger as the SDK may use it.
func (s *Server) sdkLogger() *slog.Logger { return slog.New(quieter{s.Logger.Handler()}) }
