package jail

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/backend"
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
	features hostfeature.Features
	mounts   []confine.Mount // of the host's system
	plan     confine.Plan
	tried    bool // the plan, on this host
	builder  builder
	init     int
	owners   confine.OwnerMaps
	// returning are groups on their way back to the pool.
	returning sync.WaitGroup
	grants    []policy.NetGrant
	groups    *cgroup.Opening
	granted   []string // the paths of the policy's grants, without symlinks
	gate      *backend.Gate
	ahead     *ahead
	setups    observe.Histogram // of places
}

var _ backend.Backend = (*Backend)(nil)

// New decides on the walls, and tries them. A required wall that this host cannot
// give is an error here, before anything runs; for a single command it may be the
// command's.
func New(options Options) (*Backend, error) {
	b := &Backend{options: options.resolved(), init: -1}
	b.gate = b.options.Turns.Gate()
	b.ahead = newAhead(b)
	var err error
	if b.grants, err = b.options.Policy.NetGrants(); err != nil {
		return nil, run.Wrap(run.Invalid, err)
	}
	// What takes time goes on beside what has to be decided.
	var ahead *cgroup.Limits
	if limits := b.groupLimits(b.options.Policy.Limits); b.options.OneShot {
		ahead = &limits // the only command will want one while its caller waits
	}
	b.groups = cgroup.Begin(!slices.Contains(b.options.Without, policy.WallCgroup), ahead)
	if err = b.look(); err == nil {
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
	return cgroup.Limits{Memory: int64(l.Memory), Processes: l.Processes + b.ourProcesses()}
}

// release lets go of what is held for all commands.
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

// Tier is `jail`.
func (b *Backend) Tier() policy.Tier { return policy.TierJail }

// Enforcement is the plan's report.
func (b *Backend) Enforcement() run.Enforcement {
	e := run.Enforcement{
		Tier: policy.TierJail, Jail: b.options.Policy.Jail, Walls: maps.Clone(b.plan.Walls),
		ViolationsObserved: b.plan.Seccomp == confine.SeccompNotify,
	}
	if !b.plan.Cgroup && b.plan.Rlimits {
		e.Walls[policy.WallRlimit] = "enforced (" + WatchedMemory + ")"
	}
	e.Walls[policy.WallCommand] = "enforced"
	if b.options.Policy.AllowInterpreters {
		e.Walls[policy.WallCommand] = "enforced (interpreters are allowed)"
	}
	e.Walls[policy.WallEgress] = egress.Words(b.options.Policy.Egress, b.options.Policy.AllowNet)
	return e
}

// Open waits for the job's turn.
func (b *Backend) Open(ctx context.Context, _ backend.Job) (backend.Sandbox, error) {
	if err := b.gate.Enter(ctx); err != nil {
		return nil, err
	}
	return &sandbox{b}, nil
}

// Stats are the figures of the tier. Each command has walls of its own, and nothing is
// forked.
func (b *Backend) Stats() observe.Stats {
	return observe.Stats{policy.TierJail: {Idle: b.ahead.ready(), Busy: b.gate.Busy(), Setups: b.setups.Durations()}}
}

// Close ends every command and leaves nothing behind.
func (b *Backend) Close() error {
	b.gate.Close()
	b.ahead.close()
	return b.release()
}

// sandbox is one turn.
type sandbox struct{ backend *Backend }

func (s *sandbox) Run(ctx context.Context, job backend.Job) (run.Result, error) {
	result, err := s.backend.run(ctx, job)
	walls := result.Enforcement.Walls // what is special about this run
	result.Enforcement = s.backend.Enforcement()
	maps.Copy(result.Enforcement.Walls, walls)
	return result, err
}

func (s *sandbox) Close() error {
	s.backend.gate.Leave()
	return nil
}
