package process

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cordon-sandbox/cordon/internal/backend"
)

// Modules that many scripts import, by the pool whose workers have them. Imports take 1 ms
// to 60 ms, but if all workers had the modules, forks would be slower: by a sixth with the
// common ones, and by two fifths with asyncio. RATIONALE.md has the counts.
var (
	commonModules = []string{
		"base64", "calendar", "copy", "csv", "dataclasses", "decimal", "enum", "fractions", "hashlib", "operator",
		"pathlib", "statistics", "string", "textwrap", "typing", "urllib.parse", "uuid",
	}
	// asyncio imports the others.
	asyncModules = []string{"asyncio", "concurrent.futures", "logging", "socket", "ssl", "threading"}
)

// need is what a script imports, as far as it matters for the choice of its worker.
type need int

const (
	needsNothing need = iota
	needsPreload      // modules that the policy preloads, or rare ones
	needsCommon
	needsAsync
)

// scanned is how much of a script is searched for imports, which are usually at its top.
const scanned = 16 << 10

// needOf finds out what a script imports. A script without the word "import" imports
// nothing, or does so in a way that is slow anyway. Of several modules in one import, only
// the first counts.
func needOf(source string) need {
	if !strings.Contains(source, "import") {
		return needsNothing
	}
	most := needsPreload
	for _, word := range []string{"import ", "from "} {
		rest := source[:min(len(source), scanned)]
		for found := true; found; {
			_, rest, found = strings.Cut(rest, word)
			switch {
			case beginsWith(rest, asyncModules):
				return needsAsync
			case beginsWith(rest, commonModules):
				most = needsCommon
			}
		}
	}
	return most
}

// beginsWith reports whether a text begins with the name of a module.
func beginsWith(text string, modules []string) bool {
	return slices.ContainsFunc(modules, func(module string) bool {
		rest, found := strings.CutPrefix(text, module)
		return found && (rest == "" || strings.IndexByte(" \n\r\t,;.", rest[0]) >= 0)
	})
}

// poolFor chooses the pool by what the script imports. A wrong choice costs time only.
func (b *Backend) poolFor(ctx context.Context, job backend.Job) (workers, error) {
	if !job.Script.Restricted && !b.options.OneShot && len(b.options.Policy.Preload) > 0 {
		if l := b.lazy[needOf(job.Script.Source)]; l != nil {
			if p := b.opened(l); p != nil {
				return p, nil
			}
		}
	}
	return b.workersFor(ctx, b.rulesOf(job))
}

// makeLazy plans the pools beside the one that has the modules of the policy.
func (b *Backend) makeLazy() {
	plan := func(preload, optional []string) *lazyPool {
		r := b.recipeFor(noRules, preload)
		r.optional = optional
		return &lazyPool{recipe: r}
	}
	preload := b.options.Policy.Preload
	b.lazy = map[need]*lazyPool{
		needsNothing: plan(nil, nil),
		needsCommon:  plan(preload, commonModules),
		needsAsync:   plan(preload, asyncModules),
	}
}

// lazyPool is a pool that the first script for it starts. Until it is ready, another pool
// serves such scripts.
type lazyPool struct {
	recipe recipe
	start  sync.Once
	pool   atomic.Pointer[pool]
}

// opened returns the pool, or nil if it is not ready.
func (b *Backend) opened(l *lazyPool) *pool {
	p := l.pool.Load()
	if p == nil {
		l.start.Do(func() { b.starting.Go(func() { b.openLazy(l) }) })
	}
	return p
}

func (b *Backend) openLazy(l *lazyPool) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-b.gate.Closed():
			cancel()
		case <-ctx.Done():
		}
	}()
	first, err := b.startZygote(ctx, l.recipe)
	if err != nil {
		return // the first pool serves all scripts, a little slower
	}
	p := newPool(b, l.recipe)
	p.openWith(first)
	l.pool.Store(p)
	select {
	case <-b.gate.Closed():
		p.stopAll() // Close may have run before the pool was stored
	default:
	}
}
