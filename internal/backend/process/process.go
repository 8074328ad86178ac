// Package process is the `process` tier: each script runs in a CPython of its
// own, forked ahead of demand behind all the walls that the host can give.
package process

import (
	"slices"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/hostpath"
	"github.com/cordon-sandbox/cordon/policy"
)

// Options say how the tier is run.
type Options struct {
	Policy policy.Policy
	// Idle is how many workers wait for a request; 0 means DefaultIdle.
	Idle int
	// Turns are those of the Runner, which all tiers share; nil means Concurrent and
	// Queue of its own.
	Turns *backend.Turns
	// Concurrent bounds the runs under way; 0 means DefaultConcurrent.
	Concurrent int
	// Queue bounds the requests that wait; 0 means DefaultQueue.
	Queue int
	// MaxForks is after how many workers a fork server is replaced; 0 means
	// DefaultMaxForks.
	MaxForks int
	// OneShot says that there will be one run: nothing is kept for a second.
	OneShot bool
	// Language says by which rules the first run will go; empty for none. Others
	// wait for a fork server of their kind.
	Language policy.LanguagePreset
	// Workspaces are where commands may write; see Policy.Write, too.
	Workspaces []string
	// Without takes walls away. Tests use it to show that each one matters.
	Without []policy.Wall
	// LandlockABI, if it is not 0, is the newest Landlock to use. Tests use it to
	// see what an older kernel would leave open.
	LandlockABI int
}

// Defaults of Options.
const (
	DefaultIdle       = 8
	DefaultConcurrent = 64
	DefaultQueue      = 4096
	DefaultMaxForks   = 10_000
)

// guests are where a guest could have put something that looks like Python.
func (o Options) guests() hostpath.Guests {
	return hostpath.Writable(slices.Concat(o.Policy.Write, o.Workspaces)...)
}

func (o Options) resolved() Options {
	o.Policy = o.Policy.Resolved()
	if o.OneShot {
		o.Idle, o.Concurrent = 1, 1
	}
	if o.Language == "" && o.Policy.Restricts() {
		o.Language = o.Policy.ScriptRules()
	}
	if o.Idle <= 0 {
		o.Idle = DefaultIdle
	}
	if o.Concurrent <= 0 {
		o.Concurrent = DefaultConcurrent
	}
	if o.Queue <= 0 {
		o.Queue = DefaultQueue
	}
	if o.Turns == nil {
		o.Turns = backend.NewTurns(o.Concurrent, o.Queue)
	}
	if o.MaxForks <= 0 {
		o.MaxForks = DefaultMaxForks
	}
	return o
}
