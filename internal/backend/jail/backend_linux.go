package jail

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/ahead"
	"github.com/cordon-sandbox/cordon/internal/cgroup"
	"github.com/cordon-sandbox/cordon/internal/confine"
	"github.com/cordon-sandbox/cordon/internal/egress"
	"github.com/cordon-sandbox/cordon/internal/hostfeature"
	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Backend is the tier under one policy.
type Backend struct {
	options  Options
	jail     policy.JailBackend // never auto
	features hostfeature.Features
	mounts   []confine.Mount // the host's system directories and files
	plan     confine.Plan
	tried    bool // the plan was tried on this host and works
	builder  builder
	init     int
	owners   confine.OwnerMaps
	// returning waits for cgroups that are being cleaned for the pool, and for private
	// directories that are being removed.
	returning sync.WaitGroup
	grants    []policy.NetGrant
	groups    *cgroup.Opening
	// granted are the paths of the policy's grants, without symlinks; writable are those of
	// commands without namespaces that may be written.
	granted, writable []string
	gate              *backend.Gate
	ahead             *ahead.Pool[recipe, *sandbox]
	setups            observe.Histogram // how long building a sandbox took
	turns             atomic.Uint32     // of the CPUs: see holdToCPUs
}

var _ backend.Backend = (*Backend)(nil)

// New plans the walls and tries them on this host. A required wall that the host cannot
// provide is an error here, before anything runs. With OneShot nothing is tried, and the
// error may come from the command instead.
func New(options Options) (*Backend, error) {
	b := &Backend{options: options.resolved(), init: -1}
	if b.jail = b.options.Policy.Jail; b.jail == policy.JailAuto {
		b.jail = policy.JailNative // until the host refuses that: see makePlan
	}
	if b.options.Runsc != nil {
		b.jail = gvisorJail
	}
	b.gate = backend.NewGate(b.options.Load)
	b.ahead = b.newAhead()
	var err error
	if b.grants, err = b.options.Policy.NetGrants(); err != nil {
		return nil, run.Wrap(run.Invalid, err)
	}
	// Opening the cgroups takes time, so it runs while the walls are planned.
	var first *cgroup.Limits
	if limits := b.groupLimits(b.options.Policy.Limits); b.options.OneShot {
		first = &limits // the only command needs a group, and its caller waits
	}
	b.groups = cgroup.Begin(!slices.Contains(b.options.Without, policy.WallCgroup), first)
	if err = b.probeHost(); err == nil {
		err = b.makePlan()
	}
	if err == nil && !b.options.OneShot {
		err = b.try()
	}
	if err != nil {
		return nil, errors.Join(err, b.release())
	}
	return b, nil
}

func (b *Backend) groupLimits(l policy.Limits) cgroup.Limits {
	return cgroup.Limits{Memory: int64(l.Memory + b.ourMemory()), Processes: b.tasks(l)}
}

// release frees what all commands share.
func (b *Backend) release() error {
	if b.init >= 0 {
		unix.Close(b.init)
	}
	if b.builder != nil {
		b.builder.close()
	}
	b.owners.Close()
	b.returning.Wait()
	return b.groups.Close()
}

// Tier is `jail`, or `gvisor`.
func (b *Backend) Tier() policy.Tier {
	if b.isGVisor() {
		return policy.TierGVisor
	}
	return policy.TierJail
}

// Enforcement reports the walls of the plan.
func (b *Backend) Enforcement() run.Enforcement {
	e := run.Enforcement{
		Tier: b.Tier(), Jail: b.jail, Walls: maps.Clone(b.plan.Walls),
		ViolationsObserved: b.plan.Seccomp == confine.SeccompNotify,
	}
	if watched := b.watched(); len(watched) > 0 && b.plan.Rlimits {
		e.Walls[policy.WallRlimit] = policy.EnforcedWall(strings.Join(watched, "; "))
	}
	if b.isShared() {
		e.Walls[policy.WallLandlock] = sharedStatus(e.Walls[policy.WallLandlock])
	}
	if b.isGVisor() {
		e.Jail, e.Walls[policy.WallGVisor] = "", gvisorStatus()
	}
	e.Walls[policy.WallCommand] = policy.EnforcedWall("")
	if b.options.Policy.AllowInterpreters {
		e.Walls[policy.WallCommand] = policy.EnforcedWall("interpreters are allowed")
	}
	e.Walls[policy.WallEgress] = egress.Words(b.options.Policy.Egress, b.options.Policy.AllowNet)
	return e
}

// watched lists the limits that the Runner watches because the kernel does not enforce them.
func (b *Backend) watched() (limits []string) {
	if b.isShared() {
		limits = append(limits, WatchedProcesses)
	}
	if !b.plan.Cgroup {
		limits = append(limits, WatchedMemory)
	}
	return limits
}

// Open counts the job. Its sandbox is built by Run, while its arguments are checked.
func (b *Backend) Open(ctx context.Context, _ backend.Job) (backend.Sandbox, error) {
	pass, err := b.gate.Enter(ctx)
	if err != nil {
		return nil, err
	}
	return &turn{b, pass}, nil
}

// Stats returns the tier's metrics. Each command gets new walls; there is no fork
// server.
func (b *Backend) Stats() observe.Stats {
	return observe.Stats{b.Tier(): {Idle: b.ahead.Idle(), Busy: b.gate.Busy(), Setups: b.setups.Durations()}}
}

// Close ends every command and leaves nothing behind.
func (b *Backend) Close() error {
	b.gate.Close()
	b.ahead.Close()
	return b.release()
}

// turn is one job whose turn has come.
type turn struct {
	backend *Backend
	pass    backend.Pass
}

func (t *turn) Run(ctx context.Context, job backend.Job) (run.Result, error) {
	result, err := t.backend.run(ctx, job)
	walls := result.Enforcement.Walls // those that differ for this run
	result.Enforcement = t.backend.Enforcement()
	maps.Copy(result.Enforcement.Walls, walls)
	return result, err
}

func (t *turn) Close() error {
	t.pass.Leave()
	return nil
}
