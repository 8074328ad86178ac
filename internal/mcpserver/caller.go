package mcpserver

import (
	"context"
	"sync"
)

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

// begin ends the context of a call together with its session.
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
