package token

import "context"

type callerKey struct{}

// WithCaller gives a context that says who asks, for a frontend behind the one that looked at
// the secret.
func WithCaller(ctx context.Context, who Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, who)
}

// CallerOf says who asks; ok is false where nobody has looked.
func CallerOf(ctx context.Context) (who Caller, ok bool) {
	who, ok = ctx.Value(callerKey{}).(Caller)
	return who, ok
}
