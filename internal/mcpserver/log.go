package mcpserver

import (
	"context"
	"log/slog"
)

// quieter lowers the records of the SDK by one level: the SDK logs every request as
// information, and most of its errors are mistakes of clients.
type quieter struct{ slog.Handler }

const levelShift = slog.LevelInfo - slog.LevelDebug

func (q quieter) Enabled(ctx context.Context, l slog.Level) bool {
	return q.Handler.Enabled(ctx, l-levelShift)
}

func (q quieter) Handle(ctx context.Context, r slog.Record) error {
	r.Level -= levelShift
	return q.Handler.Handle(ctx, r)
}

func (q quieter) WithAttrs(attrs []slog.Attr) slog.Handler {
	return quieter{q.Handler.WithAttrs(attrs)}
}
func (q quieter) WithGroup(name string) slog.Handler { return quieter{q.Handler.WithGroup(name)} }

// sdkLogger returns the operator's logger for the SDK.
func (s *Server) sdkLogger() *slog.Logger { return slog.New(quieter{s.Logger.Handler()}) }
