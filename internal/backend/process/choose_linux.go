package process

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cordon-sandbox/cordon/internal/backend"
)

// commonModules are imported by many scripts and take 1 ms to 60 ms to import. If all
// workers had them, the forks of scripts without them would be slower. RATIONALE.md has the
// counts.
var commonModules = []string{
	"asyncio", "base64", "calendar", "copy", "csv", "dataclasses", "decimal", "enum", "fractions", "hashlib", "operator",
	"pathlib", "statistics", "string", "textwrap", "typing", "urllib.parse", "uuid",
}

// poolFor chooses the pool by what the script imports. A wrong choice costs time only.
func (b *Backend) poolFor(ctx context.Context, job backend.Job) (workers, error) {
	if !job.Script.Restricted && !b.options.OneShot && len(b.options.Policy.Preload) > 0 {
		var p *pool
		switch imports, common := scanImports(job.Script.Source); {
		case !imports:
			p = b.opened(&b.bare)
		case common:
			p = b.opened(&b.rich)
		}
		if p != nil {
			return p, nil
		}
	}
	return b.workersFor(ctx, b.rulesOf(job))
}

// scanImports reports whether a script has the word "import", without which it imports
// nothing or does so in a way that is slow anyway, and whether a line imports a common
// module first.
func scanImports(source string) (imports, common bool) {
	if !strings.Contains(source, "import") {
		return false, false
	}
	for _, word := range []string{"import ", "from "} {
		rest := source
		for found := true; found; {
			if _, rest, found = strings.Cut(rest, word); found && isCommon(rest) {
				return true, true
			}
		}
	}
	return true, false
}

// isCommon reports whether a text begins with the name of a common module.
func isCommon(text string) bool {
	for _, module := range commonModules {
		if rest, found := strings.CutPrefix(text, module); found && (rest == "" || strings.IndexByte(" \n\r\t,;.", rest[0]) >= 0) {
			return true
		}
	}
	return false
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
	p := newPool(b, first, l.recipe)
	l.pool.Store(p)
	select {
	case <-b.gate.Closed():
		p.stopAll() // Close may have run before the pool was stored
	default:
	}
}
