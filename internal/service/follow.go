package service

import (
	"context"
	"crypto/rand"
)

// follower is a frontend that needs to know when a request begins.
type follower struct {
	runID  string
	begins func()
}

type followerKey struct{}

// Follow returns a context for one run or one call of a hook. The id is the run's, made by
// the frontend with rand.Text, which can show it before the end. begins is called when it
// is the request's turn, before the guest starts. It may be nil.
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
