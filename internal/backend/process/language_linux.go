package process

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/cordon-sandbox/cordon/internal/zygote"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// ruled are the workers for what goes by one preset of the language rules.
type ruled struct {
	recipe recipe
	codes  *zygote.Codes // of its own: guards are a part of this code

	mu      sync.Mutex
	workers workers // nil before the first one is wanted
}

// hookLifetime is the processor time that a worker of hooks has in all. Each
// call has its own limit, which the Runner's clock enforces.
const hookLifetime = policy.Duration(24 * time.Hour)

// idleHooks is how many workers wait for the next hook to be opened, or for one
// that needs more.
const idleHooks = 2

// ruledRecipe has the modules imported before the rules look at what there is.
func (b *Backend) ruledRecipe(preset policy.LanguagePreset) recipe {
	p := b.options.Policy
	allowed := p.Allowed(preset)
	r := recipe{
		preload: slices.Concat(p.Preload, p.Language.Modules), limits: p.Limits, idle: b.options.Idle,
		language: &zygote.Language{Modules: allowed.Modules, Builtins: allowed.Builtins},
	}
	if preset == policy.LanguageHook {
		r.preload, r.idle, r.limits = p.Language.Modules, idleHooks, workerLimits(p.Limits)
	}
	return r
}

// workerLimits are those of a worker whose calls have some.
func workerLimits(call policy.Limits) policy.Limits {
	call.CPUTime = hookLifetime
	return call
}

// ruledBy gives the workers for a preset. The first who wants one waits for the
// fork server.
func (b *Backend) ruledBy(ctx context.Context, preset policy.LanguagePreset) (workers, error) {
	if b.single != nil && b.options.Language == preset {
		return b.single, nil
	}
	r := b.ruled[preset]
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.workers != nil {
		return r.workers, nil
	}
	if !b.gate.open() {
		return nil, errClosed() // nobody would end it
	}
	if b.options.OneShot {
		s, err := newSingles(ctx, b, r.recipe)
		if err != nil {
			return nil, err
		}
		r.workers = s
		return s, nil
	}
	first, err := b.startZygote(ctx, r.recipe)
	if err != nil {
		return nil, err
	}
	r.workers, r.codes = newPool(b, first, r.recipe), &zygote.Codes{}
	return r.workers, nil
}

// opened gives the workers if they were ever wanted.
func (r *ruled) opened() workers {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.workers
}

func enforcedRules(preset policy.LanguagePreset) string { return fmt.Sprintf("enforced (%s)", preset) }

// Check has the language rules judge a script, in a worker behind all the
// walls: the parser reads what a stranger wrote.
func (b *Backend) Check(ctx context.Context, c run.Check) ([]run.Finding, error) {
	preset, err := policy.ParseLanguagePreset(string(c.Preset))
	if err != nil {
		return nil, run.Wrap(run.Invalid, err)
	}
	if err := b.gate.enter(ctx); err != nil {
		return nil, err
	}
	defer b.gate.leave()
	p, err := b.ruledBy(ctx, preset)
	if err != nil {
		return nil, err
	}
	limits := b.ruled[preset].recipe.limits
	m, err := p.take(ctx, limits)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	limits.CPUTime = b.options.Policy.Limits.CPUTime
	ending, err := m.Check(ctx, zygote.Guest{Script: c.Script, Name: nameOr(c.Name, "<script>"), Limits: limits, OnWait: m.replace})
	result, err := b.conclude(m, limits, ending, err)
	if err != nil {
		return nil, err
	}
	if result.Outcome != run.Succeeded {
		return nil, run.Errorf(run.Invalid, "the script cannot be checked: %s", result.Error)
	}
	return findingsOf(ending.Report)
}

func nameOr(name, normally string) string {
	if name == "" {
		return normally
	}
	return name
}
