package service

import (
	"context"
	"crypto/rand"
)

// follower is a frontend that wants to know more of a request than its end.
type follower struct {
	runID  string
	begins func()
}

type followerKey struct{}

// Follow gives a context for one run or one call of a hook, by an id that the frontend has
// made with rand.Text and may show before the end. When it is the request's turn, begins
// is called, and the guest waits for it. It may be nil.
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
