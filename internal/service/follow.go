package service

import (
	"context"
	"crypto/rand"
)

// follower is a frontend that needs to know when a request begins.
type follower struct {
	runID  string
	begins func()
	// waits is called when the request is accepted and has to wait for its turn.
	waits func()
	// patient means that it waits as long as its context lasts: no client waits with it.
	patient bool
}

type followerKey struct{}

// Follow returns a context for one run or one call of a hook. id becomes the id of the run;
// the frontend makes it with rand.Text, so that it can show it before the run ends. begins
// is called when the request gets its turn, before the guest starts. It may be nil.
func Follow(ctx context.Context, id string, begins func()) context.Context {
	return context.WithValue(ctx, followerKey{}, follower{runID: id, begins: begins})
}

func followed(ctx context.Context) follower {
	f, _ := ctx.Value(followerKey{}).(follower)
	return f
}

func (f follower) id() string {
	if f.runID == "" {
		return rand.Text()
	}
	return f.runID
}
