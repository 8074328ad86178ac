package run

import (
	"time"

	"github.com/cordon-sandbox/cordon/policy"
)

// Stats are metrics of what a Runner keeps ready, by tier. A tier that was not started has
// none.
type Stats map[policy.Tier]TierStats

// TierStats are those of one tier.
type TierStats struct {
	// Idle is how many sandboxes wait for a guest, and Busy how many have one: workers of
	// scripts and hooks, jails of commands, instances of modules.
	Idle, Busy int
	// Forks are the copies made of what was warm: workers of their fork server,
	// instances of an interpreter's image.
	Forks Durations
	// Setups are the walls put up from nothing: a fork server and its interpreter, a
	// jail, the first interpreter of an image.
	Setups Durations
}

// Durations is a histogram.
type Durations struct {
	Count uint64
	Sum   time.Duration
	// Within has, for each bound, how many took no longer.
	Within map[time.Duration]uint64
}

// Abilities are what a Runner has on its host.
type Abilities struct {
	// Python is the version that scripts run with, like "3.11"; empty before the first
	// start.
	Python string
	// Packages are installed beside it, by name and version: "numpy 2.1.0".
	Packages []string
	// WasmScripts says that tier wasm can run scripts, and not modules alone.
	WasmScripts bool
}
