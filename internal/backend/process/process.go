// Package process is the `process` tier: each script runs in its own CPython, forked
// ahead of demand behind all walls that the host can provide.
package process

import (
	"slices"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/hook"
	"github.com/cordon-sandbox/cordon/internal/hostpath"
	"github.com/cordon-sandbox/cordon/internal/tuning"
	"github.com/cordon-sandbox/cordon/policy"
)

// Options configure the tier.
type Options struct {
	Policy policy.Policy
	// Idle is how many workers wait for a request; 0 means DefaultIdle.
	Idle int
	// Load is the Runner's; nil means that this is its only tier.
	Load *backend.Load
	// MaxForks is the number of workers after which a fork server is replaced; 0 means
	// DefaultMaxForks.
	MaxForks int
	// OneShot says that there is only one run, so that nothing is kept for the next.
	OneShot bool
	// Language is the preset of the first run; empty for no rules. Runs with other
	// presets wait for a fork server of their kind.
	Language policy.LanguagePreset
	// Workspaces are directories that commands may write to; see also Policy.Write.
	Workspaces []string
	// Without removes walls. Tests use it to show that each wall matters.
	Without []policy.Wall
	// LandlockABI, if not 0, is the newest Landlock ABI to use. Tests use it to see what
	// an older kernel leaves open.
	LandlockABI int
	// Untuned leaves out optimizations. The bench uses it to measure them.
	Untuned tuning.Set
}

// Defaults of Options.
const (
	DefaultIdle     = 8
	DefaultMaxForks = 10_000
)

// guests lists the directories where a guest could have put a fake interpreter or module.
func (o Options) guests() hostpath.Guests {
	return hostpath.Writable(slices.Concat(o.Policy.Write, o.Workspaces)...)
}

// aheadEach is how many opened workers wait for the next calls of a hook whose calls do
// not share workers: one for a caller, and one for a concurrent call.
const aheadEach = 2

// aheadTotal bounds such workers of all hooks together, as a multiple of the idle workers
// for scripts.
const aheadTotal = 4

// ahead bounds the workers that are opened ahead of the calls of hooks.
func (o Options) ahead() *hook.Ahead {
	if o.OneShot {
		return hook.NewAhead(0, 1) // only the worker that checks whether the hook can be opened
	}
	return hook.NewAhead(aheadEach, aheadTotal*o.Idle)
}

func (o Options) resolved() Options {
	o.Policy = o.Policy.Resolved()
	if o.OneShot {
		o.Idle = 1
	}
	if o.Language == "" && o.Policy.Restricts() {
		o.Language = o.Policy.ScriptRules()
	}
	if o.Idle <= 0 {
		o.Idle = DefaultIdle
	}
	if o.MaxForks <= 0 {
		o.MaxForks = DefaultMaxForks
	}
	return o
}
