package process

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/report"
	"github.com/cordon-sandbox/cordon/internal/tuning"
	"github.com/cordon-sandbox/cordon/internal/zygote"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// noRules is the preset of scripts without language rules.
const noRules policy.LanguagePreset = ""

// rulesOf returns the preset of a job.
func (b *Backend) rulesOf(job backend.Job) policy.LanguagePreset {
	if job.Script.Restricted {
		return b.options.Policy.ScriptRules()
	}
	return noRules
}

// kind has the workers of one preset.
type kind struct {
	recipe recipe
	codes  *zygote.Codes // not shared with other presets, because the code contains guards; nil for a single run

	mu      sync.Mutex
	workers workers // nil before the first use
}

// idleHooks is how many workers wait for the next hook to be opened, or for a hook that
// needs another worker.
const idleHooks = 2

// recipeFor imports the modules before the rules scan the library.
func (b *Backend) recipeFor(preset policy.LanguagePreset, preload []string) recipe {
	p := b.options.Policy
	r := recipe{preload: preload, scratch: p.Limits.Scratch, idle: b.options.Idle, meter: &b.scripts}
	if preset == noRules {
		return r
	}
	allowed := p.Allowed(preset)
	r.language = &zygote.Language{Modules: allowed.Modules, Builtins: allowed.Builtins}
	r.preload = slices.Concat(preload, p.Language.Modules)
	if preset == policy.LanguageHook {
		r.preload, r.idle, r.meter = p.Language.Modules, idleHooks, &b.calls
	}
	return r
}

// workersFor returns the workers for a preset. The first caller waits until there is one.
func (b *Backend) workersFor(ctx context.Context, preset policy.LanguagePreset) (workers, error) {
	k := b.kinds[preset]
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.workers != nil {
		return k.workers, nil
	}
	if !b.gate.IsOpen() {
		return nil, backend.ErrClosed() // nothing would end it
	}
	if b.options.OneShot {
		s, err := newSingles(ctx, b, k.recipe)
		if err != nil {
			return nil, err
		}
		k.workers = s
		return s, nil
	}
	p := newPool(b, k.recipe)
	if preset == policy.LanguageHook {
		// The first hook keeps its worker for all its calls, so it gets a fast one.
		first, err := b.startZygote(ctx, k.recipe)
		if err != nil {
			return nil, err
		}
		p.openWith(first)
	} else {
		r := b.recipeFor(preset, backend.ChosenPreload(b.options.Policy))
		first, err := b.startSingle(ctx, r, r.scratch)
		if err != nil {
			return nil, err
		}
		p.openBehind(first)
	}
	k.workers = p
	if !b.options.Untuned.Has(tuning.CodeCache) {
		k.codes = &zygote.Codes{}
	}
	return k.workers, nil
}

// opened returns the workers, or nil if they were never used.
func (k *kind) opened() workers {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.workers
}

// enforcedRules describes what is enforced inside the interpreter: the language rules, and
// the rules for imported modules.
func (b *Backend) enforcedRules(preset policy.LanguagePreset) policy.WallStatus {
	var rules []string
	if preset != noRules {
		rules = append(rules, string(preset))
	}
	if b.watchesModules() {
		rules = append(rules, "module rules")
	}
	return policy.EnforcedWall(strings.Join(rules, ", "))
}

// Check checks a script against the language rules, in a worker behind all walls, because
// the parser reads untrusted text.
func (b *Backend) Check(ctx context.Context, c run.Check) ([]run.Finding, error) {
	preset, err := policy.ParseLanguagePreset(string(cmp.Or(c.Preset, b.options.Policy.ScriptRules())))
	if err != nil {
		return nil, run.Wrap(run.Invalid, err)
	}
	pass, err := b.gate.Enter(ctx)
	if err != nil {
		return nil, err
	}
	defer pass.Leave()
	p, err := b.workersFor(ctx, preset)
	if err != nil {
		return nil, err
	}
	limits := b.options.Policy.Limits
	m, err := p.take(ctx, limits.Scratch)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	ending, err := m.Check(ctx, zygote.Guest{Script: c.Script, Name: cmp.Or(c.Name, "<script>"), Limits: limits, OnWait: m.replace})
	result, err := b.conclude(m, report.Run{Limits: limits, Restricted: true}, ending, err)
	if err != nil {
		return nil, err
	}
	if result.Outcome != run.Succeeded {
		return nil, run.Errorf(run.Invalid, "the script cannot be checked: %s", result.Error)
	}
	return report.Findings(ending.Report)
}
