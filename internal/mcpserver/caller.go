package mcpserver

import (
	"context"
	"sync"
)

type clientKey struct{}

// withClient makes the calls below ctx end when client ends. The SDK passes on the values of
// a context, but not its cancellation.
func withClient(ctx, client context.Context) context.Context {
	return context.WithValue(ctx, clientKey{}, client)
}

// clientOf returns the context that ends when the client is gone, or nil if that cannot be
// known.
func clientOf(ctx context.Context) context.Context {
	client, _ := ctx.Value(clientKey{}).(context.Context)
	return client
}

// calls has the calls that run in sessions, by the session's id.
type calls struct {
	mu     sync.Mutex
	active map[string]map[*context.CancelFunc]struct{}
}

// begin returns the context of a call, which is canceled when its session ends. The caller
// calls end after the call.
func (c *calls) begin(ctx context.Context, session string) (inside context.Context, end func()) {
	inside, cancel := context.WithCancel(ctx)
	if session == "" {
		return inside, cancel
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.active == nil {
		c.active = map[string]map[*context.CancelFunc]struct{}{}
	}
	if c.active[session] == nil {
		c.active[session] = map[*context.CancelFunc]struct{}{}
	}
	c.active[session][&cancel] = struct{}{}
	return inside, func() {
		cancel()
		c.mu.Lock()
		defer c.mu.Unlock()
		if delete(c.active[session], &cancel); len(c.active[session]) == 0 {
			delete(c.active, session)
		}
	}
}

// endSession cancels the calls of a session that is deleted, because their answers cannot be
// delivered.
func (c *calls) endSession(session string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for cancel := range c.active[session] {
		(*cancel)()
	}
}
