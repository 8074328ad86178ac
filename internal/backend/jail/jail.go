// Package jail is the `jail` tier: any command, with all the processes that it
// starts, in namespaces with a root of their own.
//
// A run: the command line is looked at (admit_linux.go), a recipe says
// what its place looks like (recipe.go), the place is built or was built ahead
// (place_linux.go, ahead_linux.go), the command runs in it under watch
// (run_linux.go, watch_linux.go), and from what was seen a Result is made
// (judge_linux.go).
package jail

import (
	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/policy"
)

// Options say how the tier is run.
type Options struct {
	Policy policy.Policy
	// Turns are those of the Runner, which all tiers share; nil means Concurrent and
	// Queue of its own.
	Turns *backend.Turns
	// Concurrent bounds the runs under way; 0 means DefaultConcurrent.
	Concurrent int
	// Queue bounds the requests that wait; 0 means DefaultQueue.
	Queue int
	// OneShot says that there will be one run: nothing is kept for a second.
	OneShot bool
	// Without takes walls away. Tests use it to show that each one matters.
	Without []policy.Wall
}

// WatchedMemory says what bounds the memory of commands where no cgroup does.
const WatchedMemory = "memory is watched, not limited by the kernel: what all processes use together is added up " +
	"every 4 to 100 ms; the buffers of pipes and sockets are not counted"

// Defaults of Options.
const (
	DefaultConcurrent = 64
	DefaultQueue      = 4096
)

func (o Options) resolved() Options {
	o.Policy = o.Policy.Resolved()
	if o.Concurrent <= 0 {
		o.Concurrent = DefaultConcurrent
	}
	if o.Queue <= 0 {
		o.Queue = DefaultQueue
	}
	if o.Turns == nil {
		o.Turns = backend.NewTurns(o.Concurrent, o.Queue)
	}
	return o
}
