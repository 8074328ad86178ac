// Package jail is the `jail` tier. It runs any command, with all processes that it
// starts, in its own namespaces with its own root.
//
// The steps of a run:
//
//  1. Check the command line (admit_linux.go).
//  2. Describe the sandbox by a recipe (recipe.go).
//  3. Build the sandbox, or take one that was built ahead (sandbox_linux.go,
//     ahead_linux.go).
//  4. Run the command and watch its limits (run_linux.go, watch_linux.go).
//  5. Make a Result from the evidence (judge_linux.go).
package jail

import (
	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/confine"
	"github.com/cordon-sandbox/cordon/internal/hostpath"
	"github.com/cordon-sandbox/cordon/policy"
)

// Options configure the tier.
type Options struct {
	Policy policy.Policy
	// Load is the Runner's; nil means that this is its only tier.
	Load *backend.Load
	// OneShot says that there is only one run, so that nothing is kept for the next.
	OneShot bool
	// Runsc runs the commands on gVisor, which makes this the tier `gvisor`; nil means no.
	Runsc *hostpath.Program
	// Files are the files of the host that commands see; nil means the system's.
	Files []confine.Mount
	// Without removes walls. Tests use it to show that each wall matters.
	Without []policy.Wall
	// LandlockABI limits which version of Landlock is used; 0 means the kernel's. Tests
	// use it to be on an older kernel.
	LandlockABI int
}

// WatchedMemory describes how the memory of commands is limited without a cgroup.
const WatchedMemory = "memory is watched, not limited by the kernel: the use of all processes is added up " +
	"every 4 to 100 ms; the buffers of pipes and sockets are not counted"

// WatchedProcesses describes how the processes of commands are limited without namespaces.
const WatchedProcesses = "processes are counted every 10 ms, not limited by the kernel"

func (o Options) resolved() Options {
	o.Policy = o.Policy.Resolved()
	return o
}
