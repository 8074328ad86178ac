package process

import (
	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/policy"
)

// Stats returns the metrics of the tiers process and hook.
func (b *Backend) Stats() observe.Stats {
	scripts := observe.TierStats{Busy: b.gate.Busy(), Forks: b.scripts.Forks.Durations(), Setups: b.scripts.Setups.Durations()}
	for _, l := range b.lazy {
		if p := l.pool.Load(); p != nil {
			scripts.Idle += p.waiting()
		}
	}
	calls := observe.TierStats{Busy: int(b.calling.Load()), Forks: b.calls.Forks.Durations(), Setups: b.calls.Setups.Durations()}
	for preset, k := range b.kinds {
		p := k.opened()
		switch {
		case p == nil:
		case preset == policy.LanguageHook:
			calls.Idle += p.waiting()
		default:
			scripts.Idle += p.waiting()
		}
	}
	calls.Idle += b.hooks.Idle()
	return observe.Stats{policy.TierProcess: scripts, policy.TierHook: calls}
}
