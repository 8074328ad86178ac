package jail

import (
	"runtime"
	"time"

	"github.com/cordon-sandbox/cordon/internal/backend/ahead"
)

const (
	// idleLifetime is how long a sandbox waits for a command. Meanwhile it keeps its
	// init and a child that waits, and the workspace's file system cannot be unmounted.
	idleLifetime = 10 * time.Second
	// maxAhead bounds the sandboxes of all recipes together.
	maxAhead          = 8
	maxAheadPerRecipe = 2
)

// newAhead returns the pool of sandboxes that are built before they are requested: building
// one is most of what a command costs.
func (b *Backend) newAhead() *ahead.Pool[recipe, *sandbox] {
	options := ahead.Options[recipe, *sandbox]{
		Make: b.buildAhead, Discard: (*sandbox).tearDown, Busy: b.busy,
		Max: maxAhead, MaxEach: maxAheadPerRecipe, Lifetime: idleLifetime,
	}
	if b.options.OneShot {
		options.Max = 0
	}
	return ahead.New(options)
}

func (b *Backend) buildAhead(r recipe) (*sandbox, error) {
	s, err := openPipes(true)
	if err != nil {
		return nil, err
	}
	p, err := b.build(r, s)
	if err != nil {
		return nil, err
	}
	p.waited = true
	return p, nil
}

// busy reports whether there are more commands than CPUs.
func (b *Backend) busy() bool { return b.gate.Running() > runtime.NumCPU() }
