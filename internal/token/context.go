package token

import "context"

type callerKey struct{}

// WithCaller returns a context with the caller, for frontends behind the one that checked
// the secret.
func WithCaller(ctx context.Context, who Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, who)
}

// CallerOf returns the caller; ok is false if no secret was checked.
func CallerOf(ctx context.Context) (who Caller, ok bool) {
	who, ok = ctx.Value(callerKey{}).(Caller)
	return who, ok
}
