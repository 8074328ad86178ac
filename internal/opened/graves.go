package opened

import (
	"fmt"
	"slices"
	"sync"

	"github.com/cordon-sandbox/cordon/run"
)

// Ended is the error about one that has ended by itself.
type Ended struct{ Kind, ID, Why string }

func (e *Ended) Error() string { return fmt.Sprintf("the %s %q is gone: %s", e.Kind, e.ID, e.Why) }

// maxGraves is how many of those are remembered, of all owners.
const maxGraves = 1024

// Graves remember why the last ones are gone that did not end by their owner's wish. The zero
// value is empty. They are safe for concurrent use.
type Graves struct {
	mu   sync.Mutex
	last []grave
}

type grave struct{ owner, id, why string }

// Bury remembers why one is gone.
func (g *Graves) Bury(owner, id, why string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.last) == maxGraves {
		g.last = slices.Delete(g.last, 0, maxGraves/2)
	}
	g.last = append(g.last, grave{owner, id, why})
}

// Find returns the error for the id of one that its owner had, or nil.
func (g *Graves) Find(kind, owner, id string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, one := range g.last {
		if one.id == id && one.owner == owner {
			return run.Wrap(run.Gone, &Ended{kind, id, one.why})
		}
	}
	return nil
}
