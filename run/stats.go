package run

import (
	"time"

	"github.com/cordon-sandbox/cordon/policy"
)

// Stats are the metrics of a Runner by tier. A tier that was not started has none.
type Stats map[policy.Tier]TierStats

// TierStats are the metrics of one tier.
type TierStats struct {
	// Idle is how many sandboxes wait for a guest, and Busy how many have one. A
	// sandbox is a worker of scripts and hooks, a jail of a command or an instance of
	// a module.
	Idle, Busy int
	// Forks are copies of something that already runs: workers of a fork server,
	// instances of an interpreter's image.
	Forks Durations
	// Setups are sandboxes built from nothing: a fork server and its interpreter, a
	// jail, the first interpreter of an image.
	Setups Durations
}

// Durations is a histogram.
type Durations struct {
	Count uint64
	Sum   time.Duration
	// Within maps each bound to the number of durations up to it.
	Within map[time.Duration]uint64
}

// Abilities describe what a Runner can offer on its host.
type Abilities struct {
	// Python is the version that scripts run with, like "3.11"; empty before the first
	// start.
	Python string
	// Packages are installed beside it, by name and version: "numpy 2.1.0".
	Packages []string
	// WasmScripts reports whether tier wasm can run scripts, not only modules.
	WasmScripts bool
}
