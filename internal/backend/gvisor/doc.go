// Package gvisor is the `gvisor` tier: scripts and commands whose authors nobody knows, on a
// kernel of their own. gVisor's program runsc runs inside of the same sandbox that commands
// of the tier `jail` have, without Landlock: see internal/backend/jail/gvisor_linux.go.
//
// A script's interpreter is a program in such a sandbox, which talks with package portable.
package gvisor

import (
	"runtime"
	"slices"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/hostpath"
	"github.com/cordon-sandbox/cordon/internal/runsc"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Options configure the tier.
type Options struct {
	Policy policy.Policy
	// Load is the Runner's; nil means that this is its only tier.
	Load *backend.Load
	// OneShot says that there is only one run, so that nothing is tried or kept.
	OneShot bool
	// Workspaces are directories that commands will write to.
	Workspaces []string
	// Runsc is gVisor's program; nil means the one that is found.
	Runsc *hostpath.Program
}

// Lacks says why guests of a policy cannot run here: runsc is not installed, or the policy
// allows what the tier does not have. Nil means that they can, as far as that is known
// without starting anything.
func Lacks(p policy.Policy) error {
	if runtime.GOOS != "linux" {
		return run.Errorf(run.Unsupported, "gVisor needs Linux, and this is %s", runtime.GOOS)
	}
	if err := unfit(p); err != nil {
		return err
	}
	_, err := runsc.Find(hostpath.Writable(p.Write...))
	return err
}

// unfit returns an error for a policy that allows what guests do not have.
func unfit(p policy.Policy) error {
	p = p.Resolved()
	if p.Egress != policy.EgressStrict {
		return run.Errorf(run.Unsupported, "guests on gVisor reach no network but through the proxy, and the policy says egress: %s: use one with egress: strict", p.Egress)
	}
	if slices.Contains(p.Required(), policy.WallLandlock) {
		return run.Errorf(run.Unsupported, "gVisor mounts, which landlock forbids, and the policy requires it: use a policy that does not")
	}
	return nil
}
