package mcpserver

import (
	"context"
	"sync"

	"github.com/cordon-sandbox/cordon/internal/token"
)

type callerKey struct{}

// WithCaller says who asks, to the handlers of a Server.
func WithCaller(ctx context.Context, who token.Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, who)
}

// caller finds who asks over HTTP. Nobody is not "local": a door that was put up without
// its guard must stay shut.
func (s *Server) caller(ctx context.Context) (who token.Caller, known bool) {
	if s.Caller != nil {
		return s.Caller(ctx), true
	}
	who, known = ctx.Value(callerKey{}).(token.Caller)
	return who, known
}

type clientKey struct{}

// withClient has what is called inside ctx end with client, too. The SDK hands on the
// values of a context, and not its end.
func withClient(ctx, client context.Context) context.Context {
	return context.WithValue(ctx, clientKey{}, client)
}

// clientOf gives the context that ends when the client is gone, nil if nobody can know.
func clientOf(ctx context.Context) context.Context {
	client, _ := ctx.Value(clientKey{}).(context.Context)
	return client
}

// calls are those under way in sessions, by the session's id.
type calls struct {
	mu    sync.Mutex
	under map[string]map[*context.CancelFunc]struct{}
}

// begin has a call end with its session.
func (c *calls) begin(ctx context.Context, session string) (inside context.Context, end func()) {
	inside, cancel := context.WithCancel(ctx)
	if session == "" {
		return inside, cancel
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.under == nil {
		c.under = map[string]map[*context.CancelFunc]struct{}{}
	}
	if c.under[session] == nil {
		c.under[session] = map[*context.CancelFunc]struct{}{}
	}
	c.under[session][&cancel] = struct{}{}
	return inside, func() {
		cancel()
		c.mu.Lock()
		defer c.mu.Unlock()
		if delete(c.under[session], &cancel); len(c.under[session]) == 0 {
			delete(c.under, session)
		}
	}
}

// endSession cancels the calls of a session that is deleted: nobody can hear the answers.
func (c *calls) endSession(session string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for cancel := range c.under[session] {
		(*cancel)()
	}
}
